"""Stop episodes because of a change to their pool or their annotator. The process that drives one is fenced. The next
runner completes the act that was running, so that no step is lost."""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.audit.services import audit_record
from annotation_app.episodes.models import OPEN_STATUSES, Episode
from annotation_app.episodes.services.events import episode_lock, event_apply, pool_stopped_message
from annotation_app.notifications.services.notices import notice_create
from annotation_app.tasks.models import Assignment, AssignmentState
from annotation_app.tasks.selectors import can_annotate, pools_assigned_to
from annotation_app.tasks.services import assignment_end, lease_end
from protocol.messages.events import EpisodeChanged

REMOVED_FROM_POOL_MESSAGE = "You are not in this pool any more; the task went back to it, and what you did is kept."


def pool_episodes_pause(*, pool_id: int, reason: str) -> int:
    """Pause every running episode of a pool with this reason. Returns how many there were. Runs inside the caller's
    transaction."""
    running = Episode.objects.filter(task__pool_id=pool_id, status__in=("running", "paused")).order_by("id")
    for episode_id in running.values_list("pk", flat=True):
        episode = episode_lock(episode_id)
        if episode.status in ("running", "paused"):
            _fence(episode)
            event = EpisodeChanged(
                version=episode.version + 1,
                status="paused",
                autopilot=False,
                takeover=False,
                error=pool_stopped_message(reason),
                lease_expires_at=lease_end(episode.task.pool, episode.assignment.created_at, paused=True),
            )
            event_apply(episode, event)
    return running.count()


def pool_episodes_resume(*, pool_id: int, reason: str) -> None:
    """Allow annotators to resume the episodes that were paused for this reason. Runs inside the caller's
    transaction."""
    paused = Episode.objects.filter(task__pool_id=pool_id, status="paused").order_by("id")
    for episode_id in paused.values_list("pk", flat=True):
        episode = episode_lock(episode_id)
        if episode.status == "paused" and episode.desk.error == pool_stopped_message(reason):
            _fence(episode)
            event_apply(episode, EpisodeChanged(version=episode.version + 1, error=""))


def unauthorized_episodes_withdraw(*, pool_id: int | None = None) -> int:
    """End the open episodes of people who may no longer work in their pools, and release their reserved tasks. Returns
    how many there were. Runs inside the caller's transaction."""
    held = Assignment.objects.filter(state__in=(AssignmentState.ACTIVE, AssignmentState.RETURNED))
    if pool_id is not None:
        held = held.filter(task__pool_id=pool_id)
    ended = 0
    for person in User.objects.filter(pk__in=held.order_by().values("annotator").distinct()).order_by("pk"):
        theirs = pools_assigned_to(person) if person.is_active and can_annotate(person) else None
        unauthorized = held.filter(annotator=person)
        if theirs is not None:
            unauthorized = unauthorized.exclude(task__pool__in=theirs.values("pk"))
        for assignment in unauthorized.select_related("task__pool").order_by("pk"):
            ended += _assignment_withdraw(assignment)
    return ended


@transaction.atomic(durable=True)
def unauthorized_episodes_withdraw_all() -> int:
    """Like `unauthorized_episodes_withdraw`, for every pool."""
    return unauthorized_episodes_withdraw()


def _assignment_withdraw(assignment: Assignment) -> bool:
    episode_id = Episode.objects.filter(assignment=assignment).values_list("pk", flat=True).first()
    if episode_id is None:
        assignment_end(assignment=assignment, state=AssignmentState.RELEASED)
        return True
    return episode_withdraw(episode_id, REMOVED_FROM_POOL_MESSAGE)


def episode_withdraw(episode_id: UUID, why: str) -> bool:
    """End an open episode and return its task to the pool. Its steps are kept. Runs inside the caller's transaction."""
    episode = episode_lock(episode_id)
    if episode.status not in OPEN_STATUSES:
        return False
    _fence(episode)
    event_apply(
        episode, EpisodeChanged(version=episode.version + 1, status="left", error=why, finished_at=timezone.now())
    )
    assignment_end(assignment=episode.assignment, state=AssignmentState.RELEASED)
    audit_record(actor=None, part="access_check", verb="episode.withdrawn", subject=f"episode:{episode.id}")
    notice_create(user=episode.annotator, kind="task.lost", subject=f"episode:{episode.id}", details={"reason": why})
    return True


def _fence(episode: Episode) -> None:
    episode.runner_token += 1
    episode.runner = ""
    episode.save(update_fields=["runner_token", "runner"])
