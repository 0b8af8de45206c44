"""What the two clocks have in common."""

from dataclasses import dataclass
from typing import Protocol

from vm_bridge.browser.errors import BrowserFailed
from vm_bridge.browser.page import Page
from vm_bridge.browser.site import Response

FRAME_MS = 1000 / 60
PATIENCE = 10.0
"""Real time that a frame may take (seconds); a page that takes longer hangs. Whoever acts waits so long to hear of it;
much less, and a machine busy with other things would make pages hang that do not."""


@dataclass(frozen=True, slots=True)
class Tick:
    """What one frame showed."""

    changed: bool
    """Whether anything new was drawn."""
    soon: float
    """Game time until the next single timer of a page is due (ms)."""


class Time(Protocol):
    """A session's time. Errors: PageHung, BrowserEnded."""

    now: int
    """Game time since the session's start (ms)."""
    patience: float
    """Real time that a frame may take (seconds); a page that takes longer hangs."""

    async def begin(self, keeper: Page) -> None:
        """Take hold of time before the first script; `keeper` is an empty page of the session."""
        ...

    def document(self, response: Response) -> Response:
        """A new document as a page gets it now."""
        ...

    def drew(self, page: Page) -> None:
        """A page says that it has drawn a frame."""
        ...

    def touched(self) -> None:
        """A page was acted on."""
        ...

    def expired(self) -> None:
        """The browser says that it has used up the time it was given."""
        ...

    def kept(self) -> None:
        """An answer is delayed."""
        ...

    def broke(self, failed: BrowserFailed) -> None:
        """A page that may be waited for has ended."""
        ...

    async def frame(self, *, seen: bool) -> Tick:
        """Let time pass until the next frame; where it is not `seen`, it need not come to be on display."""
        ...

    async def advance(self, frames: int) -> None:
        """Let so many frames pass."""
        ...

    async def refresh(self, *, seen: bool = True) -> None:
        """Draw what changed without letting time pass."""
        ...

    async def picture(self, kind: str, quality: int, *, aside: bool = False) -> bytes:
        """The active page as it is now; taken `aside`, the next frame's change is what it would have been without."""
        ...


def boundary(frame: int) -> int:
    """When a frame is due (game time, ms)."""
    return round(frame * FRAME_MS)


def boundary_after(now: int) -> int:
    """When the next frame is due."""
    frame = int(now / FRAME_MS)
    while boundary(frame) <= now:
        frame += 1
    return boundary(frame)
