"""Merge a cycle's specialists into one checkpoint, by interpolation of their weights (UI-TARS-2)."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from annotation_app.flywheel.models import Checkpoint, Turn, Use
from annotation_app.flywheel.paths import checkpoint_path
from annotation_app.flywheel.programs import ProgramFailed, ProgramRunner, trainer_python
from annotation_app.flywheel.recipe import Specialists
from annotation_app.flywheel.services.turn_files import file_write, turn_folder

MERGE = "merge"
"""Base name of the merge's files, in the folder of a cycle's trainings."""
STAGE_HEADS = "heads.pt"
"""Additional state of the bundled policy's own stage. The merged checkpoint keeps that of the specialist with the
largest weight."""


def merge_specialists(turn: Turn, parts: Sequence[Checkpoint], programs: ProgramRunner) -> Path:
    """The merged checkpoint's folder. A complete one is kept. Raises ProgramFailed and TurnCancelled."""
    folder = turn_folder(turn) / "train"
    out = folder / MERGE
    specialists = turn.recipe.specialists or Specialists()
    fresh = [Use.objects.filter(checkpoint=part, source="fresh").count() for part in parts]
    weights = merge_weights(specialists, fresh)
    if not out.exists():
        _run_merge(folder, out, parts, weights, programs)
    largest = Path(checkpoint_path(parts[weights.index(max(weights))].path))
    if (largest / STAGE_HEADS).is_file():
        shutil.copy(largest / STAGE_HEADS, out / STAGE_HEADS)
    return out


def _run_merge(
    folder: Path, out: Path, parts: Sequence[Checkpoint], weights: Sequence[float], programs: ProgramRunner
) -> None:
    paths = [checkpoint_path(part.path) for part in parts]
    merged = [{"checkpoint": path, "weight": weight} for path, weight in zip(paths, weights, strict=True)]
    file_write(folder / f"{MERGE}.json", {"out": str(out), "parts": merged})
    log = folder / f"{MERGE}.log"
    programs.run([trainer_python(), "-m", "trainer", "merge", "--config", str(folder / f"{MERGE}.json")], log=log)
    if not out.is_dir():
        raise ProgramFailed("The trainer merged nothing.")


def merge_weights(specialists: Specialists, fresh: Sequence[int]) -> tuple[float, ...]:
    """The weight of each specialist in the merge, from the number of new samples that each learned. The sum is 1."""
    total = sum(fresh)
    if specialists.weights == "equal" or total == 0:
        return (1 / len(fresh),) * len(fresh)
    return tuple(count / total for count in fresh)
