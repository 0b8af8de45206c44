"""The exact clock: the browser's own virtual time, moved frame by frame, each frame drawn when its time has come.

Frames fall on whole milliseconds (0, 17, 33, 50, …): so do all timers, and what scripts read is the same in every run.
"""

import asyncio
import base64
from typing import TYPE_CHECKING, Any

from vm_bridge.browser.errors import BrowserEnded, BrowserFailed, PageHung, ScriptFailed
from vm_bridge.browser.page import Page, value
from vm_bridge.browser.pipe import Told, bounded
from vm_bridge.browser.site import Response
from vm_bridge.browser.time import FRAME_MS, PATIENCE, Look, Tick, boundary_after

if TYPE_CHECKING:
    from vm_bridge.browser.session import Session

LEAST = 0.001
"""What two frames are apart between which no time passes (ms): the least the browser counts."""
LOOK = "globalThis.__pilothouse ? __pilothouse.look() : null"


class ExactTime:
    """A session's time, made by the browser."""

    def __init__(self, session: "Session") -> None:
        self.now = 0
        self._session = session
        self._base = 0.0
        """The browser's own ticks when time began (ms)."""
        self._drawn = -1.0
        """When the last frame was, by its own count (ms); the browser drops a frame that is not later."""
        self._expired = asyncio.Event()
        self._workers = False
        """Whether pages have workers, whose time must be moved."""
        self._broken: BrowserFailed | None = None

    async def attach(self, page: Page) -> None:
        """Stop time before the session's first script. Raises BrowserFailed."""
        if not self._base:
            start = self._session.start_time
            told = await page.call("Emulation.setVirtualTimePolicy", policy="pause", initialVirtualTime=start)
            self._base = float(told["virtualTimeTicksBase"])

    def document(self, response: Response) -> Response:
        """As it is: the browser knows when it begins."""
        return response

    def expired(self) -> None:
        """The time that was given is used up."""
        self._expired.set()

    def broke(self, failed: BrowserFailed) -> None:
        """A page ended while it was waited for."""
        self._broken = failed
        self._expired.set()

    async def frame(self) -> Tick:
        """Let time pass until the next frame, and draw it. Raises PageHung, BrowserEnded."""
        page, answers = self._session.active, self._session.answers
        answers.release(self.now)
        due = boundary_after(self.now)
        if answers.delayed:
            await answers.arrived()
        self._expired.clear()
        self._broken = None
        if self._workers:
            self._move()
        policy = "advance" if answers.delayed else "pauseIfNetworkFetchesPending"
        page.send("Emulation.setVirtualTimePolicy", policy=policy, budget=due - self.now)
        await self._pass()
        drawing = asyncio.ensure_future(self._draw(page, due))
        looks = self._looks()
        told = await drawing
        look = await self._read(looks, due)
        self._workers = look.workers
        page.fresh = False
        return Tick(bool(told.get("hasDamage")), look.soon)

    async def advance(self, frames: int) -> None:
        """See `Time.advance`."""
        for _ in range(frames):
            await self.frame()

    async def refresh(self) -> None:
        """Draw what changed without letting time pass."""
        page = self._session.active
        await self._draw(page, self.now)
        page.fresh = False

    async def picture(self, kind: str, quality: int) -> bytes:
        """The active page as it is now. Raises BrowserFailed."""
        screenshot: Told = {"format": kind, "optimizeForSpeed": True}
        if kind != "png":
            screenshot["quality"] = quality
        for _ in range(3):
            told = await self._draw(self._session.active, self.now, screenshot=screenshot)
            if "screenshotData" in told:
                return base64.b64decode(told["screenshotData"])
        raise BrowserFailed("the browser gives no picture")

    async def _pass(self) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                await self._expired.wait()
        except TimeoutError:
            raise PageHung(f"the page does not come to its next frame within {PATIENCE:.0f} s") from None
        if self._broken is not None:
            raise self._broken

    async def _draw(self, page: Page, at: float, **more: Any) -> Told:
        async with self._session.engine.drawing:
            self._drawn = max(at, self._drawn + LEAST)
            ticks = self._base + self._drawn
            answer = page.send("HeadlessExperimental.beginFrame", frameTimeTicks=ticks, interval=FRAME_MS, **more)
            try:
                return await bounded(answer, "a frame", PATIENCE)
            except BrowserEnded:
                raise
            except BrowserFailed as failed:
                if page.closed.is_set():
                    return {}
                raise PageHung(str(failed)) from failed

    def _looks(self) -> "list[asyncio.Future[Told]]":
        """What every document is asked after a frame, the active page's own first."""
        active = self._session.active
        looks = [active.ask(LOOK)]
        for page in self._session.pages:
            frames = (context for context, frame in page.contexts.items() if page is not active or frame != page.id)
            looks += [page.ask(LOOK, context) for context in frames]
        return looks

    async def _read(self, looks: "list[asyncio.Future[Told]]", due: int) -> Look:
        said = []
        for look in looks:
            try:
                said.append(value(await bounded(look, "a look", PATIENCE)))
            except BrowserEnded:
                raise
            except (BrowserFailed, ScriptFailed):
                said.append(None)  # its document has just gone
        own = said[0]
        self.now = due
        if own is not None:
            # Loading moves the browser's time by itself.
            self.now = max(due, round(own[0] - self._session.start_time * 1000))
            self._session.active.title = own[3]
        known = [each for each in said if each is not None]
        return Look(workers=any(each[1] for each in known), soon=min((each[2] for each in known), default=1e9))

    def _move(self) -> None:
        """Have workers moved to the present, as the first thing when time is given: before it passes, they and their
        pages have said to each other what they have to say."""
        for page in self._session.pages:
            for context in page.contexts:
                page.ask(f"void globalThis.__pilothouse?.spin({self.now})", context)
