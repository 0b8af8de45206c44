"""Unrequested events in a session."""

from collections import deque
from dataclasses import dataclass, field

MAX_EVENTS = 200
"""Maximum stored events; further events are only counted."""
MAX_TEXT = 500


@dataclass(frozen=True, slots=True)
class BrowserEvent:
    """One event. `kind` is one of: console, page_error, crashed, dialog, download, popup, popup_refused, closed,
    navigated, request_failed, request_refused, file_chooser, hung, dropped."""

    kind: str
    text: str
    time_ms: float
    """Game time since the session's start."""
    page: str = ""
    more: dict[str, str] = field(default_factory=dict)


class EventBuffer:
    """The events of a session that were not taken yet, bounded in number."""

    def __init__(self) -> None:
        self._events: deque[BrowserEvent] = deque()
        self._dropped = 0

    def add(self, event: BrowserEvent) -> None:
        if len(self._events) < MAX_EVENTS:
            self._events.append(event)
        else:
            self._dropped += 1

    def drain(self) -> tuple[BrowserEvent, ...]:
        """Return all events in order, and clear the buffer."""
        drained = tuple(self._events)
        if self._dropped:
            drained += (BrowserEvent("dropped", f"{self._dropped} more events", drained[-1].time_ms),)
        self._events.clear()
        self._dropped = 0
        return drained
