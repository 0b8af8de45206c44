"""Where the time of a test run went, from the records of `tests.timing`."""

import json
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

SLOWEST_COUNT = 30


@dataclass(frozen=True, slots=True)
class TestTiming:
    """Rows of tests, one for each phase, and the tests that only a run with `--all` includes, each with the reason."""

    rows: tuple[dict[str, Any], ...] = ()
    moved: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, files: Iterable[Path]) -> Self:
        """Read the records of these files, one JSON object a line. The last line of a killed run may be cut."""
        rows, moved = list[dict[str, Any]](), dict[str, str]()
        for file in files:
            for line in file.read_text().splitlines():
                with suppress(json.JSONDecodeError):
                    found = json.loads(line)
                    moved |= found.get("moved", {})
                    rows += [found] if "phase" in found else []
        return cls(tuple(rows), moved)

    @property
    def tests(self) -> int:
        """How many different tests ran or were skipped."""
        return len({row["test"] for row in self.rows})

    def by_folder(self) -> dict[str, Counter[str]]:
        """Seconds of each folder of tests by phase: `setup`, `call`, `teardown`."""
        found: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for row in self.rows:
            found[budget_folder(row["test"])][row["phase"]] += row["seconds"]
        return dict(found)

    def by_group(self) -> dict[str, float]:
        """Seconds of each group of tests that run together, as `tests/durations.json` keeps them."""
        found: Counter[str] = Counter()
        for row in self.rows:
            found[row["group"]] += row["seconds"]
        return {group: round(seconds, 1) for group, seconds in sorted(found.items())}

    def slowest(self, count: int = SLOWEST_COUNT) -> list[tuple[str, float]]:
        """The tests with the longest calls, without the set-up of their fixtures; seconds."""
        calls: defaultdict[str, float] = defaultdict(float)
        for row in self.rows:
            if row["phase"] == "call":
                calls[row["test"]] += row["seconds"]
        return sorted(calls.items(), key=lambda item: -item[1])[:count]

    def processor_seconds(self) -> dict[str, float]:
        """CPU seconds of each folder of tests."""
        found: defaultdict[str, float] = defaultdict(float)
        for row in self.rows:
            found[budget_folder(row["test"])] += row.get("processor_s", 0)
        return found

    def busiest(self, count: int = SLOWEST_COUNT) -> list[tuple[str, float]]:
        """The files whose tests used the most CPU time, including their fixtures and the programs that they started;
        seconds."""
        found: defaultdict[str, float] = defaultdict(float)
        for row in self.rows:
            found[row["test"].partition("::")[0]] += row.get("processor_s", 0)
        return sorted(found.items(), key=lambda item: -item[1])[:count]

    def unclosed(self) -> list[str]:
        """Resources that test files left open: the file, and what was found, once each."""
        return sorted(
            {f"{row['test'].partition('::')[0]}: {what}" for row in self.rows for what in row.get("unclosed", ())}
        )

    def fixtures(self, count: int = SLOWEST_COUNT) -> list[tuple[str, float, int]]:
        """The fixtures with the longest setup: name and scope, total seconds, how often."""
        seconds, times = Counter[str](), Counter[str]()
        for row in self.rows:
            for name, scope, took in row["fixtures"]:
                seconds[f"{name} ({scope})"] += took
                times[f"{name} ({scope})"] += 1
        return [(name, took, times[name]) for name, took in seconds.most_common(count)]

    def waits(self, count: int = SLOWEST_COUNT) -> list[tuple[str, float, int]]:
        """The longest waits of tests: the condition, total seconds, how often."""
        seconds, times = Counter[str](), Counter[str]()
        for row in self.rows:
            for what, took in row["waits"]:
                seconds[what] += took
                times[what] += 1
        return [(what, took, times[what]) for what, took in seconds.most_common(count)]

    def over_budget(self, budgets: dict[str, float]) -> list[tuple[str, float, float]]:
        """Folders that exceeded their budget: folder, seconds, budget."""
        spent = {folder: sum(phases.values()) for folder, phases in self.by_folder().items()}
        return [(name, spent[name], budgets[name]) for name in sorted(spent) if spent[name] > budgets.get(name, 1e9)]

    def lines(self, budgets: dict[str, float]) -> Iterator[str]:
        """A report for a person."""
        computed = self.processor_seconds()
        yield "where the time went (seconds of all workers, and of the processors)"
        yield f"  {'folder':<40} {'set-up':>8} {'call':>8} {'teardown':>8} {'computed':>8}"
        for folder, phases in sorted(self.by_folder().items(), key=lambda item: -sum(item[1].values())):
            figures = (phases["setup"], phases["call"], phases["teardown"], computed[folder])
            yield f"  {folder:<40} " + " ".join(f"{figure:8.1f}" for figure in figures)
        yield from _section("slowest tests", ((name, f"{took:8.1f}") for name, took in self.slowest()))
        yield from _section("files that computed most", ((name, f"{took:8.1f}") for name, took in self.busiest(15)))
        yield from _section("slowest fixtures", _format_counted(self.fixtures(15)))
        yield from _section("longest waits", _format_counted(self.waits(15)))
        for what in self.unclosed():
            yield f"left open by {what}"
        for name, spent, budget in self.over_budget(budgets):
            yield f"over budget: {name} took {spent:.0f} s of {budget:.0f} s"


def budget_folder(test: str) -> str:
    """The folder that budgets and sums use: `tests/integration/web`, but `tests/unit` as a whole."""
    parts = test.partition("::")[0].split("/")[:-1]
    return "/".join(parts[: 3 if parts[1:2] == ["integration"] else 2])


def read_budgets(file: Path) -> dict[str, float]:
    """Seconds of all workers by folder. Raises FileNotFoundError, TOMLDecodeError."""
    return {folder: float(seconds) for folder, seconds in tomllib.loads(file.read_text())["seconds"].items()}


@dataclass(frozen=True, slots=True)
class ProcessorTimes:
    """Ticks of all processors of this machine: busy ones, those of them that other machines of the host took, all."""

    busy: int
    stolen: int
    total: int

    def __sub__(self, before: "ProcessorTimes") -> "ProcessorTimes":
        return ProcessorTimes(self.busy - before.busy, self.stolen - before.stolen, self.total - before.total)

    @property
    def busy_share(self) -> float:
        """How busy the processors were, from 0 to 1."""
        return self.busy / max(self.total, 1)

    @property
    def stolen_share(self) -> float:
        """The share of time that other machines of the host used them, from 0 to 1."""
        return self.stolen / max(self.total, 1)


def processor_times() -> ProcessorTimes:
    """Ticks since this machine was started."""
    ticks = [int(each) for each in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return ProcessorTimes(sum(ticks) - ticks[3] - ticks[4], ticks[7], sum(ticks))


def program_lines(programs: Counter[str], count: int = 20) -> Iterator[str]:
    """The programs that used the most CPU time, and the total."""
    rows = [(name, f"{took:8.1f}") for name, took in programs.most_common(count)]
    if rows:
        rows.append(("all programs, without those too short to be seen", f"{programs.total():8.1f}"))
    yield from _section("programs that computed most", rows)


def _section(title: str, rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    rows = list(rows)
    if rows:
        yield title
        for name, figures in rows:
            yield f"  {figures}  {name}"


def _format_counted(rows: Sequence[tuple[str, float, int]]) -> Iterator[tuple[str, str]]:
    return ((name, f"{took:8.1f} {times:6}x") for name, took, times in rows)
