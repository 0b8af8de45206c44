"""The lifecycle of an episode: claimed, changed, ended or abandoned."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.audit.services import audit_record
from annotation_app.audit.verbs import Verb
from annotation_app.compiled_queries import CompiledQuery
from annotation_app.episodes import selectors
from annotation_app.episodes.models import OPEN_STATUSES, Episode, EpisodeStateDocument
from annotation_app.episodes.selectors import trajectories
from annotation_app.episodes.services.branches import branch_close, branch_next
from annotation_app.episodes.services.events import episode_lock, event_apply, pool_running_check
from annotation_app.episodes.services.steps import command_record_locked, person_acting
from annotation_app.errors import Forbidden
from annotation_app.notifications.services.notices import notice_create
from annotation_app.notifications.services.webhooks import event_emit
from annotation_app.notifications.webhook_events import EpisodeFinished
from annotation_app.policies.selectors import policy_ref
from annotation_app.tasks.models import AssignmentState
from annotation_app.tasks.selectors import assignments_held, can_annotate, revision_of
from annotation_app.tasks.services import assignment_claim, assignment_end, lease_end, tally_add
from annotation_app.tasks.task_sampling import count_decisions
from protocol.messages.events import (
    DurableEvent,
    EpisodeChanged,
)
from protocol.trajectory.steps import drop_undone_steps

ENDED_VERBS: dict[str, Verb] = {
    "finished": "episode.finished",
    "left": "episode.left",
    "failed": "episode.failed",
}
ASSIGNMENT_STATE_WHEN_LEFT: dict[str, AssignmentState] = {
    "skipped": AssignmentState.SKIPPED,
    "broken": AssignmentState.BROKEN,
    "": AssignmentState.RELEASED,
}
"""How an assignment ends when its episode was left, by the outcome of the episode."""


_person_lock = CompiledQuery(
    lambda user: User.objects.select_for_update(no_key=True).filter(pk=user).values_list("pk"), user=-1
)
"""Locks the row of a person, so that concurrent claims by one person are serialized."""


def episode_next(*, user: User, pool_id: int | None = None, practice: bool = False) -> Episode | None:
    """What this person works on next. If nothing waits, abandoned tasks return to their pools first. See
    `episode_claim`."""
    episode = episode_claim(user=user, pool_id=pool_id, practice=practice)
    if episode is None and leases_expire():
        return episode_claim(user=user, pool_id=pool_id, practice=practice)
    return episode


@transaction.atomic(durable=True)
def episode_claim(*, user: User, pool_id: int | None = None, practice: bool = False) -> Episode | None:
    """What this person works on next: their open episode, else a newly claimed task, else None.

    Two concurrent calls return the same episode. Raises Forbidden.
    """
    if not can_annotate(user):
        raise Forbidden("Only annotators claim tasks.")
    _person_lock.rows(user=user.pk)
    held = assignments_held(user, pool_id=pool_id, practice=practice)
    if held:
        current = Episode.objects.filter(assignment__in=held, status__in=("warming", "running")).first()
        if current is not None:
            return current
    assignment = assignment_claim(user=user, held=held, pool_id=pool_id, practice=practice)
    if assignment is None:
        return None
    episode_id = uuid4()
    policy = revision_of(assignment.task.pool, episode_id)
    episode = Episode.objects.create(
        id=episode_id,
        task=assignment.task,
        annotator=user,
        assignment=assignment,
        policy=policy,
        mcp_servers=assignment.task.pool.mcp_servers,
        desk=EpisodeStateDocument(policy=policy_ref(policy), branch_of=branch_next(task_id=assignment.task_id)),
    )
    audit_record(actor=user, verb="task.claimed", subject=f"episode:{episode.id}")
    return episode


def _lease_end(episode: Episode, *, paused: bool) -> datetime:
    return lease_end(episode.task.pool, episode.assignment.created_at, paused=paused)


def _end_assignment(episode: Episode, actor: User) -> None:
    """End the assignment according to the episode's outcome. `actor` is the person who ended it."""
    if episode.assignment.state != AssignmentState.ACTIVE:
        return
    state = AssignmentState.DONE if episode.status == "finished" else ASSIGNMENT_STATE_WHEN_LEFT[episode.outcome]
    assignment_end(assignment=episode.assignment, state=state)
    _count_proposal_decisions(episode)
    if state == AssignmentState.DONE and episode.desk.branch_of is not None:
        branch_close(branch=episode.desk.branch_of)
    audit_record(actor=actor, verb=ENDED_VERBS[episode.status], subject=f"episode:{episode.id}")
    if state == AssignmentState.DONE and not episode.task.pool.practice:
        pool, task = episode.task.pool.name, episode.task.definition.id
        event_emit(EpisodeFinished(id=str(episode.id), pool=pool, task=task, outcome=episode.outcome))


def _count_proposal_decisions(episode: Episode) -> None:
    """Count the decisions on the policies' proposals, once, when the episode ends."""
    steps = drop_undone_steps(trajectories.steps_of(episode))
    tally_add(task=episode.task, counts=count_decisions(steps, selectors.success_of(episode)))


@transaction.atomic(durable=True)
def episode_change(
    *, episode_id: UUID, token: int | None, fields: dict[str, Any], command: dict[str, Any] | None = None
) -> DurableEvent:
    """Change the fields that EpisodeChanged names, and store the command that requested it. An end ends the assignment;
    a pause extends it. Raises Conflict for resuming in a stopped pool, and for a command id that was used.
    """
    episode = episode_lock(episode_id, token)
    if command is not None:
        command_record_locked(episode, **command)
    status = fields.get("status")
    if status == "running" and episode.status == "paused":
        pool_running_check(episode)
    if status in ("paused", "running") and "lease_expires_at" not in fields and episode.status != status:
        fields = {**fields, "lease_expires_at": _lease_end(episode, paused=status == "paused")}
    if status in selectors.ENDED_STATUSES and "finished_at" not in fields:
        fields = {**fields, "finished_at": timezone.now()}
    event = EpisodeChanged.model_validate({"version": episode.version + 1, **fields})
    event_apply(episode, event)
    if episode.status in selectors.ENDED_STATUSES:
        _end_assignment(episode, person_acting(episode, command["acted_by"] if command else None))
    return event


@transaction.atomic(durable=True)
def lease_renew(*, episode_id: UUID) -> bool:
    """Extend the lease on an open episode's task. Returns True if enough of it had passed that it was extended. The
    extension is no event, because the runner's record does not depend on it."""
    episode = episode_lock(episode_id)
    if episode.status not in OPEN_STATUSES:
        return False
    now, until = timezone.now(), _lease_end(episode, paused=episode.status == "paused")
    if episode.assignment.expires_at - now > (until - now) / 2:
        return False
    episode.assignment.expires_at = until
    episode.assignment.save(update_fields=["expires_at"])
    return True


@transaction.atomic(durable=True)
def lease_expire(*, episode_id: UUID) -> bool:
    """Return an abandoned task to its pool. Returns False if there was nothing to return."""
    episode = episode_lock(episode_id)
    if episode.status not in OPEN_STATUSES or episode.assignment.expires_at > timezone.now():
        return False
    episode.runner_token += 1
    episode.runner = ""
    episode.save(update_fields=["runner_token", "runner"])
    error = "The lease ran out; the task went back to its pool."
    event_apply(
        episode,
        EpisodeChanged(version=episode.version + 1, status="left", error=error, finished_at=timezone.now()),
    )
    assignment_end(assignment=episode.assignment, state=AssignmentState.EXPIRED)
    _count_proposal_decisions(episode)
    audit_record(actor=None, part="leases", verb="lease.expired", subject=f"episode:{episode.id}")
    notice_create(user=episode.annotator, kind="task.lost", subject=f"episode:{episode.id}", details={"reason": error})
    return True


def leases_expire() -> int:
    """Return every abandoned task to its pool. Returns how many there were."""
    return sum(lease_expire(episode_id=episode_id) for episode_id in selectors.episodes_abandoned())


def episodes_catalogued(episodes: Iterable[Episode]) -> None:
    """Note that the catalogue shows these episodes as they were read. Runs inside the caller's transaction."""
    for episode in episodes:
        episode.catalogued = episode.version
    Episode.objects.bulk_update(episodes, ["catalogued"])
