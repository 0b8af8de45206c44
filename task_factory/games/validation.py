"""Whether a game is accepted. No model is asked: scripts are read, rules are played at random, pages are worked."""

import asyncio
import shutil
import subprocess
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import sqrt
from pathlib import Path

from task_factory.games.faults import CODES, Fault
from task_factory.games.harness import (
    ExpertResult,
    Harness,
    LevelPlay,
    Parameters,
    make_parameters,
    max_steps,
    open_harness,
)
from task_factory.games.page_checks import find_page_faults
from task_factory.games.page_play import WatchedSuite
from task_factory.games.static_checks import FILES, SCRIPTS, find_faults, read_source
from vm_bridge.browser import BrowserFailed, Engine, ScriptFailed
from vm_bridge.errors import VerifierFailed
from vm_bridge.suites.web import MADE_GAMES
from vm_bridge.suites.web.task_folder import TaskFolder

PLAYOUTS = 1_000
SEEDS = range(1, 21)
"""Of random play."""
EXPERT_SEEDS = range(1, 9)
MIN_EXPERT_RATE = 0.95
MAX_VERIFIER_MS = 5.0
EASIER = 0.02
"""By how much the mean score of random play must be smaller at a higher level to count as harder."""
LONGER = 1.1
"""How much longer the expert must take at a higher level to count as harder."""
RUNS = 3


@dataclass(slots=True)
class GameReport:
    """What was found out about a game."""

    name: str
    faults: list[Fault] = field(default_factory=list)
    playouts: int = 0
    digests: list[str] = field(default_factory=list)
    """Of the hash chains of each run."""
    levels: dict[int, LevelPlay] = field(default_factory=dict)
    experts: tuple[ExpertResult, ...] = ()
    verifier_ms: float | None = None

    @property
    def chains_equal(self) -> bool:
        """Whether all runs were made and gave the same states."""
        return len(self.digests) == RUNS and len(set(self.digests)) == 1

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of its faults, each once."""
        return tuple(dict.fromkeys(fault.code for fault in self.faults))

    def summary(self) -> dict[str, object]:
        """For people and programs."""
        return {
            "game": self.name,
            "ok": not self.faults,
            "playouts": self.playouts,
            "chains_equal": self.chains_equal,
            "random_score": [round(one.mean_score, 3) for _, one in sorted(self.levels.items())],
            "expert_steps": [round(one, 1) for one in expert_steps(self.experts)],
            "verifier_ms": None if self.verifier_ms is None else round(self.verifier_ms, 2),
            "faults": [{"code": one.code, "text": one.text} for one in self.faults],
        }


async def validate_game(
    folder_path: Path, first: Engine, second: Engine, *, playouts: int = PLAYOUTS, page: bool = True
) -> GameReport:
    """Everything about one game; later checks are left out where earlier ones find faults.

    Args:
        folder_path: The game's folder.
        first: A browser.
        second: Another one, so that equal states are of two processes.
        playouts: How many random games are played in each run.
        page: Whether the page is worked too.
    """
    report = GameReport(folder_path.name)
    missing = [name for name in FILES if not (folder_path / name).is_file()]
    try:
        folder = TaskFolder.read(folder_path, MADE_GAMES.kit)
    except ValueError as error:
        code = "files" if missing else "manifest"
        report.faults.append(Fault(code, f"{', '.join(missing)} is missing" if missing else str(error)[:1_000]))
        return report
    report.faults.extend(find_faults(folder))
    if not report.faults:
        report.faults.extend(await asyncio.to_thread(_syntax_faults, folder))
    if report.faults:
        return report
    try:
        await _check_rules(folder, first, second, playouts, report)
        if page and not report.faults:
            suite = WatchedSuite(folder)
            report.faults.extend([fault async for fault in find_page_faults(first, suite, folder, report.experts)])
    except (ScriptFailed, VerifierFailed) as failed:
        report.faults.append(Fault("rules_throw", str(failed)[:300]))
    except BrowserFailed as failed:
        report.faults.append(Fault("page_fails", f"{type(failed).__name__}: {failed}"[:300]))
    return report


def expert_steps(experts: Sequence[ExpertResult]) -> list[float]:
    """How many moves the expert takes in the mean, by level."""
    levels = sorted({one.level for one in experts})
    steps = [[one.steps for one in experts if one.level == level] for level in levels]
    return [sum(each) / len(each) for each in steps]


async def _check_rules(folder: TaskFolder, first: Engine, second: Engine, playouts: int, report: GameReport) -> None:
    source, tasks = read_source(folder), make_parameters(folder, SEEDS)
    async with open_harness(first, source) as harness:
        found = await harness.playouts(tasks, playouts, checks=True, judge=True)
        report.faults.extend(Fault(code if code in CODES else "interface", text) for code, text in found.faults.items())
        report.playouts, report.levels = found.playouts, found.levels
        if report.faults:
            return
        report.digests.append(found.digest)
        report.faults.extend([fault async for fault in _expert_faults(folder, harness, report)])
    # Another order, another session's seed and another time; and another process.
    for engine, backwards, start_time in ((first, True, 1.8e9), (second, False, 1.6e9)):
        async with open_harness(engine, source, seed=len(report.digests) + 1, start_time=start_time) as harness:
            again = await harness.playouts(tasks, playouts, backwards=backwards)
            report.digests.append(again.digest)
    if not report.chains_equal:
        report.faults.append(Fault("not_repeatable", "the same seeds and moves gave other states in another run"))


async def _expert_faults(folder: TaskFolder, harness: Harness, report: GameReport) -> AsyncIterator[Fault]:
    tasks = make_parameters(folder, EXPERT_SEEDS)
    starts = {(await harness.derive(task, ()))[0].hash for task in tasks if task["level"] == 1}
    if len(starts) < 2:
        yield Fault("same_start", f"{len(EXPERT_SEEDS)} seeds have the same start")
    report.experts = await harness.experts(tasks, max_steps(folder, tasks))
    lost = [one for one in report.experts if not one.won]
    if len(lost) > (1 - MIN_EXPERT_RATE) * len(report.experts):
        yield Fault("unreachable_goal", f"level {lost[0].level}, seed {lost[0].seed}: {lost[0].why}")
        return
    for text in find_easier_levels(report.levels, expert_steps(report.experts)):
        yield Fault("level_not_harder", text)
    last = max(report.experts, key=lambda one: (one.won, one.steps))
    task: Parameters = next(one for one in tasks if (one["level"], one["seed"]) == (last.level, last.seed))
    for forged in await harness.forged(task, last.history):
        code = "verifier_believes_page" if forged.why == "believed" else "verifier_disagrees"
        yield Fault(code, f"{forged.name}: {forged.why}")
    report.verifier_ms = await harness.verifier_ms(task, last.history)
    if report.verifier_ms > MAX_VERIFIER_MS:
        yield Fault("verifier_slow", f"a query takes {report.verifier_ms:.1f} ms")


def find_easier_levels(levels: dict[int, LevelPlay], steps: Sequence[float]) -> list[str]:
    """Levels that are not harder than the one before: random play earns more, or no less where the expert takes no
    longer."""
    found = list[str]()
    for (level, before), (higher, after) in pairwise(sorted(levels.items())):
        gain, longer = after.mean_score - before.mean_score, steps[higher - 1] / max(steps[level - 1], 1)
        chance = 1 / sqrt(min(before.count, after.count))  # two standard errors of a score from 0 to 1, at most
        if gain > EASIER + chance or (gain > -EASIER and longer < LONGER):
            scores = f"random play earns {after.mean_score:.2f} after {before.mean_score:.2f}"
            found.append(f"level {higher}: {scores}, and the expert takes {longer:.1f} times as many moves")
    return found


def _syntax_faults(folder: TaskFolder) -> list[Fault]:
    """What Node says of each script, where it is installed; else the run tells."""
    node, faults = shutil.which("node"), list[Fault]()
    for name in SCRIPTS if node else ():
        done = subprocess.run(
            [str(node), "--check", str(folder.path / name)], capture_output=True, text=True, timeout=30
        )
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.strip()]
            where = next((line for line in lines if "Error" in line), lines[0] if lines else "cannot be read")
            place = lines[0].rsplit(":", 1)[-1] if lines else "?"
            faults.append(Fault("syntax", f"{name}, line {place}: {where}"))
    return faults
