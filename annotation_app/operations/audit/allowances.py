"""Allowed findings: a committed list in which each has a reason and an expiry date."""

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from annotation_app.operations.audit.reports import Finding, ScanReport
from annotation_app.operations.errors import OperationsError

MAX_ALLOWANCE = timedelta(days=366)
"""How long an allowance may last before a person has to review it."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """Findings of one scanner that are known and accepted until a date; `*` in a name matches anything."""

    scanner: str
    findings: tuple[str, ...]
    added: date
    until: date
    reason: str

    def covers(self, scanner: str, finding: Finding) -> bool:
        """Whether it matches this finding, expired or not."""
        return scanner == self.scanner and any(fnmatchcase(finding.id, name) for name in self.findings)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A report after applying the list. `open` findings count, including those whose allowance has expired."""

    report: ScanReport
    open: tuple[Finding, ...]
    allowed: tuple[Finding, ...]
    expired: tuple[tuple[Finding, Allowance], ...]


def read_allowances(file: Path) -> tuple[Allowance, ...]:
    """Read the list.

    Raises:
        OperationsError: An entry has no reason, no finding or no dates, holds too long, or has a field that is unknown.
    """
    try:
        entries = tomllib.loads(file.read_text())
    except tomllib.TOMLDecodeError as error:
        raise OperationsError(f"{file.name}: {error}") from error
    if unknown := entries.keys() - {"allowed"}:
        raise OperationsError(f"{file.name}: unknown tables: {', '.join(sorted(unknown))}")
    return tuple(
        _parse_allowance(file.name, number, entry) for number, entry in enumerate(entries.get("allowed", ()), 1)
    )


def apply_allowances(report: ScanReport, allowances: Sequence[Allowance], today: date) -> Verdict:
    """Split the findings of a report into those that count and those that are allowed on this day."""
    open_, allowed, expired = [], [], []
    for finding in sorted(report.findings):
        covering = [each for each in allowances if each.covers(report.scanner, finding)]
        if any(each.until >= today for each in covering):
            allowed.append(finding)
        else:
            open_.append(finding)
            expired += [(finding, covering[0])] if covering else []
    return Verdict(report, tuple(open_), tuple(allowed), tuple(expired))


def unused_allowances(allowances: Iterable[Allowance], reports: Iterable[ScanReport]) -> list[tuple[Allowance, str]]:
    """Names of allowances that match no finding of their scanner, although it ran."""
    found = {report.scanner: report.findings for report in reports if report.state == "ran"}
    return [
        (allowance, name)
        for allowance in allowances
        for name in allowance.findings
        if allowance.scanner in found and not any(fnmatchcase(each.id, name) for each in found[allowance.scanner])
    ]


def _parse_allowance(file: str, number: int, entry: dict[str, Any]) -> Allowance:
    where = f"{file}, entry {number}"
    match entry:
        case {
            "scanner": str(scanner), "findings": [str(), *_] as findings, "added": date() as added,
            "until": date() as until, "reason": str(reason), **rest,
        } if not rest and reason.strip() and all(isinstance(each, str) for each in findings):  # fmt: skip
            pass
        case _:
            raise OperationsError(
                f"{where} is not whole.", hint="It has exactly: scanner, findings, added, until (dates), reason."
            )
    if not added <= until <= added + MAX_ALLOWANCE:
        raise OperationsError(f"{where}: `until` is not within a year after `added`.")
    return Allowance(scanner, tuple(findings), added, until, reason)
