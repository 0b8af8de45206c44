"""Changing episodes: the only writers of their tables.

Every durable change is one event: built from its class, applied to the row by `state_apply`, and published
after commit. So `state_apply(old snapshot, event) == new snapshot` holds by construction.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.audit.services import audit_record
from annotation_app.blobs.services import blob_record, blob_write
from annotation_app.episodes import selectors
from annotation_app.episodes.models import Command, Desk, Episode, EpisodeBlob, Proposal, Review, Step, Undoing
from annotation_app.episodes.publish import publish_on_commit
from annotation_app.errors import Conflict, Forbidden, NotFound
from annotation_app.policies.selectors import policy_ref
from annotation_app.tasks.models import AssignmentState
from annotation_app.tasks.selectors import may_annotate, revision_of
from annotation_app.tasks.services import assignment_claim, assignment_end, assignment_return, lease_end
from vocabulary.blobs import BlobRef
from vocabulary.messages import (
    DurableEvent,
    EpisodeChanged,
    PendingAct,
    ProposalMarked,
    ProposalsReady,
    ProposalsWithdrawn,
    StepAdded,
    StepStarted,
    StepUndone,
)
from vocabulary.observations import Observation
from vocabulary.proposals import Mark, PolicyRef
from vocabulary.proposals import Proposal as Offer
from vocabulary.state import state_apply
from vocabulary.steps import Step as StepValue

LEFT_AS: dict[str, AssignmentState] = {
    "skipped": AssignmentState.SKIPPED,
    "broken": AssignmentState.BROKEN,
    "": AssignmentState.RELEASED,
}
"""How an assignment ends when its episode was left with this outcome."""


class Fenced(Conflict):
    """Another process drives the episode now."""

    code = "episode_fenced"


# --- the row, locked


def _locked(episode_id: UUID, token: int | None = None) -> Episode:
    """The row, for update; with a token, only for the runner that holds it. Raises NotFound and Fenced."""
    episode = (
        Episode.objects.select_for_update(of=("self",))
        .select_related("task__pool", "assignment")
        .filter(pk=episode_id)
        .first()
    )
    if episode is None:
        raise NotFound(selectors.NO_EPISODE)
    if token is not None and episode.runner_token != token:
        raise Fenced("Another process drives this episode now.")
    return episode


def _record(episode: Episode, event: DurableEvent) -> None:
    """Apply an event to the locked row and tell everybody after commit."""
    after = state_apply(selectors.state_of(episode), event)
    episode.version = after.version
    episode.status = after.status
    episode.outcome = after.outcome or ""
    episode.help_requested = after.help_requested
    episode.finished_at = after.finished_at
    episode.desk = Desk(**{name: getattr(after, name) for name in Desk.model_fields})
    episode.save(update_fields=["version", "status", "outcome", "help_requested", "finished_at", "desk", "pending"])
    if after.lease_expires_at is not None and after.lease_expires_at != episode.assignment.expires_at:
        episode.assignment.expires_at = after.lease_expires_at
        episode.assignment.save(update_fields=["expires_at"])
    publish_on_commit(episode_id=str(episode.id), event=event)


# --- beginning and ending


def episode_next(*, user: User, pool_id: int | None = None, practice: bool = False) -> Episode | None:
    """What this person works on next, once abandoned tasks are back in their pools; see `episode_claim`."""
    leases_expire()
    return episode_claim(user=user, pool_id=pool_id, practice=practice)


@transaction.atomic(durable=True)
def episode_claim(*, user: User, pool_id: int | None = None, practice: bool = False) -> Episode | None:
    """What this person works on next: what they have open, else a task claimed now, else None.

    Two calls at once give one episode. Raises Forbidden.
    """
    if not may_annotate(user):
        raise Forbidden("Only annotators claim tasks.")
    User.objects.select_for_update().get(pk=user.pk)
    opened = user.episodes.filter(status__in=("warming", "running"), task__pool__practice=practice)
    if pool_id is not None:
        opened = opened.filter(task__pool_id=pool_id)
    current = opened.first()
    if current is not None:
        return current
    assignment = assignment_claim(user=user, pool_id=pool_id, practice=practice)
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
        desk=Desk(policy=policy_ref(policy)),
    )
    audit_record(actor=user, verb="task.claimed", subject=f"episode:{episode.id}")
    return episode


def _end_assignment(episode: Episode) -> None:
    """Let the task go where the episode's end leads."""
    if episode.assignment.state != AssignmentState.ACTIVE:
        return
    state = AssignmentState.DONE if episode.status == "finished" else LEFT_AS[episode.outcome]
    assignment_end(assignment=episode.assignment, state=state)
    audit_record(actor=episode.annotator, verb=f"episode.{episode.status}", subject=f"episode:{episode.id}")


@transaction.atomic(durable=True)
def episode_change(*, episode_id: UUID, token: int | None, fields: dict[str, Any]) -> DurableEvent:
    """Change what EpisodeChanged names; an end ends the assignment, a pause stretches it."""
    episode = _locked(episode_id, token)
    status = fields.get("status")
    if status in ("paused", "running") and "lease_expires_at" not in fields and episode.status != status:
        fields = {**fields, "lease_expires_at": lease_end(episode.task.pool, paused=status == "paused")}
    if status in selectors.ENDED_STATUSES and "finished_at" not in fields:
        fields = {**fields, "finished_at": timezone.now()}
    event = EpisodeChanged.model_validate({"version": episode.version + 1, **fields})
    _record(episode, event)
    if episode.status in selectors.ENDED_STATUSES:
        _end_assignment(episode)
    return event


@transaction.atomic(durable=True)
def lease_renew(*, episode_id: UUID) -> bool:
    """Keep an open episode's task for its annotator; True when so much of the lease was used up that it was
    stretched. That is no event: the runner's record does not depend on it."""
    episode = _locked(episode_id)
    if episode.status not in selectors.OPEN_STATUSES:
        return False
    now, until = timezone.now(), lease_end(episode.task.pool, paused=episode.status == "paused")
    if episode.assignment.expires_at - now > (until - now) / 2:
        return False
    episode.assignment.expires_at = until
    episode.assignment.save(update_fields=["expires_at"])
    return True


@transaction.atomic(durable=True)
def lease_expire(*, episode_id: UUID) -> bool:
    """Give an abandoned task back to its pool; whether there was anything to give back."""
    episode = _locked(episode_id)
    if episode.status not in selectors.OPEN_STATUSES or episode.assignment.expires_at > timezone.now():
        return False
    episode.runner_token += 1
    episode.runner = ""
    episode.save(update_fields=["runner_token", "runner"])
    error = "The lease ran out; the task went back to its pool."
    _record(
        episode,
        EpisodeChanged(version=episode.version + 1, status="left", error=error, finished_at=timezone.now()),
    )
    assignment_end(assignment=episode.assignment, state=AssignmentState.EXPIRED)
    audit_record(actor=None, verb="lease.expired", subject=f"episode:{episode.id}")
    return True


def leases_expire() -> int:
    """Give every abandoned task back; how many there were."""
    return sum(lease_expire(episode_id=episode_id) for episode_id in selectors.episodes_abandoned())


# --- the runner's lease


@transaction.atomic(durable=True)
def runner_acquire(*, episode_id: UUID, runner: str, seconds: float, dead: Callable[[str], bool]) -> int | None:
    """Become the one process that drives an episode: its fencing token, or None while a living process has
    the annotator's socket. Raises NotFound."""
    episode = _locked(episode_id)
    held = episode.runner not in ("", runner) and episode.attended and not dead(episode.runner)
    if held and episode.runner_until is not None and episode.runner_until > timezone.now():
        return None
    return _runner_install(episode, runner, seconds)


@transaction.atomic(durable=True)
def runner_take(*, episode_id: UUID, runner: str, seconds: float) -> int:
    """Become the one process that drives an episode, whoever did before: its fencing token. Raises NotFound."""
    return _runner_install(_locked(episode_id), runner, seconds)


def _runner_install(episode: Episode, runner: str, seconds: float) -> int:
    episode.runner = runner
    episode.runner_token += 1
    episode.runner_until = timezone.now() + timedelta(seconds=seconds)
    episode.attended = True
    episode.save(update_fields=["runner", "runner_token", "runner_until", "attended"])
    return episode.runner_token


@transaction.atomic(durable=True)
def runner_attend(*, episode_id: UUID, token: int, attended: bool) -> None:
    """Say whether the annotator's socket is in this process; nothing happens when another process took over."""
    Episode.objects.filter(pk=episode_id, runner_token=token).update(attended=attended)


@transaction.atomic(durable=True)
def runners_renew(*, runner: str, seconds: float) -> frozenset[UUID]:
    """Keep every episode a process drives; which those are."""
    mine = Episode.objects.filter(runner=runner)
    mine.update(runner_until=timezone.now() + timedelta(seconds=seconds))
    return frozenset(mine.values_list("pk", flat=True))


@transaction.atomic(durable=True)
def runner_release(*, episode_id: UUID, token: int) -> None:
    """Let go of an episode; nothing happens when another process took it."""
    Episode.objects.filter(pk=episode_id, runner_token=token).update(runner="", runner_until=None)


@transaction.atomic(durable=True)
def machine_set(*, episode_id: UUID, token: int, machine: str) -> None:
    """Remember the bridge's lease, so that any process can go on with the machine; empty when it is let go."""
    episode = _locked(episode_id, token)
    episode.machine = machine
    episode.save(update_fields=["machine"])


# --- the loop's writes


def _command_make(episode: Episode, command_id: str, digest: str, **more: str) -> Command:
    try:
        return Command.objects.create(episode=episode, command_id=command_id, digest=digest, **more)
    except IntegrityError as error:
        raise Conflict("This command_id was used before.", code="command_conflict") from error


@transaction.atomic(durable=True)
def command_record(*, episode_id: UUID, token: int, command_id: str, digest: str, note: str = "") -> None:
    """Remember a command that is not an act, and log what was said with it. Raises Conflict for an id that was
    used."""
    episode, note = _locked(episode_id, token), note.replace("\x00", "")
    _command_make(episode, command_id, digest, note=note)
    if note:
        audit_record(
            actor=episode.annotator, verb="episode.noted", subject=f"episode:{episode.id}", details={"note": note}
        )


@transaction.atomic(durable=True)
def act_begin(*, episode_id: UUID, token: int, digest: str, pending: PendingAct, intent: str) -> DurableEvent:
    """Store what is about to be done. Raises Conflict while another act is under way."""
    episode = _locked(episode_id, token)
    if episode.pending_id is not None:
        raise Conflict("Another act is under way.", code="act_pending")
    episode.pending = _command_make(episode, pending.command_id, digest, intent=intent)
    event = StepStarted(version=episode.version + 1, pending=pending)
    _record(episode, event)
    return event


@transaction.atomic(durable=True)
def step_append(*, episode_id: UUID, token: int, step: StepValue) -> DurableEvent:
    """Store an executed step; it completes the pending act and closes the offers. Raises ValueError for a
    step that does not follow the last one."""
    episode = _locked(episode_id, token)
    count = episode.steps.count()
    if step.index != count:
        raise ValueError(f"step {step.index} cannot follow {count} steps")
    Step.objects.create(
        episode=episode,
        index=step.index,
        command_id=step.command_id,
        actor=step.actor,
        decision=step.decision,
        document=step,
    )
    _offers_close(episode)
    episode.pending = None
    event = StepAdded(version=episode.version + 1, step=step)
    _record(episode, event)
    return event


@transaction.atomic(durable=True)
def step_undo(*, episode_id: UUID, token: int, index: int, observation: Observation) -> DurableEvent:
    """Note that a step was taken back; the offers since are void. Raises ValueError where there is no such step."""
    episode = _locked(episode_id, token)
    step = episode.steps.filter(index=index, undoing__isnull=True).first()
    if step is None:
        raise ValueError(f"there is no step {index} to take back")
    Undoing.objects.create(step=step)
    _offers_close(episode)
    event = StepUndone(version=episode.version + 1, index=index, observation=observation)
    _record(episode, event)
    return event


def _offers_close(episode: Episode) -> None:
    Proposal.objects.filter(episode=episode, open=True).update(open=False)


@transaction.atomic(durable=True)
def proposals_add(*, episode_id: UUID, token: int, proposals: tuple[Offer, ...], policy: PolicyRef) -> DurableEvent:
    """Store what is offered at the present step, in place of earlier offers."""
    episode = _locked(episode_id, token)
    _offers_close(episode)
    index = episode.steps.count()
    Proposal.objects.bulk_create(
        Proposal(
            episode=episode,
            key=offer.id,
            index=index,
            policy=f"{offer.policy.name} {offer.policy.revision}",
            mark=offer.mark or "",
            document=offer,
        )
        for offer in proposals
    )
    event = ProposalsReady(version=episode.version + 1, proposals=proposals, policy=policy)
    _record(episode, event)
    return event


@transaction.atomic(durable=True)
def proposals_withdraw(*, episode_id: UUID, token: int, reason: str) -> DurableEvent:
    """Void the pending offers; their rows stay."""
    episode = _locked(episode_id, token)
    _offers_close(episode)
    event = ProposalsWithdrawn(version=episode.version + 1, reason=reason)
    _record(episode, event)
    return event


@transaction.atomic(durable=True)
def proposal_mark(*, episode_id: UUID, token: int, proposal_id: str, mark: Mark | None) -> DurableEvent:
    """Judge an offer. Raises NotFound."""
    episode = _locked(episode_id, token)
    if not Proposal.objects.filter(episode=episode, key=proposal_id).update(mark=mark or ""):
        raise NotFound("There is no such proposal.", code="unknown_proposal")
    event = ProposalMarked(version=episode.version + 1, proposal_id=proposal_id, mark=mark)
    _record(episode, event)
    return event


def blob_add(*, episode_id: UUID, token: int, ref: BlobRef, data: bytes) -> None:
    """Store bytes and let whoever sees this episode see them. Raises Invalid, TooLarge, Fenced."""
    blob_write(ref=ref, data=data)
    with transaction.atomic(durable=True):
        _locked(episode_id, token)
        blob_link(episode_id=episode_id, ref=ref)


def blob_keep(*, episode_id: UUID, ref: BlobRef, data: bytes) -> None:
    """Store bytes a person brought, and let whoever sees this episode see them. Raises Invalid, TooLarge."""
    blob_write(ref=ref, data=data)
    with transaction.atomic(durable=True):
        blob_link(episode_id=episode_id, ref=ref)


def blob_link(*, episode_id: UUID, ref: BlobRef) -> None:
    """Let whoever sees this episode see stored bytes. Runs inside the caller's transaction."""
    blob_record(ref=ref)
    link = EpisodeBlob(episode_id=episode_id, blob_id=ref.sha256)
    EpisodeBlob.objects.bulk_create([link], ignore_conflicts=True)


# --- review


@transaction.atomic(durable=True)
def episode_review(*, reviewer: User, episode_id: UUID, accept: bool, reason: str = "") -> Episode:
    """Accept a finished episode, or return it to its annotator with a reason. Raises Conflict, Forbidden."""
    if not reviewer.has_role("reviewer", "admin"):
        raise Forbidden("Only reviewers decide this.")
    episode = _locked(episode_id)
    if episode.annotator_id == reviewer.pk:
        raise Forbidden("Nobody reviews their own work.", code="own_work")
    if episode.task.pool.practice:
        raise Conflict("Practice is not reviewed.", code="practice")
    if episode.status != "finished":
        raise Conflict("Only finished episodes are reviewed.", code="not_finished")
    if episode.review != Review.PENDING:
        raise Conflict("This episode was reviewed before.", code="already_reviewed")
    if not accept and not reason.strip():
        raise Conflict("Say why it goes back.", code="reason_required")
    episode.review = Review.ACCEPTED if accept else Review.RETURNED
    episode.review_reason = reason
    episode.reviewer = reviewer
    episode.reviewed_at = timezone.now()
    episode.save(update_fields=["review", "review_reason", "reviewer", "reviewed_at"])
    if not accept:
        assignment_return(assignment=episode.assignment)
    audit_record(
        actor=reviewer,
        verb="episode.accepted" if accept else "episode.returned",
        subject=f"episode:{episode.id}",
        details={"reason": reason},
    )
    return episode
