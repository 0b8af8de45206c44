"""What is told of the parts of the platform."""

from datetime import datetime

from vocabulary.base import Frozen


class Check(Frozen):
    """Whether one part works, what it says, and how long it took to say so."""

    name: str
    ok: bool
    detail: str
    seconds: float


class HealthPage(Frozen):
    """Every part, asked at this moment."""

    at: datetime
    checks: tuple[Check, ...]
