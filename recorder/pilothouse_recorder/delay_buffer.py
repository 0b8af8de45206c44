"""Events wait in memory before they are stored, so that what turns out to be private was never on the disk."""

from .clocks import SECOND
from .events import Event

DELAY_NS = SECOND
"""How long. What a crash loses is at most this and the time of one write."""


class DelayBuffer:
    """Events on their way to the disk, with the bytes that belong to them."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Event, bytes]] = []

    def add(self, event: Event, content: bytes = b"") -> None:
        """Take an event in; `content` is a frame's picture or a chunk's samples."""
        self._waiting.append((event, content))

    def release(self, now_ns: int, delay_ns: int = DELAY_NS) -> list[tuple[Event, bytes]]:
        """What has waited long enough, in the order of time."""
        due = [one for one in self._waiting if one[0].end_ns <= now_ns - delay_ns]
        self._waiting = [one for one in self._waiting if one[0].end_ns > now_ns - delay_ns]
        return sorted(due, key=lambda one: one[0].t_ns)

    def drop(self) -> None:
        """Forget everything that waits."""
        self._waiting.clear()
