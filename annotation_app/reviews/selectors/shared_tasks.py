"""Where attempts meet: those at one task, and the tasks that two policies both had."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import QuerySet

from annotation_app.accounts.models import User
from annotation_app.episodes.models import Episode, Step
from annotation_app.episodes.selectors import NO_EPISODE, episode_summaries
from annotation_app.errors import NotFound
from annotation_app.policies.models import PolicyRevision
from annotation_app.reviews.schemas import Attempt, SharedTask, SharedTasks
from annotation_app.reviews.selectors.queue import review_reader_check

MAX_ATTEMPTS = 50
"""Most attempts at one task that are listed, newest first."""
MAX_SHARED_TASKS = 100
"""Most tasks that are listed, the last added first."""


def attempts(*, user: User, episode_id: UUID) -> tuple[Attempt, ...]:
    """The finished attempts at an episode's task, the newest first. Raises Forbidden and NotFound."""
    review_reader_check(user)
    task = Episode.objects.filter(pk=episode_id).values_list("task", flat=True).first()
    if task is None:
        raise NotFound(NO_EPISODE)
    return attempt_rows(list(_with_policies().filter(task=task).values_list("pk", flat=True)[:MAX_ATTEMPTS]))


def shared_tasks(*, user: User, one: str | None = None, other: str | None = None) -> SharedTasks:
    """The revisions that proposed in finished attempts, and of two of them the tasks that both were given, each with
    the newest attempt of both. An attempt counts for the revision it began with; one that proposed in none has no task
    in common with any. Raises Forbidden and NotFound."""
    review_reader_check(user)
    known = {str(row): row.pk for row in PolicyRevision.objects.all()}
    proposed = set(_with_policies().order_by().values_list("policy", flat=True).distinct())
    revisions = tuple(name for name, key in known.items() if key in proposed)
    if one is None or other is None:
        return SharedTasks(revisions=revisions)
    if one not in known or other not in known:
        raise NotFound("There is no such revision.")
    left, right = (_with_policies().filter(policy=known[name], task__pool__practice=False) for name in (one, other))
    newest_left = _newest(left.filter(task__in=right.order_by().values("task")))
    tasks = [task for task, _ in newest_left[: MAX_SHARED_TASKS + 1]]
    beside = dict(_newest(right.filter(task__in=tasks)))
    # An attempt may have ended, or been withdrawn, between the two questions.
    pairs = [(task, key, beside[task]) for task, key in newest_left[:MAX_SHARED_TASKS] if task in beside]
    lines = {line.episode.id: line for line in attempt_rows([key for _, *both in pairs for key in both])}
    return SharedTasks(
        revisions=revisions,
        items=tuple(SharedTask(task=task, one=lines[key], other=lines[met]) for task, key, met in pairs),
        more=len(tasks) > MAX_SHARED_TASKS,
    )


def attempt_rows(ids: Sequence[UUID]) -> tuple[Attempt, ...]:
    """These episodes' lines, each with who proposed in it."""
    named: dict[UUID, list[str]] = {key: [] for key in ids}
    steps = Step.objects.filter(episode__in=ids).exclude(policy="").order_by("episode", "policy").distinct()
    for key, policy in steps.values_list("episode", "policy"):
        named[key].append(policy)
    return tuple(Attempt(episode=line, policies=tuple(named[line.id])) for line in episode_summaries(ids=list(ids)))


def _with_policies() -> QuerySet[Episode]:
    usable = Episode.objects.filter(status="finished", annotator__work_removed=False, withdrawal__isnull=True)
    return usable.order_by("-created_at", "-pk")


def _newest(found: QuerySet[Episode]) -> list[tuple[int, UUID]]:
    """Of each task its newest of these, the last task first."""
    by_task = found.order_by("-task", "-created_at", "-pk").distinct("task")
    return list(by_task.values_list("task", "pk")[: MAX_SHARED_TASKS + 1])
