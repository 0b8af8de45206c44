"""Import complete episodes from elsewhere, many in a few statements."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID, uuid5

from django.db import connection, transaction
from django.db.models import F, Max, Model

import protocol.trajectory.tasks
from annotation_app.accounts.models import User
from annotation_app.blobs.services import blobs_record
from annotation_app.episodes.models import Episode, EpisodeBlob, EpisodeStateDocument, Proposal, Source, Step, Undoing
from annotation_app.tasks.models import Assignment, AssignmentState, Pool, Task, TaskState
from protocol.blobs import BlobRef
from protocol.trajectory.steps import Step as StepValue
from protocol.trajectory.tasks import task_kind
from protocol.trajectory.trajectories import Trajectory

MAX_COMMAND_ID_LENGTH = 64
STEP_COLUMNS = (
    *("episode_id", "index", "command_id", "actor", "decision", "policy", "decide_ms", "took_ms", "document"),
    "created_at",
)
PROPOSAL_COLUMNS = ("episode_id", "key", "index", "policy", "open", "mark", "latency_ms", "document", "created_at")


@dataclass(frozen=True)
class IncomingEpisode:
    """A trajectory to import: its episode id, digest, annotator and blobs."""

    episode_id: UUID
    digest: str
    annotator: User
    trajectory: Trajectory
    blobs: tuple[BlobRef, ...]


@transaction.atomic
def episodes_ingest(*, import_id: UUID, pool: Pool, incoming_episodes: Sequence[IncomingEpisode]) -> None:
    """Store finished episodes that were made elsewhere, each id and digest once. Reviewers find them like any others.
    Raises IntegrityError, DataError and ValueError for what cannot be stored. Runs inside the caller's transaction,
    with the pool locked."""
    tasks = _tasks(pool, incoming_episodes)
    leases = _assignments(incoming_episodes, tasks)
    Episode.objects.bulk_create(
        Episode(
            id=one.episode_id,
            task=task,
            annotator=one.annotator,
            assignment=lease,
            version=1,
            status="finished",
            outcome=one.trajectory.outcome or "",
            desk=_state_document(one.trajectory),
            created_at=one.trajectory.created_at,
            finished_at=one.trajectory.finished_at or one.trajectory.created_at,
        )
        for one, task, lease in zip(incoming_episodes, tasks, leases, strict=True)
    )
    steps = [
        (one.episode_id, step)
        for one, own in zip(incoming_episodes, _with_unique_command_ids(incoming_episodes), strict=True)
        for step in own
    ]
    _copy_rows(Step, STEP_COLUMNS, (_step_row(episode_id, step) for episode_id, step in steps))
    undone = [step.command_id for _, step in steps if step.undone]
    Undoing.objects.bulk_create(Undoing(step=row) for row in Step.objects.filter(command_id__in=undone).order_by("pk"))
    _copy_rows(Proposal, PROPOSAL_COLUMNS, (offer for one in incoming_episodes for offer in _proposal_rows(one)))
    Source.objects.bulk_create(
        Source(episode_id=one.episode_id, digest=one.digest, arrival=import_id, head=_trajectory_head(one.trajectory))
        for one in incoming_episodes
    )
    blobs_record(ref for one in incoming_episodes for ref in one.blobs)
    links = dict.fromkeys((one.episode_id, ref.sha256) for one in incoming_episodes for ref in one.blobs)
    _copy_rows(EpisodeBlob, ("episode_id", "blob_id"), links)


def _tasks(pool: Pool, incoming_episodes: Sequence[IncomingEpisode]) -> list[Task]:
    """The pool's task for each import: an existing one with this exact definition, or a new one. All of them are done.
    A definition whose id is taken gets an id of its own."""
    wanted = [one.trajectory.task for one in incoming_episodes]
    others = [
        _with_unique_id(definition, one.digest) for definition, one in zip(wanted, incoming_episodes, strict=True)
    ]
    keys = {definition.id for definition in (*wanted, *others)}
    known = {task.key: task for task in Task.objects.filter(pool=pool, key__in=keys)}
    last = pool.tasks.aggregate(last=Max("position"))["last"]
    position = 0 if last is None else last + 1
    found: list[Task] = []
    for definition, other in zip(wanted, others, strict=True):
        own = definition if definition.id not in known or known[definition.id].definition == definition else other
        if own.id not in known:
            known[own.id] = Task(pool=pool, key=own.id, definition=own, position=position, kind=task_kind(own))
            position += 1
        task = known[own.id]
        task.state, task.done, task.finished = TaskState.DONE, task.done + 1, task.finished + 1
        found.append(task)
    for times, several in _tasks_by_count([task for task in found if task.pk]).items():
        Task.objects.filter(pk__in=several).update(
            state=TaskState.DONE, done=F("done") + times, finished=F("finished") + times
        )
    Task.objects.bulk_create(task for task in {task.key: task for task in found}.values() if not task.pk)
    return found


def _tasks_by_count(tasks: Sequence[Task]) -> dict[int, list[int]]:
    """Task keys grouped by how often they occur. One statement for each count is much cheaper than one that names a
    value for each task."""
    counts: dict[int, list[int]] = {}
    for key, times in Counter(task.pk for task in tasks).items():
        counts.setdefault(times, []).append(key)
    return counts


def _with_unique_id(definition: protocol.trajectory.tasks.Task, digest: str) -> protocol.trajectory.tasks.Task:
    return definition.model_copy(update={"id": f"{definition.id[:180]} {digest[:16]}"})


def _assignments(incoming_episodes: Sequence[IncomingEpisode], tasks: Sequence[Task]) -> list[Assignment]:
    """A finished assignment for each import, with its trajectory's start time."""
    leases = Assignment.objects.bulk_create(
        Assignment(task=task, annotator=one.annotator, state=AssignmentState.DONE, expires_at=one.trajectory.created_at)
        for one, task in zip(incoming_episodes, tasks, strict=True)
    )
    Assignment.objects.filter(pk__in=[lease.pk for lease in leases]).update(created_at=F("expires_at"))
    return leases


def _with_unique_command_ids(incoming_episodes: Sequence[IncomingEpisode]) -> Iterator[tuple[StepValue, ...]]:
    """The steps of each trajectory with unique command ids. An id that is free is kept."""
    command_ids = [[step.command_id for step in one.trajectory.steps] for one in incoming_episodes]
    fitting = {command for own in command_ids for command in own if 1 <= len(command) <= MAX_COMMAND_ID_LENGTH}
    taken = set(Step.objects.filter(command_id__in=fitting).values_list("command_id", flat=True))
    for one, own in zip(incoming_episodes, command_ids, strict=True):
        steps = one.trajectory.steps
        if len(set(own)) < len(own) or not fitting.issuperset(own) or not taken.isdisjoint(own):
            new = ((step, str(uuid5(one.episode_id, str(step.index)))) for step in steps)
            steps = tuple(step.model_copy(update={"command_id": command}) for step, command in new)
        taken.update(step.command_id for step in steps)
        yield steps


def _copy_rows(model: type[Model], columns: Sequence[str], rows: Iterable[tuple[object, ...]]) -> None:
    """Insert rows with COPY, which is many times as fast as INSERT for rows with long texts."""
    names = ", ".join(f'"{column}"' for column in columns)
    statement = f'COPY "{model._meta.db_table}" ({names}) FROM STDIN'
    with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def _step_row(episode_id: UUID, step: StepValue) -> tuple[object, ...]:
    """The values of STEP_COLUMNS for a step."""
    document = step.model_copy(update={"undone": False}) if step.undone else step
    return (
        episode_id,
        step.index,
        step.command_id,
        step.actor,
        step.decision,
        step.policy.label if step.policy else "",
        step.decide_ms,
        (step.ended_at - step.started_at).total_seconds() * 1_000,
        document.model_dump_json(),
        step.ended_at,
    )


def _proposal_rows(one: IncomingEpisode) -> Iterator[tuple[object, ...]]:
    """The values of PROPOSAL_COLUMNS for every proposal."""
    for index, offers in enumerate(one.trajectory.proposals):
        for offer in offers:
            yield (
                one.episode_id,
                offer.id,
                index,
                offer.policy.label,
                False,
                offer.mark or "",
                offer.latency_ms,
                offer.model_dump_json(),
                offer.created_at,
            )


def _trajectory_head(trajectory: Trajectory) -> Trajectory:
    """The trajectory without the parts that have rows of their own."""
    return trajectory.model_copy(update={"steps": (), "proposals": tuple(() for _ in trajectory.proposals)})


def _state_document(trajectory: Trajectory) -> EpisodeStateDocument:
    last = trajectory.steps[-1]
    return EpisodeStateDocument(
        capabilities=trajectory.capabilities or (),
        tools=trajectory.tools,
        observation=last.after or last.before,
        policy=trajectory.policies[-1] if trajectory.policies else None,
        memories=trajectory.memories,
        answer=trajectory.answer,
        verdict=trajectory.verdict,
        branch_of=trajectory.branch_of,
    )
