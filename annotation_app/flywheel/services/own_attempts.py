"""Rejection sampling in the flywheel: imitate successes of reinforcement and of the gate in earlier cycles."""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from annotation_app.catalogue.schemas import Query
from annotation_app.catalogue.selectors import entries_matching
from annotation_app.flywheel.curves import TRAININGS
from annotation_app.flywheel.evaluation import gate_task_ids, write_successes
from annotation_app.flywheel.models import Turn
from annotation_app.flywheel.paths import TRIALS_FOLDER, turn_path
from annotation_app.flywheel.selectors.pools import turn_pools
from annotation_app.tasks.models import Pool
from protocol.training.inbox import PROCESSED_FOLDER, REASONS_FILE, REJECTED_FOLDER, waiting_folders
from protocol.trajectory.export_folders import TRAJECTORIES
from protocol.trajectory.tasks import task_kind
from protocol.trajectory.trajectories import Trajectory

RL_INBOX = "rl-inbox"
"""In the folder of a cycle's trainings: the inbox of reinforcement."""
MAX_PER_KIND = 32
"""Most successes at one kind of task; the shortest ones are used."""
STALE = "attempt_stale"
"""Error code of an attempt that reinforcement refused and imitation can use: its weights were too old for a ratio."""


def write_own_successes(turn: Turn, target: Path, pools: Sequence[Pool]) -> Path | None:
    """Write a folder of the verified successes of earlier cycles, without the gate's tasks. A complete one is kept.
    Returns None if there are none. If only some of the cycle's pools are learned from, it has only attempts at their
    kinds of task. Raises OSError, and ProgramFailed if the gate's tasks cannot be read."""
    if target.exists():
        return target
    everything = len(pools) == len(turn_pools(turn))
    kinds = None if everything else set(entries_matching(Query()).filter(pool__in=pools).values_list("kind", flat=True))
    held, trials = gate_task_ids(turn.recipe.trials), turn.recipe.trials

    def may(trajectory: Trajectory) -> bool:
        task = trajectory.task
        own = kinds is None or task_kind(task) in kinds
        return own and task.id not in held and not trials.holds(task.suite, task.seed)

    target.parent.mkdir(parents=True, exist_ok=True)
    if write_successes(tuple(_attempt_folders(turn)), target, at=turn.created_at, most=MAX_PER_KIND, may=may):
        return target
    shutil.rmtree(target, ignore_errors=True)
    return None


def trajectory_count(folders: Sequence[Path]) -> int:
    """The number of attempts in these folders of `write_own_successes`."""
    count = 0
    for folder in folders:
        with (folder / TRAJECTORIES).open("rb") as lines:
            count += sum(1 for _ in lines)
    return count


def _attempt_folders(turn: Turn) -> Iterator[Path]:
    """Folders of earlier cycles' reinforcement: attempts that were learned, came too late, or were too old to be
    learned. Also the trials of those of their gates that had fresh pages."""
    for earlier in Turn.objects.filter(wheel=turn.wheel_id, number__lt=turn.number).order_by("number"):
        if earlier.recipe.trials.tries_fresh_pages:
            tried = sorted((turn_path(earlier.pk) / TRIALS_FOLDER).glob("*"))
            yield from (folder for folder in tried if folder.is_dir())
        inbox = turn_path(earlier.pk) / TRAININGS / RL_INBOX
        if not inbox.exists():
            continue
        yield from sorted((inbox / PROCESSED_FOLDER).glob("*"))
        yield from (inbox / name for name in waiting_folders(inbox))
        for reasons in sorted((inbox / REJECTED_FOLDER).glob(f"*/{REASONS_FILE}")):
            if json.loads(reasons.read_text()).keys() == {STALE}:
                yield reasons.parent
