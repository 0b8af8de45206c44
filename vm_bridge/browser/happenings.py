"""What happens in a session beside what was asked of it."""

from collections import deque
from dataclasses import dataclass, field

MOST = 200
"""Kept until they are taken; more are counted only."""
MOST_TEXT = 500


@dataclass(frozen=True, slots=True)
class Happening:
    """One event. `kind` is one of: console, page_error, crashed, dialog, download, popup, popup_refused, closed,
    navigated, request_failed, request_refused, file_chooser, hung, dropped."""

    kind: str
    text: str
    time_ms: float
    """Game time since the session's start."""
    page: str = ""
    more: dict[str, str] = field(default_factory=dict)


class Happenings:
    """The events of a session that nobody has taken yet; the number kept has a bound."""

    def __init__(self) -> None:
        self._kept: deque[Happening] = deque()
        self._dropped = 0

    def add(self, happening: Happening) -> None:
        if len(self._kept) < MOST:
            self._kept.append(happening)
        else:
            self._dropped += 1

    def take(self) -> tuple[Happening, ...]:
        """All of them, in their order; then there are none."""
        taken = tuple(self._kept)
        if self._dropped:
            taken += (Happening("dropped", f"{self._dropped} more events", taken[-1].time_ms),)
        self._kept.clear()
        self._dropped = 0
        return taken
