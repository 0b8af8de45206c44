"""Holds events in memory before they are stored, so that content later found to be private never reaches the disk."""

from .clocks import SECOND
from .events import Event

DELAY_NS = SECOND
"""The delay. A crash loses at most this plus the time of one write."""


class DelayBuffer:
    """Events that wait to be written, with their bytes."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Event, bytes]] = []

    def add(self, event: Event, content: bytes = b"") -> None:
        """Add an event; `content` is a frame's picture or a chunk's samples."""
        self._waiting.append((event, content))

    def release(self, now_ns: int, delay_ns: int = DELAY_NS) -> list[tuple[Event, bytes]]:
        """Events that have waited `delay_ns`, in order of time."""
        due = [one for one in self._waiting if one[0].end_ns <= now_ns - delay_ns]
        self._waiting = [one for one in self._waiting if one[0].end_ns > now_ns - delay_ns]
        return sorted(due, key=lambda one: one[0].t_ns)

    def drop(self) -> None:
        """Discard all waiting events."""
        self._waiting.clear()
