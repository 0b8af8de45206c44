"""The exact clock: the browser's own virtual time, moved frame by frame, each frame drawn when its time has come.

Frames fall on whole milliseconds (0, 17, 33, 50, …): so do all timers, and what scripts read is the same in every run.
"""

import asyncio
import base64
import contextlib
from typing import TYPE_CHECKING, Any

from vm_bridge.browser.errors import BrowserEnded, BrowserFailed, PageHung
from vm_bridge.browser.look import ASK, LATER, Look
from vm_bridge.browser.page import Page, value
from vm_bridge.browser.pipe import CALL_SECONDS, Told, bounded
from vm_bridge.browser.site import Response
from vm_bridge.browser.time import FRAME_MS, PATIENCE, Tick, boundary_after

if TYPE_CHECKING:
    from vm_bridge.browser.session import Session

NEVER = 1e9
LEAST = 1
"""What two frames are apart between which no time passes (microseconds): the least the browser counts."""
STUCK_SECONDS = 2.0
"""How long time may stand after requests that were all answered."""
MOST_TRIES = 50
"""Frames that are drawn at most until a document has drawn one."""


class ExactTime:
    """A session's time, made by the browser."""

    def __init__(self, session: "Session") -> None:
        self.now = 0
        self.patience = PATIENCE
        self._session = session
        self._keeper: Page | None = None
        self._base = 0
        """The browser's own ticks when time began (microseconds)."""
        self._drawn = -1
        """When the last frame was, from there (microseconds); the browser never answers a frame not later."""
        self._counted = 0
        """How many requests there were when the last frame was drawn."""
        self._expired = asyncio.Event()
        self._touched = False
        """Whether pages were acted on since."""
        self._workers = False
        """Whether pages have workers, whose time must be moved."""
        self._kept = False
        """Whether an answer was delayed while time was given."""
        self._broken: BrowserFailed | None = None
        self._ahead = False
        """Whether the frame after the present one may be given its time as soon as a page has drawn this one."""
        self._pictured = False
        """Whether a picture was taken since the last frame on display: the next one then shows a change."""
        self._due = 0
        """When the frame is that is drawn."""
        self._given = 0
        """Until when time was given that way; zero where none was."""

    async def begin(self, keeper: Page) -> None:
        """Stop time before the session's first script. Raises BrowserFailed.

        All pages of a session live in one process and share its time. It is told to the `keeper`, an empty page that
        nobody sees: one that is on its way to another document takes no calls.
        """
        start = self._session.start_time
        told = await keeper.call("Emulation.setVirtualTimePolicy", policy="pause", initialVirtualTime=start)
        self._base = round(float(told["virtualTimeTicksBase"]) * 1000)
        self._keeper = keeper

    @property
    def keeper(self) -> Page:
        """To whom time is told. Raises BrowserEnded before there is one."""
        if self._keeper is None:
            raise BrowserEnded("time has not begun")
        return self._keeper

    def document(self, response: Response) -> Response:
        """As it is: the browser knows when it begins."""
        return response

    def touched(self) -> None:
        """A page was acted on. What it asks for in answer would keep time from passing until it has drawn a frame."""
        self._touched = True

    def expired(self) -> None:
        """The time that was given is used up."""
        self._expired.set()

    def kept(self) -> None:
        """An answer is given later; the browser would keep time from passing until then."""
        self._kept = True
        self._expired.set()

    def broke(self, failed: BrowserFailed) -> None:
        """A page ended while it was waited for."""
        self._broken = failed
        self._expired.set()

    def drew(self, page: Page) -> None:
        """A page has drawn a frame. Its time till the next one passes while the browser is still busy with this one:
        the page has done with it."""
        session = self._session
        alone = page is session.active and len(session.pages) == len(page.contexts) == 1
        kept = page.busy or page.look.display or page.look.workers or session.answers.pending or session.refused
        if self._ahead and alone and page.drawn and not kept:
            self._ahead = False
            self._given = boundary_after(self._due)
            self._offer("pauseIfNetworkFetchesPending", self._given - self._due)

    async def frame(self, *, seen: bool = True, ahead: bool = False) -> Tick:
        """See `Time.frame`; `ahead` where another one follows. Raises PageHung, BrowserEnded."""
        page, due, self._given = self._session.check(), self._given, 0
        if not due:
            due = await self._begin_time()
        await self._pass(due)
        others = self._others()
        self._due, self._ahead = due, ahead and not seen
        told = await self._draw(page, due, seen=seen or bool(others))
        self._ahead = False
        # Loading moves the browser's time by itself.
        known = (page.drawn and not page.busy) or self._given
        self.now = max(due, page.look.now if known else await self._asked(self.keeper.ask("Date.now()")))
        workers, soon = (page.look.workers, page.look.soon) if page.drawn else (0, NEVER)
        for other, answer in others:
            if look := Look.read(await self._session.heard(other, answer)):
                workers, soon = workers + look.workers, min(soon, look.soon)
        self._workers = workers > 0
        return Tick(bool(told.get("hasDamage")), soon)

    async def _begin_time(self) -> int:
        """Have time pass until the next frame is due; gives when that is. Raises PageHung, BrowserEnded."""
        answers = self._session.answers
        if self._touched and not self._session.active.leaving:
            await self._draw(self._session.active, self.now, seen=False)
        answers.release(self.now)
        await self._session.landed()
        due = boundary_after(self.now)
        if answers.delayed:
            await answers.arrived()
        if self._workers:
            self._move()
        self._offer(
            "advance" if answers.delayed or self._session.refused else "pauseIfNetworkFetchesPending", due - self.now
        )
        return due

    async def advance(self, frames: int) -> None:
        """See `Time.advance`. Pages draw every frame, the last one is seen."""
        for left in reversed(range(frames)):
            await self.frame(seen=left == 0, ahead=left > 0)

    async def refresh(self, *, seen: bool = True) -> None:
        """See `Time.refresh`."""
        await self._draw(self._session.active, self.now, seen=seen)

    async def picture(self, kind: str, quality: int, *, aside: bool = False) -> bytes:
        """See `Time.picture`. Raises BrowserFailed."""
        pictured = self._pictured
        screenshot: Told = {"format": kind, "optimizeForSpeed": True}
        if kind != "png":
            screenshot["quality"] = quality
        told = await self._draw(self._session.active, self.now, screenshot=screenshot)
        if "screenshotData" not in told:
            raise BrowserFailed("the browser gives no picture")
        if aside and not pictured:
            await self.refresh()
        return base64.b64decode(told["screenshotData"])

    def _offer(self, policy: str, ms: float) -> None:
        """Give time after some was used up."""
        self._expired.clear()
        self._broken = None
        self._kept = False
        self._give(policy, ms)

    def _give(self, policy: str, ms: float) -> None:
        """Let time pass in pages, until it is used up."""

        def told(answer: "asyncio.Future[Told]") -> None:
            if not answer.cancelled() and isinstance(failed := answer.exception(), BrowserFailed):
                self.broke(failed)

        self.keeper.send("Emulation.setVirtualTimePolicy", policy=policy, budget=ms).add_done_callback(told)

    async def _pass(self, due: int) -> None:
        """Wait until the time that was given has passed. Raises PageHung."""
        if self._expired.is_set() and not self._kept and self._broken is None:
            return
        try:
            async with asyncio.timeout(self.patience):
                await self._used_up()
                while self._kept:
                    # Time waits for an answer that waits for its time.
                    self._kept = False
                    self._expired.clear()
                    await self._session.answers.arrived()
                    left = due - await self._asked(self.keeper.ask("Date.now()"))
                    if left <= 0:
                        break
                    self._give("advance", left)
                    await self._used_up()
        except TimeoutError:
            raise PageHung(f"the page does not come to its next frame within {self.patience:.0f} s") from None
        if self._broken is not None:
            raise self._broken

    async def _used_up(self) -> None:
        """Wait until what was given has passed. What a page asked for in an input, while time stood, keeps it from
        passing until a frame is drawn, however long ago it was answered."""
        while not self._expired.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(STUCK_SECONDS):
                    await self._expired.wait()
                    return
            answers = self._session.answers
            if answers.count > self._counted and not answers.pending:
                await self._draw(self._session.active, self.now)

    async def _asked(self, answer: "asyncio.Future[Told]") -> int:
        """What time it is by an answer of the keeper. Raises BrowserFailed."""
        said = value(await bounded(answer, "the time", CALL_SECONDS))
        return round(float(said) - self._session.start_time * 1000)

    async def _draw(self, page: Page, at: float, *, seen: bool = True, **more: Any) -> Told:
        """Have a frame drawn, and again until the page's document has really drawn one: as it begins, and where it had
        nothing to draw before, the browser does not know yet that there is something. Raises PageHung, BrowserEnded."""
        self._session.check()
        for _ in range(MOST_TRIES):
            seen = seen or page.look.display or page.look.workers > 0
            told = await self._begin(page, at, more if seen else {**more, "noDisplayUpdates": True})
            drawn = page.drawn or await self._silent(page)
            if drawn and (seen or not page.look.display) and ("screenshot" not in more or "screenshotData" in told):
                break
        return told

    async def _silent(self, page: Page) -> bool:
        """Whether a page that tells of no frame says none when asked either: it goes, or has no prelude."""
        if page.leaving:
            return True
        look = Look.read(await self._session.heard(page, page.ask(ASK)))
        if look is not None:
            page.drew(look)
        return look is None or page.drawn

    async def _begin(self, page: Page, at: float, more: Told) -> Told:
        """Have one frame drawn, to its end even where nobody waits for it any more: where two are on their way in one
        browser, the process that draws ends, and with it what all its sessions have on their canvases."""
        drawing = asyncio.ensure_future(self._frame_of(page, at, more))
        drawing.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(drawing)

    async def _frame_of(self, page: Page, at: float, more: Told) -> Told:
        async with self._session.engine.drawing:
            page.drawn = False
            self._drawn = max(round(at * 1000), self._drawn + LEAST)
            self._counted = self._session.answers.count
            self._touched = False
            if "noDisplayUpdates" not in more:
                self._pictured = "screenshot" in more
            # The browser cuts what is below a microsecond, so what floats lose must not count.
            ticks = (self._base + self._drawn + 0.25) / 1000
            answer = page.send("HeadlessExperimental.beginFrame", frameTimeTicks=ticks, interval=FRAME_MS, **more)
            try:
                return await bounded(answer, "a frame", self.patience)
            except BrowserEnded:
                raise
            except BrowserFailed as failed:
                if "no answer" in str(failed):
                    await self._session.close()  # before anybody else draws
                    raise PageHung(str(failed)) from failed
                return {}  # the page has just closed

    def _others(self) -> "list[tuple[Page, asyncio.Future[Told]]]":
        """What the documents beside the active page's own are asked after time has passed."""
        active = self._session.active
        return [
            (page, page.ask(LATER, context))
            for page in self._session.pages
            for context, frame in page.contexts.items()
            if not page.leaving and (page is not active or frame != page.id)
        ]

    def _move(self) -> None:
        """Have workers moved to the present, as the first thing when time is given: before it passes, they and their
        pages have said to each other what they have to say."""
        for page in self._session.pages:
            for context in () if page.leaving else page.contexts:
                page.ask(f"void globalThis.__pilothouse?.spin({self.now})", context)
