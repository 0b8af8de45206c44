"""What a run of checks and tests found, counted; read from JUnit files so that every tool is counted alike."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self
from xml.etree import ElementTree

REASON = 120
"""Characters of a reason that are told."""


@dataclass(frozen=True, slots=True)
class Results:
    """Counts, and the reasons of what was skipped."""

    passed: int = 0
    failed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of_junit(cls, file: Path) -> Self:
        """Of a JUnit file. Raises FileNotFoundError, ElementTree.ParseError."""
        passed, failed, skipped = 0, 0, Counter[str]()
        for case in ElementTree.parse(file).iter("testcase"):
            skip = case.find("skipped")
            if case.find("failure") is not None or case.find("error") is not None:
                failed += 1
            elif skip is not None:
                skipped[_reason(skip.get("message", ""))] += 1
            else:
                passed += 1
        return cls(passed, failed, skipped)

    @classmethod
    def sum_of(cls, parts: "Iterable[Results]") -> Self:
        """All of them together."""
        passed, failed, skipped = 0, 0, Counter[str]()
        for part in parts:
            passed, failed = passed + part.passed, failed + part.failed
            skipped += part.skipped
        return cls(passed, failed, skipped)

    def line(self) -> str:
        """The last line of a test run; machines read it."""
        return f"{self.passed} passed, {self.failed} failed, {self.skipped.total()} skipped"


def _reason(message: str) -> str:
    """The first line, and not all of a long one: reasons are told in one line each."""
    first = message.strip().partition("\n")[0]
    return f"{first[:REASON]}…" if len(first) > REASON else first or "no reason given"
