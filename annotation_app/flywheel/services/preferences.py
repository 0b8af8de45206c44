"""People's preferences in the trajectories of a cycle's preference training."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from annotation_app.flywheel.recipe import PreferenceTraining
from protocol.training.preferences import extract_preferences, extract_unpaired_preferences
from protocol.trajectory.export_folders import TRAJECTORIES
from protocol.trajectory.trajectories import Trajectory


def preference_sources(folders: Mapping[str, Sequence[Path]]) -> dict[str, Any]:
    """The folders that are not empty, by source, as the cycle records what a training read."""
    return {name: {"paths": list(map(str, each))} for name, each in folders.items() if each}


def preference_count(plan: PreferenceTraining, folders: Iterable[Path]) -> int:
    """The number of preferences in these folders: pairs of replies for DPO, judged replies for KTO."""
    extract = extract_preferences if plan.algorithm == "dpo" else extract_unpaired_preferences
    count = 0
    for folder in folders:
        with (folder / TRAJECTORIES).open("rb") as lines:
            for line in lines:
                found = extract(Trajectory.model_validate_json(line))
                count += sum(one.source in plan.choices for one in found)
    return count
