"""The events of a session: a kind, a monotonic time and the time's error."""

from dataclasses import dataclass, field
from typing import Any, Literal

EventKind = Literal[
    "pointer.move",
    "pointer.down",
    "pointer.up",
    "scroll",
    "key.down",
    "key.up",
    "text.inserted",
    "screen.frame",
    "gap.begin",
    "gap.end",
    "clock",
    "audio.chunk",
    "audio.gap",
    "mark",
    "help",
]
TimeSource = Literal["x_server", "hook", "capture", "receipt"]
GapReason = Literal["paused", "excluded", "password", "forgotten", "cut", "suspended", "unwatched"]
STRUCTURE_KINDS = frozenset({"gap.begin", "gap.end", "clock", "audio.gap"})
"""Events that reveal nothing of the person's screen or input. They stay when a stretch is removed."""


@dataclass(frozen=True)
class Event:
    """One event. `data` depends on the kind: docs/architecture/recorder.md lists it."""

    kind: EventKind
    t_ns: int
    t_src: TimeSource
    t_error_ns: int
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def end_ns(self) -> int:
        """End time: sound has a duration, other events are a moment."""
        return self.t_ns + int(self.data.get("duration_ns", 0))

    def to_json(self) -> dict[str, Any]:
        """The event as stored: one line of JSON."""
        own = {"kind": self.kind, "t_ns": self.t_ns, "t_src": self.t_src, "t_error_ns": self.t_error_ns}
        return {**own, **self.data}


def gap_events(begin_ns: int, end_ns: int, reason: GapReason) -> tuple[Event, Event]:
    """Two events that mark a stretch of which nothing is stored."""
    return (
        Event("gap.begin", begin_ns, "receipt", 0, {"reason": reason}),
        Event("gap.end", end_ns, "receipt", 0, {"reason": reason}),
    )
