"""What is tried when the nano policy learns from its own attempts: which runs, on which pages, and what each came to.

A ledger is a folder: the plan, what was measured before, and of every run a line an update and its figures in the end.
All of it is written whole or not at all, so whatever is killed goes on.
"""

import fcntl
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from pydantic import Field, JsonValue

from agent_backend.trajectory_folders import write_atomically
from protocol.base import FrozenModel
from protocol.evaluation.reports import Rate
from protocol.evaluation.statistics import sign_test, wilson_rate
from protocol.trajectory.trajectories import Trajectory

Algorithm = Literal["ppo", "grpo"]
PLAN, BEFORE, UPDATES, FIGURES = "plan.json", "before.json", "updates.jsonl", "figures.json"
LOCK = ".lock"
HELD_OUT = 100
"""Seed of the first page of the evaluation; those of 0 to 19 are the benchmark's."""
FIRST, APART = 50_000, 10_000
"""Seed of the first page of a run, and between two runs' seeds: pages of training are nobody else's."""
TOGETHER = "together"
"""What several tasks are called that one run learns; a plan has no two such sets."""
LAST = 3
"""Updates at the end whose drawn success counts as where a run has come to."""


class PlanMismatch(Exception):
    """The folder is of another plan."""


class LedgerLocked(Exception):
    """Somebody else goes on with it."""


class Run(FrozenModel):
    """One task or several that are learned together, one algorithm, one seed."""

    tasks: tuple[str, ...] = Field(min_length=1)
    algorithm: Algorithm
    seed: int = Field(ge=0)

    @property
    def title(self) -> str:
        """What is learned, in a word."""
        return self.tasks[0] if len(self.tasks) == 1 else TOGETHER

    @property
    def name(self) -> str:
        """What its folder is called."""
        return f"{self.title.replace('/', '-')}-{self.algorithm}-{self.seed}"


class Plan(FrozenModel):
    """What all runs have in common, and which they are."""

    runs: tuple[Run, ...] = Field(min_length=1)
    updates: int = Field(ge=1)
    pages: int = Field(ge=1)
    """Of an update."""
    group: int = Field(ge=1)
    """Attempts at each page; the same for both algorithms, so that they differ in nothing else."""
    acts: int | None = Field(ge=1)
    """An attempt may have; None: as many as `./pilothouse bench nano` gives its task."""
    held_out: int = Field(ge=1)
    """Pages of each task in the evaluation."""
    temperature: float = Field(gt=0)
    trainer: Mapping[str, JsonValue] = {}
    """Further settings of both algorithms."""
    ppo: Mapping[str, JsonValue] = {}
    """Those of PPO alone."""

    @property
    def tasks(self) -> tuple[str, ...]:
        """Each once, in order."""
        return tuple(dict.fromkeys(task for run in self.runs for task in run.tasks))

    def sample(self, run: Run, update: int) -> list[tuple[str, int]]:
        """The pages of an update (from 0), as task and seed: the same for both algorithms, a run's tasks in turn, each
        page as often as it is attempted."""
        begin = self.pages * update
        pages = range(begin, begin + self.pages)
        first = FIRST + APART * run.seed
        return [(run.tasks[page % len(run.tasks)], first + page) for page in pages for _ in range(self.group)]

    def evaluated(self) -> range:
        """The pages of the evaluation."""
        return range(HELD_OUT, HELD_OUT + self.held_out)

    def settings(self, run: Run, *, start: Path, out: Path, inbox: Path) -> dict[str, JsonValue]:
        """What the trainer is told. An update takes one folder: what of it cannot be learned from is left out."""
        told: dict[str, JsonValue] = {"checkpoint": str(start), "out": str(out), "inbox": str(inbox)}
        told |= {"updates": self.updates, "attempts": 1, "temperature": self.temperature, "seed": run.seed}
        return told | dict(self.trainer) | (dict(self.ppo) if run.algorithm == "ppo" else {})


class Ledger:
    """What is known so far. Raises PlanMismatch where the folder is of another plan.

    Further runs may be added to a plan; held-out pages may not."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.folder, self.plan = folder, plan
        folder.mkdir(parents=True, exist_ok=True)
        kept = folder / PLAN
        if kept.is_file() and shared_settings(json.loads(kept.read_bytes())) != shared_settings(
            plan.model_dump(mode="json")
        ):
            raise PlanMismatch(f"{folder} is of another plan: {PLAN} says which")
        write_atomically(kept, plan.model_dump_json(indent=1).encode())

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else goes on with it while the block runs. Raises LedgerLocked."""
        with (self.folder / LOCK).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise LedgerLocked(f"another process goes on with {self.folder}") from None
            yield

    def of(self, run: Run) -> Path:
        """A run's folder."""
        (made := self.folder / run.name).mkdir(exist_ok=True)
        return made

    def before(self) -> dict[str, Any]:
        """What the start came to, by task; as far as it was measured."""
        return _read(self.folder / BEFORE)

    def start_of_run(self, run: Run) -> dict[str, Any]:
        """What the start came to at all tasks of a run."""
        before = self.before()
        return solved_share([bool(won) for task in run.tasks for won in before[task]["wins"]])

    def record_start(self, task: str, wins: Sequence[bool]) -> None:
        """The start was evaluated at a task."""
        found = self.before() | {task: solved_share(wins)}
        write_atomically(self.folder / BEFORE, json.dumps(found, indent=1).encode())

    def updates(self, run: Run) -> list[dict[str, Any]]:
        """A line an update, those that are whole."""
        kept = self.of(run) / UPDATES
        return [json.loads(line) for line in kept.read_text().splitlines()] if kept.is_file() else []

    def record_update(self, run: Run, figures: Mapping[str, Any]) -> None:
        """An update is done; one that is there already is not counted twice."""
        known = self.updates(run)
        if all(line["update"] != figures["update"] for line in known):
            lines = [json.dumps(line) + "\n" for line in (*known, dict(figures))]
            write_atomically(self.of(run) / UPDATES, "".join(lines).encode())

    def figures(self, run: Run) -> dict[str, Any] | None:
        """What a run that is done came to."""
        return _read(self.of(run) / FIGURES) or None

    def done(self, run: Run, wins: Mapping[str, Sequence[bool]]) -> None:
        """A run was evaluated at each of its tasks: nothing of it is left to do."""
        lines = self.updates(run)
        cost = [sum(line["cpu_seconds"].values()) for line in lines]
        figures = {
            **solved_share([won for task in run.tasks for won in wins[task]]),
            "tasks": {task: solved_share(wins[task]) for task in run.tasks},
            "drawn": [line["success"] for line in lines],
            "drawn_last": round(fmean(line["success"] for line in lines[-LAST:]), 4),
            "episodes": sum(line["attempts"] for line in lines),
            "cpu_seconds": round(sum(cost), 1),
        }
        write_atomically(self.of(run) / FIGURES, json.dumps(figures, indent=1).encode())


def summarize_attempts(trajectories: Iterable[Trajectory]) -> dict[str, dict[str, float]]:
    """Of each task, the share of attempts that won, and of pages at which not all attempts came to the same."""
    pages = defaultdict[str, dict[str, list[bool]]](lambda: defaultdict(list))
    for one in trajectories:
        won = one.verdict is not None and bool(one.verdict.success)
        pages[one.task.name or one.task.id][one.task.id].append(won)
    return {
        task: {
            "success": round(fmean(won for wins in found.values() for won in wins), 4),
            "varied": round(fmean(len(set(wins)) > 1 for wins in found.values()), 4),
        }
        for task, found in sorted(pages.items())
    }


def shared_settings(plan: Mapping[str, Any]) -> dict[str, Any]:
    """What cannot change between two sittings: all but which runs there are."""
    return {name: value for name, value in plan.items() if name != "runs"}


def solved_share(wins: Sequence[bool]) -> dict[str, Any]:
    """How many pages were solved, with the interval."""
    rate: Rate = wilson_rate(sum(wins), len(wins))
    told = {"success": round(rate.rate, 3), "ci95": [round(rate.low, 3), round(rate.high, 3)]}
    return told | {"wins": [int(won) for won in wins]}


def render_table(ledger: Ledger) -> str:
    """A line a run, and what it came from, then one for each of several tasks; runs that are not done are left out."""
    lines = [
        "| task | | seed | before | after | by chance | drawn, last updates | episodes | CPU seconds |",
        "|" + "---|" * 9,
    ]
    for run in ledger.plan.runs:
        if (after := ledger.figures(run)) is not None:
            lines.append(_line(run.title, run, ledger.start_of_run(run), after, after))
            if len(run.tasks) > 1:
                before = ledger.before()
                lines += [_line(task, run, before[task], after["tasks"][task], None) for task in run.tasks]
    return "\n".join(lines)


def _line(title: str, run: Run, before: Mapping[str, Any], after: Mapping[str, Any], whole: Any) -> str:
    told = [_format_share(before), _format_share(after), f"{sign_test_p_value(before, after):.2g}"]
    spent = ["", "", ""]
    if whole is not None:
        spent = [f"{whole['drawn_last']:.2f}", str(whole["episodes"]), f"{whole['cpu_seconds']:.0f}"]
    return f"| {' | '.join([title, run.algorithm, str(run.seed), *told, *spent])} |"


def sign_test_p_value(before: Mapping[str, Any], after: Mapping[str, Any]) -> float:
    """How likely the same pages are won and lost as unevenly by chance (the exact sign test)."""
    pairs = list(zip(before["wins"], after["wins"], strict=True))
    return sign_test(pairs.count((0, 1)), pairs.count((1, 0)))


def _format_share(share: Mapping[str, Any]) -> str:
    low, high = share["ci95"]
    return f"{share['success']:.2f} ({low:.2f} to {high:.2f})"


def _read(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_bytes()) if file.is_file() else {}
    return found
