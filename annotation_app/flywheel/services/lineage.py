"""The training data of a checkpoint: samples in the folders that it learned from, and those whose kind of task it
played."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from annotation_app.catalogue.schemas import Query
from annotation_app.catalogue.selectors import entries_matching
from annotation_app.flywheel.models import Checkpoint, Played, Sample, Use
from annotation_app.flywheel.schemas import Source
from protocol.training.inbox import PROCESSED_FOLDER
from protocol.trajectory.export_folders import TRAJECTORIES
from protocol.trajectory.tasks import Task, task_kind

IMITATION_SOURCES: tuple[Source, ...] = ("fresh", "earlier")


def lineage_record(checkpoint: Checkpoint, folder: Path, name: str) -> None:
    """Record the lineage from the files in the cycle's folder after the training; `name` is the base name of the
    training's files."""
    if checkpoint.phase == "merge":
        return  # it was trained on nothing itself; its parts were
    found = (
        {"played": _samples_played(checkpoint, folder)}
        if checkpoint.phase == "rl"
        else _samples_read(checkpoint, folder, name)
    )
    for source, samples in found.items():
        rows = [Use(checkpoint=checkpoint, sample=sample, source=source) for sample in samples]
        Use.objects.bulk_create(rows, batch_size=1_000)


def _samples_read(checkpoint: Checkpoint, folder: Path, name: str) -> dict[Source, QuerySet[Sample]]:
    wheel = Sample.objects.filter(wheel=checkpoint.turn.wheel_id)
    return {source: wheel.filter(episode__in=_written_episodes(folder, name, source)) for source in IMITATION_SOURCES}


def _samples_played(checkpoint: Checkpoint, folder: Path) -> QuerySet[Sample]:
    """The cycle's samples that determined what was played. Samples that were left out have no part in any training."""
    there = entries_matching(Query()).filter(kind__in=_kinds_played(checkpoint, folder))
    mine = Sample.objects.filter(turn=checkpoint.turn, episode__in=there.values("episode_id"))
    return mine.exclude(route="none")


def _written_episodes(folder: Path, name: str, source: Source) -> list[UUID]:
    """The trajectories in a training folder."""
    sources = json.loads((folder / f"{name}-sources.json").read_text())
    return [UUID(one["id"]) for path in sources.get(source, {"paths": ()})["paths"] for one in _lines(Path(path))]


def _kinds_played(checkpoint: Checkpoint, folder: Path) -> set[str]:
    """Which of the kinds worth playing were played, according to the attempts that the trainer learned from."""
    chosen = set(Played.objects.filter(turn=checkpoint.turn_id, chosen=True).values_list("kind", flat=True))
    drawn: set[str] = set()
    for attempts in sorted((folder / "train" / "rl-inbox" / PROCESSED_FOLDER).glob("*")):
        for one in _lines(attempts):
            drawn.add(task_kind(Task.model_validate(one["task"])))
            if chosen <= drawn:
                return chosen
    return chosen & drawn


def _lines(folder: Path) -> Iterator[dict[str, Any]]:
    with (folder / TRAJECTORIES).open() as lines:
        for line in lines:
            yield json.loads(line)
