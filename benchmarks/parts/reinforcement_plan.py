"""What is tried when the nano policy learns from its own attempts: which runs, on which pages, and what each came to.

A ledger is a folder: the plan, what was measured before, and of every run a line an update and its figures in the end.
All of it is written whole or not at all, so whatever is killed goes on.
"""

import fcntl
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from pydantic import Field, JsonValue

from agent_backend.folders import whole_write
from vocabulary.base import Frozen
from vocabulary.evaluations import Rate
from vocabulary.statistics import rate_of, signs

Algorithm = Literal["ppo", "grpo"]
PLAN, BEFORE, UPDATES, FIGURES = "plan.json", "before.json", "updates.jsonl", "figures.json"
LOCK = ".lock"
HELD_OUT = 100
"""Seed of the first page of the evaluation; those of 0 to 19 are the benchmark's."""
FIRST, APART = 50_000, 10_000
"""Seed of the first page of a run, and between two runs' seeds: pages of training are nobody else's."""
LAST = 3
"""Updates at the end whose drawn success counts as where a run has come to."""


class OtherPlan(Exception):
    """The folder is of another plan."""


class LedgerBusy(Exception):
    """Somebody else goes on with it."""


class Run(Frozen):
    """One task, one algorithm, one seed."""

    task: str
    algorithm: Algorithm
    seed: int = Field(ge=0)

    @property
    def name(self) -> str:
        """What its folder is called."""
        return f"{self.task}-{self.algorithm}-{self.seed}"


class Plan(Frozen):
    """What all runs have in common, and which they are."""

    runs: tuple[Run, ...] = Field(min_length=1)
    updates: int = Field(ge=1)
    pages: int = Field(ge=1)
    """Of an update."""
    group: int = Field(ge=1)
    """Attempts at each page; the same for both algorithms, so that they differ in nothing else."""
    acts: int = Field(ge=1)
    """An attempt may have."""
    held_out: int = Field(ge=1)
    """Pages of the evaluation."""
    temperature: float = Field(gt=0)
    trainer: Mapping[str, JsonValue] = {}
    """Further settings of both algorithms."""
    ppo: Mapping[str, JsonValue] = {}
    """Those of PPO alone."""

    @property
    def tasks(self) -> tuple[str, ...]:
        """Each once, in order."""
        return tuple(dict.fromkeys(run.task for run in self.runs))

    def seeds(self, run: Run, update: int) -> list[int]:
        """The pages of an update (from 0): the same for both algorithms, each as often as it is attempted."""
        first = FIRST + APART * run.seed + self.pages * update
        return [first + page for page in range(self.pages) for _ in range(self.group)]

    def evaluated(self) -> range:
        """The pages of the evaluation."""
        return range(HELD_OUT, HELD_OUT + self.held_out)

    def settings(self, run: Run, *, start: Path, out: Path, inbox: Path) -> dict[str, JsonValue]:
        """What the trainer is told. An update takes one folder: what of it cannot be learned from is left out."""
        told: dict[str, JsonValue] = {"checkpoint": str(start), "out": str(out), "inbox": str(inbox)}
        told |= {"updates": self.updates, "attempts": 1, "temperature": self.temperature, "seed": run.seed}
        return told | dict(self.trainer) | (dict(self.ppo) if run.algorithm == "ppo" else {})


class Ledger:
    """What is known so far. Raises OtherPlan where the folder is of another plan; further runs may be added to it, and
    held-out pages may not."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.folder, self.plan = folder, plan
        folder.mkdir(parents=True, exist_ok=True)
        kept = folder / PLAN
        if kept.is_file() and common(json.loads(kept.read_bytes())) != common(plan.model_dump(mode="json")):
            raise OtherPlan(f"{folder} is of another plan: {PLAN} says which")
        whole_write(kept, plan.model_dump_json(indent=1).encode())

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else goes on with it while the block runs. Raises LedgerBusy."""
        with (self.folder / LOCK).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise LedgerBusy(f"another process goes on with {self.folder}") from None
            yield

    def of(self, run: Run) -> Path:
        """A run's folder."""
        (made := self.folder / run.name).mkdir(exist_ok=True)
        return made

    def before(self) -> dict[str, Any]:
        """What the start came to, by task; as far as it was measured."""
        return _read(self.folder / BEFORE)

    def measured(self, task: str, wins: Sequence[bool]) -> None:
        """The start was evaluated at a task."""
        found = self.before() | {task: share_of(wins)}
        whole_write(self.folder / BEFORE, json.dumps(found, indent=1).encode())

    def updates(self, run: Run) -> list[dict[str, Any]]:
        """A line an update, those that are whole."""
        kept = self.of(run) / UPDATES
        return [json.loads(line) for line in kept.read_text().splitlines()] if kept.is_file() else []

    def updated(self, run: Run, figures: Mapping[str, Any]) -> None:
        """An update is done; one that is there already is not counted twice."""
        known = self.updates(run)
        if all(line["update"] != figures["update"] for line in known):
            lines = [json.dumps(line) + "\n" for line in (*known, dict(figures))]
            whole_write(self.of(run) / UPDATES, "".join(lines).encode())

    def figures(self, run: Run) -> dict[str, Any] | None:
        """What a run that is done came to."""
        return _read(self.of(run) / FIGURES) or None

    def done(self, run: Run, wins: Sequence[bool]) -> None:
        """A run was evaluated: nothing of it is left to do."""
        lines = self.updates(run)
        cost = [sum(line["cpu_seconds"].values()) for line in lines]
        figures = {
            **share_of(wins),
            "drawn": [line["success"] for line in lines],
            "drawn_last": round(fmean(line["success"] for line in lines[-LAST:]), 4),
            "episodes": sum(line["attempts"] for line in lines),
            "cpu_seconds": round(sum(cost), 1),
        }
        whole_write(self.of(run) / FIGURES, json.dumps(figures, indent=1).encode())


def common(plan: Mapping[str, Any]) -> dict[str, Any]:
    """What cannot change between two sittings: all but which runs there are."""
    return {name: value for name, value in plan.items() if name != "runs"}


def share_of(wins: Sequence[bool]) -> dict[str, Any]:
    """How many pages were solved, with the interval."""
    rate: Rate = rate_of(sum(wins), len(wins))
    told = {"success": round(rate.rate, 3), "ci95": [round(rate.low, 3), round(rate.high, 3)]}
    return told | {"wins": [int(won) for won in wins]}


def table(ledger: Ledger) -> str:
    """A line a run, and what it came from; runs that are not done are left out."""
    lines = [
        "| task | | seed | before | after | by chance | drawn, last updates | episodes | CPU seconds |",
        "|" + "---|" * 9,
    ]
    before = ledger.before()
    for run in ledger.plan.runs:
        if (after := ledger.figures(run)) is not None:
            told = [_told(before[run.task]), _told(after), f"{chance(before[run.task], after):.2g}"]
            told += [f"{after['drawn_last']:.2f}", str(after["episodes"])]
            cells = [run.task, run.algorithm, str(run.seed), *told, f"{after['cpu_seconds']:.0f}"]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def chance(before: Mapping[str, Any], after: Mapping[str, Any]) -> float:
    """How likely the same pages are won and lost as unevenly by chance (the exact sign test)."""
    pairs = list(zip(before["wins"], after["wins"], strict=True))
    return signs(pairs.count((0, 1)), pairs.count((1, 0)))


def _told(share: Mapping[str, Any]) -> str:
    low, high = share["ci95"]
    return f"{share['success']:.2f} ({low:.2f} to {high:.2f})"


def _read(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_bytes()) if file.is_file() else {}
    return found
