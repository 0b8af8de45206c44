"""Updates of the catalogue, and saved queries."""

from collections.abc import Iterable
from uuid import UUID

from django.contrib.postgres.search import SearchVector
from django.db import IntegrityError, transaction
from django.db.models import Value

from annotation_app.accounts.models import Role, User
from annotation_app.catalogue.models import Entry, SavedQuery
from annotation_app.catalogue.schemas import Query, SavedQueryOut
from annotation_app.catalogue.selectors import (
    SEARCH_CONFIGURATION,
    episodes_missing_from_catalogue,
    reader_check,
    saved_query_out,
    to_search_text,
)
from annotation_app.episodes.models import Episode
from annotation_app.episodes.selectors.trajectories import steps_of
from annotation_app.episodes.services import episodes_catalogued
from annotation_app.errors import Conflict, Forbidden, NotFound
from protocol.actions.descriptions import describe_action
from protocol.trajectory.steps import Step, drop_undone_steps
from protocol.trajectory.tasks import Task, task_kind

ENTRY_BATCH = 100
ENTRY_FIELDS = (
    *("pool", "kind", "words", "decisions", "policies", "applications", "actions", "steps", "reward", "created_at"),
)


def entries_refresh(*, most: int | None = None) -> int:
    """Index every ended episode whose entry is missing or out of date. Returns how many were indexed."""
    ids = episodes_missing_from_catalogue(most=most)
    for place in range(0, len(ids), ENTRY_BATCH):
        _store_entries(ids[place : place + ENTRY_BATCH])
    return len(ids)


@transaction.atomic(durable=True)
def _store_entries(ids: list[UUID]) -> None:
    locked = Episode.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=ids)
    episodes = locked.select_related("task__pool").prefetch_related("steps")
    entries = [_build_entry(episode) for episode in episodes]
    Entry.objects.bulk_create(
        entries, update_conflicts=True, unique_fields=["episode"], update_fields=list(ENTRY_FIELDS)
    )
    episodes_catalogued(episodes)


def _build_entry(episode: Episode) -> Entry:
    task, steps = episode.task.definition, drop_undone_steps(steps_of(episode))
    verdict = episode.desk.verdict
    policies = dict.fromkeys(step.policy.label for step in steps if step.policy)
    return Entry(
        episode=episode,
        pool=episode.task.pool,
        kind=task_kind(task)[:400],
        words=_search_vector(task.instruction, "A")
        + _search_vector(_thoughts_text(steps), "B")
        + _search_vector(_actions_text(steps), "C"),
        decisions=sorted({step.decision for step in steps}),
        policies=list(policies),
        applications=_task_applications(task),
        actions=sorted({step.action.kind for step in steps}),
        steps=len(steps),
        reward=verdict.score if verdict and verdict.success is not None else None,
        created_at=episode.created_at,
    )


def _search_vector(text: str, weight: str) -> SearchVector:
    return SearchVector(Value(to_search_text(text)), config=SEARCH_CONFIGURATION, weight=weight)


def _thoughts_text(steps: Iterable[Step]) -> str:
    return "\n".join(step.thought for step in steps)


def _actions_text(steps: Iterable[Step]) -> str:
    return "\n".join(f"{step.action.kind} {describe_action(step.action)}" for step in steps)


def _task_applications(task: Task) -> list[str]:
    """The programs that a task is about: those that it names, else its suite."""
    value = task.parameters.get("applications", task.parameters.get("related_apps", task.parameters.get("application")))
    names = value if isinstance(value, list) else [value] if value else [task.suite]
    return sorted({str(name)[:100] for name in names if name})


def query_save(*, user: User, name: str, query: Query) -> SavedQueryOut:
    """Save a query. Raises Forbidden, and Conflict if this person has one with this name."""
    reader_check(user)
    try:
        with transaction.atomic():
            row = SavedQuery.objects.create(name=name, owner=user, query=query.model_dump(mode="json"))
    except IntegrityError:
        raise Conflict("You have a query of this name.", code="name_taken") from None
    return saved_query_out(row, user)


def query_delete(*, user: User, query_id: int) -> None:
    """Delete a saved query of one's own; admins may delete any. Raises Forbidden and NotFound."""
    reader_check(user)
    row = SavedQuery.objects.filter(pk=query_id).first()
    if row is None:
        raise NotFound("There is no such query.")
    if row.owner_id != user.pk and not user.has_role(Role.ADMIN):
        raise Forbidden("This query belongs to another person.")
    row.delete()
