"""Writes of the episode loop: commands, steps and proposals."""

from collections.abc import Collection, Mapping
from hashlib import sha256
from uuid import UUID

from django.db import IntegrityError, transaction

from annotation_app.accounts.models import User
from annotation_app.audit.services import audit_record
from annotation_app.blobs.services import blob_record, blob_write
from annotation_app.episodes.models import Command, Episode, EpisodeBlob, LateThought, Proposal, Step, Undoing
from annotation_app.episodes.services.events import episode_lock, event_apply, pool_running_check
from annotation_app.errors import Conflict, NotFound
from protocol.blobs import NO_BLOBS, BlobRef
from protocol.messages.events import (
    DurableEvent,
    PendingAct,
    ProposalMarked,
    ProposalsReady,
    ProposalsWithdrawn,
    StepAdded,
    StepStarted,
    StepUndone,
    ThoughtWritten,
    WithdrawalReason,
)
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import Mark, PolicyRef, strip_token_data
from protocol.trajectory.proposals import Proposal as Offer
from protocol.trajectory.steps import Step as StepValue


def _command_make(episode: Episode, command_id: str, digest: str, **more: str) -> Command:
    try:
        return Command.objects.create(episode=episode, command_id=command_id, digest=digest, **more)
    except IntegrityError as error:
        raise Conflict("This command_id was used before.", code="command_conflict") from error


@transaction.atomic(durable=True)
def command_record(
    *, episode_id: UUID, token: int, command_id: str, digest: str, note: str = "", acted_by: int | None = None
) -> None:
    """Store a command that is not an act, and log its note. `acted_by` is the supervisor who sent it, if it was not the
    annotator. Raises Conflict for an id that was used."""
    episode = episode_lock(episode_id, token)
    command_record_locked(episode, command_id=command_id, digest=digest, note=note, acted_by=acted_by)


def command_record_locked(
    episode: Episode, *, command_id: str, digest: str, note: str, acted_by: int | None = None
) -> None:
    """Like `command_record`, for an episode whose row the transaction has already locked."""
    note = note.replace("\x00", "")
    _command_make(episode, command_id, digest, note=note)
    if note:
        actor = person_acting(episode, acted_by)
        audit_record(actor=actor, verb="episode.noted", subject=f"episode:{episode.id}", details={"note": note})


def person_acting(episode: Episode, acted_by: int | None) -> User:
    """The supervisor with this account, or the annotator if it is None."""
    return episode.annotator if acted_by is None else User.objects.get(pk=acted_by)


@transaction.atomic(durable=True)
def act_begin(*, episode_id: UUID, token: int, digest: str, pending: PendingAct, intent: str) -> DurableEvent:
    """Store an intended act before it runs. Raises Conflict while another act is running, or if the pool was
    stopped."""
    episode = episode_lock(episode_id, token)
    pool_running_check(episode)
    if episode.pending_id is not None:
        raise Conflict("Another act is under way.", code="act_pending")
    episode.pending = _command_make(episode, pending.command_id, digest, intent=intent)
    event = StepStarted(version=episode.version + 1, pending=pending)
    event_apply(episode, event)
    return event


def step_append(
    *,
    episode_id: UUID,
    token: int,
    step: StepValue,
    pending: PendingAct | None = None,
    intent: str = "",
    done: str = "",
    blobs: Mapping[BlobRef, bytes] = NO_BLOBS,
) -> DurableEvent:
    """Store an executed step and its pictures. This completes the pending act and closes the proposals. `pending` and
    its `intent` are the next action of the same reply. `done` is the step's own intent, completed with what only the
    act could tell.

    Raises ValueError for a step that does not follow the last one, Conflict if `pending` may not begin, Invalid,
    TooLarge and OSError. In each case nothing is stored.
    """
    for ref, data in blobs.items():
        blob_write(ref=ref, data=data)
    with transaction.atomic(durable=True):
        episode = episode_lock(episode_id, token)
        if pending is not None:
            pool_running_check(episode)
        if blobs:
            blobs_link(episode_id=episode_id, blobs=blobs)
        _step_create(episode, step)
        _proposals_close(episode)
        if done:
            Command.objects.filter(episode=episode, command_id=step.command_id).update(intent=done)
        episode.pending = None
        if pending is not None:
            digest = sha256(intent.encode()).hexdigest()
            episode.pending = _command_make(episode, pending.command_id, digest, intent=intent)
        event = StepAdded(version=episode.version + 1, step=step, pending=pending)
        event_apply(episode, event)
    return event


def _step_create(episode: Episode, step: StepValue) -> None:
    count = episode.steps.count()
    if step.index != count:
        raise ValueError(f"step {step.index} cannot follow {count} steps")
    Step.objects.create(
        episode=episode,
        index=step.index,
        command_id=step.command_id,
        actor=step.actor,
        decision=step.decision,
        policy=step.policy.label if step.policy else "",
        decide_ms=step.decide_ms,
        took_ms=(step.ended_at - step.started_at).total_seconds() * 1_000,
        document=step,
    )


@transaction.atomic(durable=True)
def step_undo(*, episode_id: UUID, token: int, index: int, observation: Observation) -> DurableEvent:
    """Mark a step as taken back and void later proposals. Raises ValueError if there is no such step."""
    episode = episode_lock(episode_id, token)
    step = episode.steps.filter(index=index, undoing__isnull=True).first()
    if step is None:
        raise ValueError(f"there is no step {index} to take back")
    Undoing.objects.create(step=step)
    _proposals_close(episode)
    event = StepUndone(version=episode.version + 1, index=index, observation=observation)
    event_apply(episode, event)
    return event


@transaction.atomic(durable=True)
def thought_write(*, episode_id: UUID, token: int, index: int, thought: str) -> DurableEvent:
    """Store the missing thought of a step. Raises Conflict if none is missing."""
    episode = episode_lock(episode_id, token)
    step = episode.steps.filter(index=index, undoing__isnull=True, late_thought__isnull=True).first()
    if step is None or step.document.thought_timing != "owed":
        raise Conflict("This step owes no thought.", code="no_thought_owed")
    LateThought.objects.create(step=step, thought=thought)
    event = ThoughtWritten(version=episode.version + 1, index=index, thought=thought)
    event_apply(episode, event)
    return event


def _proposals_close(episode: Episode) -> None:
    Proposal.objects.filter(episode=episode, open=True).update(open=False)


@transaction.atomic(durable=True)
def proposals_add(*, episode_id: UUID, token: int, proposals: tuple[Offer, ...], policy: PolicyRef) -> DurableEvent:
    """Store the proposals for the current step, replacing earlier ones. Their tokens are not published."""
    episode = episode_lock(episode_id, token)
    _proposals_close(episode)
    index = episode.steps.count()
    Proposal.objects.bulk_create(
        Proposal(
            episode=episode,
            key=offer.id,
            index=index,
            policy=offer.policy.label,
            mark=offer.mark or "",
            latency_ms=offer.latency_ms,
            document=offer,
        )
        for offer in proposals
    )
    event = ProposalsReady(
        version=episode.version + 1, proposals=tuple(map(strip_token_data, proposals)), policy=policy
    )
    event_apply(episode, event)
    return event


@transaction.atomic(durable=True)
def proposals_withdraw(
    *, episode_id: UUID, token: int, reason: WithdrawalReason, observation: Observation | None = None
) -> DurableEvent:
    """Void the pending proposals; their rows stay. `observation` is the screen to act on from now on, if it changed."""
    episode = episode_lock(episode_id, token)
    _proposals_close(episode)
    event = ProposalsWithdrawn(version=episode.version + 1, reason=reason, observation=observation)
    event_apply(episode, event)
    return event


@transaction.atomic(durable=True)
def proposal_mark(*, episode_id: UUID, token: int, proposal_id: str, mark: Mark | None) -> DurableEvent:
    """Record the verdict on a proposal. Raises NotFound."""
    episode = episode_lock(episode_id, token)
    if not Proposal.objects.filter(episode=episode, key=proposal_id).update(mark=mark or ""):
        raise NotFound("There is no such proposal.", code="unknown_proposal")
    event = ProposalMarked(version=episode.version + 1, proposal_id=proposal_id, mark=mark)
    event_apply(episode, event)
    return event


def blob_add(*, episode_id: UUID, token: int, ref: BlobRef, data: bytes) -> None:
    """Store bytes and make them visible to everyone who may see this episode. Raises Invalid, TooLarge,
    RunnerFenced."""
    blob_write(ref=ref, data=data)
    with transaction.atomic(durable=True):
        episode_lock(episode_id, token)
        blob_link(episode_id=episode_id, ref=ref, data=data)


def blob_upload(*, episode_id: UUID, ref: BlobRef, data: bytes) -> None:
    """Store bytes that a person uploaded, visible to everyone who may see this episode. Raises Invalid, TooLarge."""
    blob_write(ref=ref, data=data)
    with transaction.atomic(durable=True):
        blob_link(episode_id=episode_id, ref=ref, data=data)


def blob_link(*, episode_id: UUID, ref: BlobRef, data: bytes | None = None) -> None:
    """Make a stored blob visible to everyone who may see this episode. Runs inside the caller's transaction."""
    blob_record(ref=ref, data=data)
    _linked(episode_id, [ref])


def blobs_link(*, episode_id: UUID, blobs: Mapping[BlobRef, bytes]) -> None:
    """Like `blob_link`, for several blobs that are already written. Runs inside the caller's transaction."""
    for ref in sorted(blobs, key=lambda ref: ref.sha256):  # in a fixed order, to avoid deadlocks
        blob_record(ref=ref, data=blobs[ref])
    _linked(episode_id, blobs)


def _linked(episode_id: UUID, refs: Collection[BlobRef]) -> None:
    links = (EpisodeBlob(episode_id=episode_id, blob_id=ref.sha256) for ref in refs)
    EpisodeBlob.objects.bulk_create(links, ignore_conflicts=True)
