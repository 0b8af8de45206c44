"""The folders of the experiment: experts' attempts at a block of tasks, the first of them as demonstrations, trials."""

import subprocess
import sys
import uuid
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from agent_backend.trajectory_folders import TrajectoryFolderWriter, read_blob, read_trajectories, write_atomically
from annotation_app.operations.runtime.stack import ROOT
from benchmarks.turns.plan import TASKS, Cell, Pages, Sizes
from protocol.trajectory.trajectories import Trajectory

SIZE = "160x210"
PARALLEL = 3


def record_block(out: Path, cell: Cell, sizes: Sizes) -> Path:
    """The folder of the experts' attempts at a cell's tasks, which ask in the page's own words; made where it is not
    there. Raises CalledProcessError."""
    folder = out / f"block-{cell.seed}-{cell.turn}"
    if not folder.exists():
        words = [word for name in TASKS for word in ("--task", name)]
        words += ["--size", SIZE, "--first-seed", str(cell.first_seed), "--seeds", str(sizes.tasks)]
        command = [sys.executable, "-m", "agent_backend.rollout.experts", *words, "--parallel", str(PARALLEL)]
        subprocess.run([*command, "--out", str(folder)], cwd=ROOT, check=True, stdout=sys.stderr)
    return folder


def read_solved(folder: Path) -> list[Trajectory]:
    """What the experts solved, seed by seed. Raises InvalidFolder."""
    found = [one for _, one in read_trajectories([folder]) if one.verdict is not None and one.verdict.success]
    return sorted(found, key=lambda one: (one.task.seed or 0, TASKS.index(one.task.name or "")))


def write_tasks(folder: Path, target: Path) -> Path:
    """The tasks of those attempts, one a line, as pools take them."""
    lines = "".join(one.task.model_dump_json() + "\n" for one in read_solved(folder))
    write_atomically(target, lines.encode())
    return target


def first_steps(attempts: list[Trajectory], steps: int) -> list[Trajectory]:
    """The first of them that have so many steps together, or as few more as whole attempts allow."""
    taken, count = list[Trajectory](), 0
    for one in attempts:
        if count >= steps:
            break
        taken.append(one)
        count += len(one.steps)
    return taken


def copy_demonstrations(folder: Path, target: Path, steps: int) -> tuple[int, int]:
    """How many attempts and steps of a block are in `target`, which is made where it is not there: with names of their
    own, since the same attempt may be shown to two."""
    if not target.exists():
        writer = TrajectoryFolderWriter(target, {"origin": "demonstrations", "of": folder.name, "steps": steps})
        writer_names = uuid.uuid5(uuid.NAMESPACE_URL, target.name)
        for one in first_steps(read_solved(folder), steps):
            name = uuid.uuid5(writer_names, one.id).hex
            if name not in writer.tasks_by_id:
                writer.add(one.model_copy(update={"id": name}), partial(read_blob, folder))
        writer.finish(at=datetime.now(UTC))
    shown = [one for _, one in read_trajectories([target])]
    return len(shown), sum(len(one.steps) for one in shown)


def read_tried_pages(folder: Path) -> Pages:
    """What was solved of the tasks that were tried. Raises InvalidFolder."""
    found: dict[str, dict[int, bool]] = {name: {} for name in TASKS}
    for _, one in read_trajectories([folder]):
        found[one.task.name or ""][one.task.seed or 0] = one.verdict is not None and one.verdict.success is True
    return found
