"""What scanners report: findings, and whether the scanner could look at all."""

import enum
from dataclasses import dataclass


class ScanState(enum.StrEnum):
    """How a scanner ended."""

    RAN = "ran"
    """It looked at everything; no finding means that it knows of none."""
    UNAVAILABLE = "unavailable"
    """It is not installed, or its database cannot be reached: nothing is known."""
    FAILED = "failed"
    """It crashed, or its answer makes no sense: nothing is known, and somebody has to mend it."""


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One weakness. `id` names it in the list of allowed findings: words without what changes from run to run."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class ScanReport:
    """What one scanner found; `detail` says why it could not look."""

    scanner: str
    state: ScanState
    findings: tuple[Finding, ...] = ()
    detail: str = ""
