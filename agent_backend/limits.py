"""Bounds of one episode's runner."""

from dataclasses import dataclass, field

from agent_backend.acting import ActingLimits
from agent_backend.thinking import Patience


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a runner and of its parts.

    Attributes:
        inbox: Most commands that wait at a time.
        warm_again: Seconds until a machine is asked for again.
        lapses: Replies in a row that are no action and become steps of the autopilot. Zero where a person is there:
            the autopilot then ends at once.
    """

    inbox: int = 32
    warm_again: float = 2.0
    lapses: int = 0
    acting: ActingLimits = field(default_factory=ActingLimits)
    patience: Patience = field(default_factory=Patience)


DEFAULT_LIMITS = Limits()
