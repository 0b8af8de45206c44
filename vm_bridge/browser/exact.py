"""The exact clock: the browser's own virtual time, moved frame by frame, each frame drawn when its time has come.

Frames fall on whole milliseconds (0, 17, 33, 50, …): so do all timers, and what scripts read is the same in every run.
"""

import asyncio
import base64
from typing import TYPE_CHECKING

from vm_bridge.browser.errors import BrowserFailed, PageHung, ScriptFailed
from vm_bridge.browser.page import Page, value
from vm_bridge.browser.pipe import Told, bounded

if TYPE_CHECKING:
    from vm_bridge.browser.session import Session

PATIENCE = 20.0
"""Real time one frame may take (seconds); a page that takes longer hangs."""
FRAME_MS = 1000 / 60
TICK = 0.001
"""What two frames are apart between which no time passes (ms): the least the browser counts."""


def boundary(frame: int) -> int:
    """When a frame is due (game time, ms)."""
    return round(frame * FRAME_MS)


class ExactTime:
    """A session's time. `now` is game time since its start (ms)."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._base = 0.0
        """The browser's own ticks when time began (ms)."""
        self._expired = asyncio.Event()
        self.now = 0
        self._drawn = -1.0
        """When the last frame was, by its own count (ms); the browser drops a frame that is not later."""

    async def attach(self, page: Page) -> None:
        """Stop time before the page's first script. Raises BrowserFailed."""
        if not self._base:
            start = self._session.start_time
            told = await page.call("Emulation.setVirtualTimePolicy", policy="pause", initialVirtualTime=start)
            self._base = float(told["virtualTimeTicksBase"])

    def expired(self) -> None:
        """The time that was given is used up."""
        self._expired.set()

    async def advance(self, ms: float) -> None:
        """Let so much pass, rounded to whole frames. Raises PageHung."""
        for _ in range(max(1, round(ms / FRAME_MS)) if ms > 0 else 0):
            await self.frame()

    async def frame(self) -> None:
        """Let time pass until the next frame, and draw it. Raises PageHung."""
        page = self._session.active
        due = boundary(int(self.now / FRAME_MS) + 1)
        while due <= self.now:
            due = boundary(int(due / FRAME_MS + 0.5) + 1)
        await self._pass(page, due - self.now)
        drawn = self._draw(page, due)
        clock = page.send("Runtime.evaluate", expression="Date.now()", returnByValue=True)
        await drawn
        try:
            said = value(await bounded(clock, "clock", PATIENCE))
            self.now = round(said - self._session.start_time * 1000)
        except (BrowserFailed, ScriptFailed):
            self.now = due  # its document has just gone

    async def refresh(self) -> None:
        """Draw what changed without letting time pass."""
        await self._draw(self._session.active, self.now)

    async def picture(self, kind: str, quality: int) -> bytes:
        """The active page as it is now."""
        screenshot: Told = {"format": kind}
        if kind != "png":
            screenshot["quality"] = quality
        told = await self._draw(self._session.active, self.now, screenshot=screenshot)
        if "screenshotData" not in told:
            raise BrowserFailed("no picture came")
        return base64.b64decode(told["screenshotData"])

    async def _pass(self, page: Page, ms: float) -> None:
        self._expired.clear()
        page.send("Emulation.setVirtualTimePolicy", policy="pauseIfNetworkFetchesPending", budget=ms)
        try:
            async with asyncio.timeout(PATIENCE):
                await self._expired.wait()
        except TimeoutError:
            raise PageHung(f"the page does not come to its next frame within {PATIENCE:.0f} s") from None

    async def _draw(self, page: Page, at: float, **more: Told) -> Told:
        async with self._session.engine.drawing:
            self._drawn = max(at, self._drawn + TICK)
            answer = page.send(
                "HeadlessExperimental.beginFrame", frameTimeTicks=self._base + self._drawn, interval=FRAME_MS, **more
            )
            try:
                return await bounded(answer, "a frame", PATIENCE)
            except BrowserFailed as failed:
                raise PageHung(str(failed)) from failed
