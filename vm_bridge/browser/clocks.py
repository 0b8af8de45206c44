"""The clocks of a session: the source of its time, and the interface of both implementations."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from vm_bridge.browser.errors import BrowserFailed
from vm_bridge.browser.page import Page
from vm_bridge.browser.site import Response


class Clock(StrEnum):
    """Source of a session's time. The source that was actually used is recorded."""

    EXACT = "exact"
    """The browser's own virtual time and its frames: CSS animations and workers included."""
    SCRIPT = "script"
    """A script injected before the page's scripts. CSS animations, media and the browser's own loading run in real
    time.
    """
    REAL = "real"
    """No clock: time runs."""


FRAME_MS = 1000 / 60
FRAME_TIMEOUT_SECONDS = 10.0
"""Real time that a frame may take (seconds). A page that takes longer hangs, and an act reports it only after this
time.

With a much lower limit, pages on a busy machine would be reported as hung although they are not.
"""


@dataclass(frozen=True, slots=True)
class FrameResult:
    """Result of one frame."""

    changed: bool
    """Whether anything new was drawn."""
    next_timer_ms: float
    """Game time until a page's next one-shot timer is due (ms)."""


class PageClock(Protocol):
    """A session's clock. Errors: PageHung, BrowserEnded."""

    now: int
    """Game time since the session's start (ms)."""
    frame_timeout: float
    """Real time that a frame may take (seconds); a page that takes longer hangs."""

    async def begin(self, clock_page: Page) -> None:
        """Take control of time before the first script. `clock_page` is an empty page of the session."""
        ...

    def document(self, response: Response) -> Response:
        """A new document, as delivered to the page."""
        ...

    def on_frame_drawn(self, page: Page) -> None:
        """A page reports that it has drawn a frame."""
        ...

    def on_input(self) -> None:
        """A page received input."""
        ...

    def on_budget_expired(self) -> None:
        """The browser reports that its time budget is used up."""
        ...

    def hold(self) -> None:
        """A response is delayed."""
        ...

    def on_page_failed(self, failed: BrowserFailed) -> None:
        """A page that may be waited for has ended."""
        ...

    async def frame(self, *, seen: bool) -> FrameResult:
        """Advance time to the next frame. Without `seen` the frame need not be displayed."""
        ...

    async def advance(self, frames: int) -> None:
        """Advance by this many frames."""
        ...

    async def refresh(self, *, seen: bool = True) -> None:
        """Draw changes without advancing time."""
        ...

    async def picture(self, kind: str, quality: int, *, passive: bool = False) -> bytes:
        """Picture of the active page. With `passive`, the next frame's change is the same as without the picture."""
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
