"""Counted results of a run of checks and tests, read from JUnit files so that every tool is counted alike."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self
from xml.etree import ElementTree

MAX_REASON_CHARACTERS = 120
"""Longest reason that is shown (characters)."""
RERUN_PROPERTY = "rerun"
"""The property of a test that was run twice. Its value is why the first run failed."""


@dataclass(frozen=True, slots=True)
class OutcomeCounts:
    """Counts, the reasons of skipped tests, and the tests that were rerun or failed, each with the reason."""

    passed: int = 0
    failed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    rerun: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()

    @classmethod
    def from_junit(cls, file: Path) -> Self:
        """The counts of a JUnit file. Raises FileNotFoundError, ElementTree.ParseError."""
        cases = list(ElementTree.parse(file).iter("testcase"))  # noqa: S314 - written by our own test run
        rerun = {_test_name(case): _rerun_reason(case) for case in cases if _rerun_reason(case) is not None}
        passed, failures, skipped = 0, list[str](), Counter[str]()
        for case in cases:
            skip, failure = case.find("skipped"), _failure(case)
            if _test_name(case) in rerun and _rerun_reason(case) is None:
                continue  # its first run
            if failure is not None:
                failures.append(f"{_test_name(case)}: {_shorten_reason(failure.get('message', ''))}")
            elif skip is not None:
                skipped[_shorten_reason(skip.get("message", ""))] += 1
            else:
                passed += 1
        again = tuple(f"{name}: {_shorten_reason(why or '')}" for name, why in rerun.items())
        return cls(passed, len(failures), skipped, again, tuple(failures))

    @classmethod
    def total(cls, parts: "Iterable[OutcomeCounts]") -> Self:
        """All of them together."""
        total = cls()
        for part in parts:
            total = cls(
                total.passed + part.passed,
                total.failed + part.failed,
                total.skipped + part.skipped,
                total.rerun + part.rerun,
                total.failures + part.failures,
            )
        return total

    def line(self) -> str:
        """The last line of a test run, in machine-readable form."""
        return f"{self.passed} passed, {self.failed} failed, {self.skipped.total()} skipped"


def _test_name(case: ElementTree.Element) -> str:
    return f"{case.get('classname', '')}.{case.get('name', '')}"


def _failure(case: ElementTree.Element) -> ElementTree.Element | None:
    """Why it failed; None if it did not."""
    failure = case.find("failure")
    return case.find("error") if failure is None else failure


def _rerun_reason(case: ElementTree.Element) -> str | None:
    """Why it was rerun; None if it was not."""
    again = case.find(f"properties/property[@name='{RERUN_PROPERTY}']")
    return None if again is None else again.get("value", "")


def _shorten_reason(message: str) -> str:
    """The first line, shortened: reasons are shown on one line each."""
    first = message.strip().partition("\n")[0]
    return f"{first[:MAX_REASON_CHARACTERS]}…" if len(first) > MAX_REASON_CHARACTERS else first or "no reason given"
