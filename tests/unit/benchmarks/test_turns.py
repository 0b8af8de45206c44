"""The experiment of turned wheels without a platform: order, ledger, what demonstrations are taken, table."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_backend.trajectory_folders import TrajectoryFolderWriter, read_trajectories
from benchmarks.turns.expert_attempts import (
    copy_demonstrations,
    first_steps,
    read_solved,
    read_tried_pages,
    write_tasks,
)
from benchmarks.turns.plan import ARMS, TASKS, TRIED, Cell, Figures, Ledger, Sizes, cells
from benchmarks.turns.reports import compare_arms, render_table
from protocol.actions.types import Click
from protocol.blobs import BlobRef
from protocol.trajectory.observations import Verdict
from protocol.trajectory.tasks import Task
from protocol.trajectory.trajectories import Trajectory
from tests.unit.protocol.examples import TASK, trajectory

SIZES = Sizes(turns=2, labels=3, tasks=2, updates=1, trials=4)


def figures(cell: Cell, *, own: int = 3, accepted: int = 0, won: int = 1, start: bool = False) -> Figures:
    after = {name: {seed: seed < won for seed in range(4)} for name in TASKS}
    before = {name: {seed: seed < 1 for seed in range(4)} for name in TASKS} if start else None
    return Figures(cell=cell, episodes=2, own=own, accepted=accepted, before=before, after=after, seconds=1.0)


def attempt(seed: int, name: str, *, steps: int = 2, won: bool = True) -> Trajectory:
    """An expert's attempt at a task."""
    task = TASK.model_copy(update={"suite": "miniwob", "name": name, "seed": seed})
    verdict = Verdict(success=won, score=float(won))
    clicks = [Click(x=index, y=seed) for index in range(steps)]
    return trajectory(*clicks, id=f"{name}-{seed}", task=task, origin="rollout", annotator=None, verdict=verdict)


def block(folder: Path, *attempts: Trajectory) -> Path:
    """These attempts as a folder, in this order."""
    writer = TrajectoryFolderWriter(folder, {})
    for one in attempts:
        writer.add(one, picture)
    writer.finish(at=datetime.now(UTC))
    return folder


def picture(ref: BlobRef) -> bytes:
    """What `observation` names is its name."""
    return next(data for n in range(10) if BlobRef.of(data := f"screen-{n}".encode(), "image/png") == ref)


def test_a_seed_is_whole_before_the_next_and_the_desk_goes_before_those_who_follow_it() -> None:
    order = [cell.name for cell in cells(SIZES, [0, 1], ARMS)]
    assert order[:4] == ["desk-0-1", "desk-0-2", "shown-0-1", "shown-0-2"]
    assert [name.split("-")[1] for name in order] == ["0"] * 6 + ["1"] * 6


def test_no_task_is_seen_in_two_turns_and_none_of_the_trials_by_anybody() -> None:
    blocks = [
        set(range(cell.first_seed, cell.first_seed + Sizes().tasks)) for cell in cells(Sizes(), range(10), ("desk",))
    ]
    assert len(set.union(*blocks)) == sum(map(len, blocks))
    assert not set.union(*blocks) & set(range(TRIED + Sizes().trials))


def test_what_is_done_is_known_again_and_other_sizes_are_refused(tmp_path: Path) -> None:
    cell = Cell(seed=0, turn=1, arm="desk")
    ledger = Ledger(tmp_path / "out", SIZES)
    assert ledger.known(cell) is None
    ledger.keep(figures(cell))
    ledger.keep(figures(Cell(seed=1, turn=1, arm="desk")))
    assert [one.cell.name for one in ledger.all()] == ["desk-0-1", "desk-1-1"]
    assert Ledger(tmp_path / "out", SIZES).known(cell) == figures(cell)
    with pytest.raises(ValueError, match="was begun with"):
        Ledger(tmp_path / "out", SIZES.model_copy(update={"labels": 4}))


def test_demonstrations_are_the_first_solved_attempts_whole_and_under_names_of_their_own(tmp_path: Path) -> None:
    attempts = [attempt(seed, name, won=(seed, name) != (1, TASKS[1])) for seed in (2, 1) for name in TASKS[1::-1]]
    made = block(tmp_path / "block", *attempts)
    assert [one.id for one in read_solved(made)] == [f"{TASKS[0]}-1", f"{TASKS[0]}-2", f"{TASKS[1]}-2"]
    assert [len(first_steps(read_solved(made), steps)) for steps in (0, 1, 2, 3, 100)] == [0, 1, 1, 2, 3]

    assert copy_demonstrations(made, tmp_path / "shown", 3) == (2, 4)
    assert copy_demonstrations(made, tmp_path / "shown", 3) == (2, 4), "what is there is left as it is"
    assert copy_demonstrations(made, tmp_path / "paired", 3) == (2, 4)
    names = [[one.id for _, one in read_trajectories([tmp_path / name])] for name in ("shown", "paired")]
    assert len({*names[0], *names[1]}) == 4, "the platform takes a trajectory in once"


def test_pools_are_given_what_experts_solved_in_order(tmp_path: Path) -> None:
    made = block(tmp_path / "block", attempt(2, TASKS[0]), attempt(1, TASKS[1]), attempt(1, TASKS[0], won=False))
    lines = write_tasks(made, tmp_path / "tasks.jsonl").read_text().splitlines()
    assert [Task.model_validate_json(line).seed for line in lines] == [1, 2]


def test_the_table_says_mean_and_range_of_the_seeds_and_where_all_began() -> None:
    desks = [Cell(seed=seed, turn=1, arm="desk") for seed in (0, 1)]
    found = [figures(desks[0], accepted=3, won=2, start=True), figures(desks[1], accepted=9, won=4)]
    head, _, start, line = render_table([*found, figures(Cell(seed=0, turn=1, arm="shown"), won=1)]).splitlines()[:4]
    assert head.count("|") == line.count("|") == start.count("|")
    assert start.endswith("| 0.25 |")
    assert "0.38 (0.25 to 0.50)" in line, "overridden"
    assert line.endswith("| 0.75 (0.50 to 1.00) |")


def test_what_was_solved_is_known_page_by_page(tmp_path: Path) -> None:
    made = block(tmp_path / "tried", attempt(7, TASKS[0]), attempt(8, TASKS[0], won=False), attempt(7, TASKS[2]))
    assert read_tried_pages(made) == {TASKS[0]: {7: True, 8: False}, TASKS[1]: {}, TASKS[2]: {7: True}, TASKS[3]: {}}


def test_arms_are_compared_page_by_page_with_each_other_and_with_the_start() -> None:
    found = [figures(Cell(seed=seed, turn=1, arm="desk"), won=3 + seed, start=seed == 0) for seed in (0, 1)]
    found += [figures(Cell(seed=seed, turn=1, arm="shown"), won=2) for seed in (0, 1, 2)]
    lines = compare_arms(found).splitlines()[2:]
    assert lines[0] == "| 1 | desk | the start | 2 | +0.50, +0.75 | 20 | 0 | 1.9e-06 |"
    assert lines[1] == "| 1 | desk | shown | 2 | +0.25, +0.50 | 12 | 0 | 0.00049 |", "only seeds that both turned"
    assert lines[2].startswith("| 1 | shown | the start | 3 | +0.25, +0.25, +0.25 | 12 | 0 |")
