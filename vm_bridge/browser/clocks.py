"""The clocks of a session: who makes its time, and what the two implementations have in common."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from vm_bridge.browser.errors import BrowserFailed
from vm_bridge.browser.page import Page
from vm_bridge.browser.site import Response


class Clock(StrEnum):
    """Who makes a session's time; what it really was is recorded."""

    EXACT = "exact"
    """The browser's own virtual time and its frames: CSS animations and workers included."""
    SCRIPT = "script"
    """A script put before those of the page; CSS animations, media and the browser's own loading go on in real time."""
    REAL = "real"
    """Nobody: time runs."""


FRAME_MS = 1000 / 60
FRAME_TIMEOUT_SECONDS = 10.0
"""Real time that a frame may take (seconds); a page that takes longer hangs. Whoever acts waits so long to hear of it;
much less, and a machine busy with other things would make pages hang that do not."""


@dataclass(frozen=True, slots=True)
class FrameResult:
    """What one frame showed."""

    changed: bool
    """Whether anything new was drawn."""
    next_timer_ms: float
    """Game time until the next single timer of a page is due (ms)."""


class PageClock(Protocol):
    """A session's time. Errors: PageHung, BrowserEnded."""

    now: int
    """Game time since the session's start (ms)."""
    frame_timeout: float
    """Real time that a frame may take (seconds); a page that takes longer hangs."""

    async def begin(self, clock_page: Page) -> None:
        """Take hold of time before the first script; `keeper` is an empty page of the session."""
        ...

    def document(self, response: Response) -> Response:
        """A new document as a page gets it now."""
        ...

    def on_frame_drawn(self, page: Page) -> None:
        """A page says that it has drawn a frame."""
        ...

    def on_input(self) -> None:
        """A page was acted on."""
        ...

    def on_budget_expired(self) -> None:
        """The browser says that it has used up the time it was given."""
        ...

    def hold(self) -> None:
        """An answer is delayed."""
        ...

    def on_page_failed(self, failed: BrowserFailed) -> None:
        """A page that may be waited for has ended."""
        ...

    async def frame(self, *, seen: bool) -> FrameResult:
        """Let time pass until the next frame; where it is not `seen`, it need not come to be on display."""
        ...

    async def advance(self, frames: int) -> None:
        """Let so many frames pass."""
        ...

    async def refresh(self, *, seen: bool = True) -> None:
        """Draw what changed without letting time pass."""
        ...

    async def picture(self, kind: str, quality: int, *, passive: bool = False) -> bytes:
        """The active page as it is now; taken `aside`, the next frame's change is what it would have been without."""
        ...


def frame_time(frame: int) -> int:
    """When a frame is due (game time, ms)."""
    return round(frame * FRAME_MS)


def next_frame_time(now: int) -> int:
    """When the next frame is due."""
    frame = int(now / FRAME_MS)
    while frame_time(frame) <= now:
        frame += 1
    return frame_time(frame)
