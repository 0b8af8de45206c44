"""HTTP routes for the pictures of a suite's tasks."""

from typing import Annotated

from asgiref.sync import async_to_sync
from django.http import HttpRequest
from ninja import Path, Query, Router
from pydantic import Field, StringConstraints

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.live.jobs import task_pictures_job
from annotation_app.live.suite_tasks import suite_tasks
from annotation_app.live.task_pictures import TaskPictures, pictures_known
from annotation_app.policies.selectors import policies_reader_check
from protocol.trajectory.tasks import Language, TaskVariant

router = Router(tags=["suites"], auth=TOKEN_OR_SESSION_AUTH)
SuiteName = Annotated[str, Path(), StringConstraints(pattern=r"^[a-z0-9][a-z0-9_.-]{0,63}$")]


@router.get("/suites/{suite}/pictures", response=TaskPictures)
def suite_pictures(
    request: HttpRequest,
    suite: SuiteName,
    level: Annotated[int, Query(), Field(ge=1, le=100)] = 1,
    seed: Annotated[int, Query(), Field(ge=0, le=2**31 - 1)] = 0,
    language: Annotated[Language, Query()] = "en",
    size: Annotated[str, Query(), StringConstraints(pattern=r"^([1-9][0-9]{0,3}x[1-9][0-9]{0,3})?$")] = "",
) -> TaskPictures:
    """Pictures of the tasks of a suite at their start, at a `size` such as `640x480` or at their own size. A worker
    makes missing pictures; repeat the request to get them."""
    policies_reader_check(user_of(request))
    width, _, height = size.partition("x")
    screen = (int(width), int(height)) if size else None
    variant = TaskVariant(seed=seed, level=level, language=language, size=screen)
    found, begins = pictures_known(suite, async_to_sync(suite_tasks)(suite, variant), variant)
    if begins:
        task_pictures_job.delay(suite, variant.model_dump(mode="json"))
    return found
