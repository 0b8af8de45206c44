"""Episodes that come in from elsewhere, whole."""

from dataclasses import dataclass
from uuid import UUID, uuid5

from django.db import transaction

from annotation_app.accounts.models import User
from annotation_app.episodes.models import Desk, Episode, Proposal, Source, Step, Undoing
from annotation_app.episodes.services.blobs import blobs_link
from annotation_app.tasks.models import Assignment, AssignmentState, Pool, Task, TaskState
from annotation_app.tasks.services import tasks_add
from vocabulary.blobs import BlobRef
from vocabulary.steps import Step as StepValue
from vocabulary.trajectories import Trajectory

LONGEST_COMMAND = 64


@dataclass(frozen=True)
class Arrival:
    """A trajectory that comes in: with which import, under which digest, into which pool, and what it shows."""

    arrival: UUID
    digest: str
    pool: Pool
    annotator: User
    trajectory: Trajectory
    blobs: tuple[BlobRef, ...]


@transaction.atomic
def episode_arrive(*, episode_id: UUID, coming: Arrival) -> Episode:
    """Enter a finished episode that was made elsewhere; reviewers find it as they find others. Raises IntegrityError
    and DataError for what cannot be stored. Runs inside the caller's transaction."""
    trajectory, user = coming.trajectory, coming.annotator
    began = trajectory.created_at
    task = _task(coming)
    lease = Assignment.objects.create(task=task, annotator=user, state=AssignmentState.DONE, expires_at=began)
    Assignment.objects.filter(pk=lease.pk).update(created_at=began)
    steps = _own_commands(episode_id, trajectory.steps)
    episode = Episode.objects.create(
        id=episode_id,
        task=task,
        annotator=user,
        assignment=lease,
        version=1,
        status="finished",
        outcome=trajectory.outcome or "",
        desk=_desk(trajectory),
        created_at=began,
        finished_at=trajectory.finished_at or began,
    )
    rows = Step.objects.bulk_create(_step(episode, step) for step in steps)
    Undoing.objects.bulk_create(Undoing(step=row) for row, step in zip(rows, steps, strict=True) if step.undone)
    Proposal.objects.bulk_create(
        Proposal(
            episode=episode,
            key=offer.id,
            index=index,
            policy=offer.policy.label,
            open=False,
            mark=offer.mark or "",
            latency_ms=offer.latency_ms,
            document=offer,
            created_at=offer.created_at,
        )
        for index, offers in enumerate(trajectory.proposals)
        for offer in offers
    )
    nothing = tuple(() for _ in trajectory.proposals)
    head = trajectory.model_copy(update={"steps": (), "proposals": nothing})
    Source.objects.create(episode=episode, digest=coming.digest, arrival=coming.arrival, head=head)
    blobs_link(episode_id=episode_id, refs=coming.blobs)
    return episode


def _task(coming: Arrival) -> Task:
    """The pool's task of this definition: one that is there, or a new one, which is done."""
    definition = coming.trajectory.task
    found = Task.objects.filter(pool=coming.pool, key=definition.id).first()
    if found is not None and found.definition != definition:
        definition = definition.model_copy(update={"id": f"{definition.id[:180]} {coming.digest[:16]}"})
        found = Task.objects.filter(pool=coming.pool, key=definition.id).first()
    if found is None:
        tasks_add(pool=coming.pool, definitions=[definition])
        found = Task.objects.get(pool=coming.pool, key=definition.id)
    found.state, found.done, found.finished = TaskState.DONE, found.done + 1, found.finished + 1
    found.save(update_fields=["state", "done", "finished"])
    return found


def _own_commands(episode_id: UUID, steps: tuple[StepValue, ...]) -> tuple[StepValue, ...]:
    """The steps with commands that nobody else has: their own where they can be kept."""
    given = [step.command_id for step in steps]
    free = (
        len(set(given)) == len(given)
        and all(1 <= len(one) <= LONGEST_COMMAND for one in given)
        and not Step.objects.filter(command_id__in=given).exists()
    )
    if free:
        return steps
    return tuple(step.model_copy(update={"command_id": str(uuid5(episode_id, str(step.index)))}) for step in steps)


def _step(episode: Episode, step: StepValue) -> Step:
    return Step(
        episode=episode,
        index=step.index,
        command_id=step.command_id,
        actor=step.actor,
        decision=step.decision,
        policy=step.policy.label if step.policy else "",
        decide_ms=step.decide_ms,
        took_ms=(step.ended_at - step.started_at).total_seconds() * 1_000,
        document=step.model_copy(update={"undone": False}),
        created_at=step.ended_at,
    )


def _desk(trajectory: Trajectory) -> Desk:
    last = trajectory.steps[-1]
    return Desk(
        capabilities=trajectory.capabilities or (),
        tools=trajectory.tools,
        observation=last.after or last.before,
        policy=trajectory.policies[-1] if trajectory.policies else None,
        memories=trajectory.memories,
        answer=trajectory.answer,
        verdict=trajectory.verdict,
        branch_of=trajectory.branch_of,
    )
