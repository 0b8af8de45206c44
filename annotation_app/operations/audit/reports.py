"""Scanner reports: findings, and whether the scanner could run."""

import enum
from dataclasses import dataclass


class ScanState(enum.StrEnum):
    """How a scanner ended."""

    RAN = "ran"
    """It scanned everything; no finding means that it knows of none."""
    UNAVAILABLE = "unavailable"
    """It is not installed, or its database is unreachable. The result is unknown."""
    FAILED = "failed"
    """It crashed, or its output is invalid. The result is unknown, and a person has to fix it."""


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One vulnerability. `id` names it in the list of allowed findings, without parts that change from run to run."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class ScanReport:
    """What one scanner found; `detail` says why it could not run."""

    scanner: str
    state: ScanState
    findings: tuple[Finding, ...] = ()
    detail: str = ""
