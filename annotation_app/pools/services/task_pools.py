"""A pool of its own for the tasks of a source. Its name says what it holds, so that the same tasks find it again."""

from collections.abc import Sequence

from asgiref.sync import async_to_sync

from annotation_app.accounts.models import User
from annotation_app.errors import Invalid
from annotation_app.live.suite_tasks import unknown_tasks, unsupported_tasks
from annotation_app.pools.services.settings import image_check
from annotation_app.tasks.models import Pool
from annotation_app.tasks.selectors import can_annotate
from annotation_app.tasks.services import task_pool_ensure
from protocol.site_tasks import SITE_TASK
from protocol.trajectory.tasks import Task

NAME_CHARACTERS = 100
CHECKSUM_CHARACTERS = 12


def source_pool_ensure(*, worker: User, tasks: Sequence[Task], sha256: str, image: str = "") -> tuple[Pool, int]:
    """The pool of these tasks, in which this annotator works, and how many tasks it did not have yet. `sha256` is of
    the tasks; without an image it has that of their platform, or OSWorld's.

    Raises Invalid (`not_an_annotator`, `mixed_platforms`, `unknown_image`, `unknown_task`, `unsupported_task`), and
    Conflict for an id that is there twice and when the bridge does not answer.
    """
    if not can_annotate(worker):
        raise Invalid(f"{worker.username} is no annotator.", code="not_an_annotator")
    platform, image = task_platform(tasks), image or default_image(tasks)
    image_check(image)
    for code, reasons in (
        ("unknown_task", async_to_sync(unknown_tasks)(tasks)),
        ("unsupported_task", async_to_sync(unsupported_tasks)(image, tasks)),
    ):
        for task_id, reason in reasons.items():
            raise Invalid(f"{task_id}: {reason}", code=code)
    return task_pool_ensure(
        name=source_pool_name(tasks, sha256, image),
        worker=worker,
        definitions=tasks,
        platform=platform,
        image=image,
        max_steps=max(task.max_steps for task in tasks),
    )


def task_platform(tasks: Sequence[Task]) -> str:
    """The platform that all tasks have in common. Raises Invalid."""
    platforms = sorted({task.platform for task in tasks})
    if len(platforms) > 1:
        message = f"The tasks are for {' and '.join(platforms)}, and a pool has one platform. Choose some with --task."
        raise Invalid(message, code="mixed_platforms")
    return platforms[0]


def default_image(tasks: Sequence[Task]) -> str:
    """The machine image of tasks where none is named: the one that is called like their platform, or OSWorld's."""
    return "osworld" if any("osworld" in task.parameters for task in tasks) else tasks[0].platform


def source_pool_name(tasks: Sequence[Task], sha256: str, image: str) -> str:
    """What the pool is called: how many tasks of which origin, on which machines, and their checksum."""
    origins = "+".join(sorted({origin for task in tasks if (origin := _origin(task))}))
    words = " ".join(word for word in (str(len(tasks)), origins, "tasks on", image) if word)
    checksum = f" ({sha256[:CHECKSUM_CHARACTERS]})"
    return words[: NAME_CHARACTERS - len(checksum)] + checksum


def _origin(task: Task) -> str:
    """A task's suite, or the format that it came in; empty where it has neither."""
    formats = {"osworld": "OSWorld", "harbor": "Harbor", SITE_TASK: "site"}
    return task.suite or next((formats[key] for key in formats if key in task.parameters), "")
