"""Lineage in both directions: the checkpoints that learned from a trajectory, and the training data of a checkpoint."""

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from annotation_app.accounts.models import User
from annotation_app.errors import NotFound
from annotation_app.flywheel.models import Checkpoint, Sample, Use
from annotation_app.flywheel.schemas import CheckpointLineage, LearnedCheckpoint, TrajectoryLineage, UseOut
from annotation_app.flywheel.selectors.turns import (
    PAGE_SIZE,
    checkpoint_out,
    checkpoints_with_counts,
    flywheel_reader_check,
    sample_out,
)


def trajectory_lineage(*, user: User, episode_id: UUID) -> tuple[TrajectoryLineage, ...]:
    """The route of a trajectory in each flywheel; empty if none collected it. Raises Forbidden."""
    flywheel_reader_check(user)
    found = Sample.objects.select_related("wheel", "turn").filter(episode=episode_id)
    return tuple(
        TrajectoryLineage(
            wheel=sample.wheel.name,
            turn=sample.turn.number,
            turn_id=sample.turn_id,
            sample=sample_out(sample),
            taught=_taught(sample),
        )
        for sample in found
    )


def checkpoints_taught_by(episodes: Sequence[UUID]) -> dict[UUID, tuple[Checkpoint, ...]]:
    """The checkpoints that learned from each of these trajectories, in any flywheel, and their descendants. Callers
    must check permissions."""
    taught = defaultdict[UUID, set[int]](set)
    for sample in Sample.objects.filter(episode__in=episodes, uses__isnull=False).distinct():
        taught[sample.episode].update(_sources(sample))
    keys = set[int]().union(*taught.values())
    checkpoints = Checkpoint.objects.select_related("turn__wheel", "revision").filter(pk__in=keys).order_by("pk")
    return {episode: tuple(one for one in checkpoints if one.pk in found) for episode, found in taught.items()}


def checkpoint_lineage(*, user: User, checkpoint_id: int, after: int) -> CheckpointLineage:
    """The lineage of a checkpoint. Raises Forbidden and NotFound."""
    flywheel_reader_check(user)
    checkpoint = checkpoints_with_counts().filter(pk=checkpoint_id).first()
    if checkpoint is None:
        raise NotFound("There is no such checkpoint.", field="checkpoint_id")
    uses = Use.objects.select_related("sample__turn").filter(checkpoint=checkpoint, pk__gt=after).order_by("id")
    rows = list(uses[: PAGE_SIZE + 1])
    ancestors = _ancestors(checkpoint)
    shown = {one.pk: one for one in checkpoints_with_counts().filter(pk__in=ancestors)}
    return CheckpointLineage(
        checkpoint=checkpoint_out(checkpoint),
        ancestors=tuple(checkpoint_out(shown[key]) for key in ancestors),
        uses=tuple(
            UseOut.model_validate(
                {"sample": sample_out(use.sample), "turn": use.sample.turn.number, "source": use.source}
            )
            for use in rows[:PAGE_SIZE]
        ),
        next=rows[PAGE_SIZE - 1].pk if len(rows) > PAGE_SIZE else None,
    )


def _taught(sample: Sample) -> tuple[LearnedCheckpoint, ...]:
    """Checkpoints that were trained on it, and their descendants, in any flywheel."""
    sources = _sources(sample)
    return tuple(
        LearnedCheckpoint.model_validate(
            {"checkpoint": checkpoint_out(one), "wheel": one.turn.wheel.name, "source": sources[one.pk]}
        )
        for one in checkpoints_with_counts().filter(pk__in=sources)
    )


def _sources(sample: Sample) -> dict[int, str]:
    """The keys of these checkpoints, each with how it learned."""
    sources: dict[int, str] = dict(sample.uses.values_list("checkpoint", "source"))
    children: dict[int, list[int]] = {}
    for key, parents in _parents().items():
        for parent in parents:
            children.setdefault(parent, []).append(key)
    waiting = list(sources)
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in sources:
                sources[child] = "inherited"
                waiting.append(child)
    return sources


def _ancestors(checkpoint: Checkpoint) -> list[int]:
    """Its ancestors, newest first."""
    parents, found, waiting = _parents(), set[int](), [checkpoint.pk]
    while waiting:
        new = [key for key in parents.get(waiting.pop(), ()) if key not in found]
        found.update(new)
        waiting += new
    return sorted(found, reverse=True)


def _parents() -> dict[int, list[int]]:
    """The direct parents of each checkpoint: the weights that it began with, or the specialists merged into it."""
    found = {key: [] if parent is None else [parent] for key, parent in Checkpoint.objects.values_list("pk", "parent")}
    for merged, part in Checkpoint.objects.filter(parts__isnull=False).values_list("pk", "parts"):
        found[merged].append(part)
    return found
