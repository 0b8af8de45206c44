"""The exact clock: the browser's own virtual time, advanced frame by frame. Each frame is drawn when it is due.

Frames fall on whole milliseconds (0, 17, 33, 50, …), as all timers do. So scripts read the same times in every run.
"""

import asyncio
import base64
import contextlib
from typing import Any

from vm_bridge.browser.clocks import FRAME_MS, FRAME_TIMEOUT_SECONDS, FrameResult, next_frame_time
from vm_bridge.browser.document_state import STATE_AFTER_TIME_SCRIPT, STATE_SCRIPT, DocumentState
from vm_bridge.browser.errors import BrowserEnded, BrowserFailed, PageHung
from vm_bridge.browser.interfaces import PendingRequests, SessionInterface
from vm_bridge.browser.page import Page, evaluation_value
from vm_bridge.browser.pipe import CALL_SECONDS, CdpPayload, within_timeout
from vm_bridge.browser.site import Response

NEVER = 1e9
MIN_FRAME_GAP = 1
"""Distance of two frames with no time between them (microseconds): the browser's smallest unit."""
STALLED_SECONDS = 2.0
"""How long time may stall after requests that were all answered."""
MAX_TRIES = 50
"""Maximum frames drawn until a document has drawn one."""


class ExactClock:
    """A session's time, made by the browser."""

    def __init__(self, session: SessionInterface, requests: PendingRequests, drawing: asyncio.Lock) -> None:
        """`drawing` is held while a frame is drawn: all sessions of one browser share it."""
        self.now = 0
        self.frame_timeout = FRAME_TIMEOUT_SECONDS
        self._session, self._requests, self._drawing = session, requests, drawing
        self._clock_page: Page | None = None
        self._base = 0
        """The browser's ticks when time began (microseconds)."""
        self._last_frame_us = -1
        """Time of the last frame from there (microseconds). The browser never answers a frame that is not later."""
        self._requests_at_frame = 0
        """Number of requests when the last frame was drawn."""
        self._budget_expired = asyncio.Event()
        self._input_since_frame = False
        """Whether pages received input since."""
        self._workers = False
        """Whether pages have workers, whose time must be advanced."""
        self._response_delayed = False
        """Whether a response was delayed while time ran."""
        self._page_failure: BrowserFailed | None = None
        self._ahead = False
        """Whether the time of the following frame may start as soon as a page has drawn this one."""
        self._screenshot_since_frame = False
        """Whether a picture was taken since the last displayed frame: the next one then shows a change."""
        self._frame_due_ms = 0
        """When the frame being drawn is due."""
        self._granted_until = 0
        """End of the time budget that was started ahead (see `_ahead`); zero if there is none."""

    async def begin(self, clock_page: Page) -> None:
        """Stop time before the session's first script. Raises BrowserFailed.

        All pages of a session live in one process and share its time. Time commands go to `clock_page`, an empty hidden
        page: a page that is navigating takes no calls.
        """
        start = self._session.start_time
        payload = await clock_page.call("Emulation.setVirtualTimePolicy", policy="pause", initialVirtualTime=start)
        self._base = round(float(payload["virtualTimeTicksBase"]) * 1000)
        self._clock_page = clock_page

    @property
    def clock_page(self) -> Page:
        """The page that takes time commands. Raises BrowserEnded before there is one."""
        if self._clock_page is None:
            raise BrowserEnded("time has not begun")
        return self._clock_page

    def document(self, response: Response) -> Response:
        """Returns the response unchanged: the browser knows when the document begins."""
        return response

    def on_input(self) -> None:
        """A page received input. Requests that the page makes in response would keep time from passing until it has
        drawn a frame.
        """
        self._input_since_frame = True

    def on_budget_expired(self) -> None:
        """The time budget is used up."""
        self._budget_expired.set()

    def hold(self) -> None:
        """A response is delayed; the browser would keep time from passing until then."""
        self._response_delayed = True
        self._budget_expired.set()

    def on_page_failed(self, failed: BrowserFailed) -> None:
        """A page ended while the clock waited for it."""
        self._page_failure = failed
        self._budget_expired.set()

    def on_frame_drawn(self, page: Page) -> None:
        """A page has drawn a frame. The time until its next frame starts while the browser still processes this one,
        because the page is done with it.
        """
        session = self._session
        alone = page is session.active and len(session.pages) == len(page.contexts) == 1
        hold = page.busy or page.state.must_be_seen or self._requests.pending or session.popup_blocked
        if self._ahead and alone and page.drawn and not hold:
            self._ahead = False
            self._granted_until = next_frame_time(self._frame_due_ms)
            self._start_budget("pauseIfNetworkFetchesPending", self._granted_until - self._frame_due_ms)

    async def frame(self, *, seen: bool = True, ahead: bool = False) -> FrameResult:
        """See `PageClock.frame`; `ahead` means that another frame follows. Raises PageHung, BrowserEnded."""
        page, due, self._granted_until = self._session.check(), self._granted_until, 0
        if not due:
            due = await self._begin_time()
        await self._wait_until_due(due)
        other_documents = self._query_other_documents()
        self._frame_due_ms, self._ahead = due, ahead and not seen
        payload = await self._draw(page, due, seen=seen or bool(other_documents))
        self._ahead = False
        # Loading advances the browser's time by itself.
        clock_known = (page.drawn and not page.busy) or self._granted_until
        self.now = max(
            due, page.state.now if clock_known else await self._read_clock(self.clock_page.ask("Date.now()"))
        )
        workers, next_timer_ms = (page.state.workers, page.state.next_timer_ms) if page.drawn else (0, NEVER)
        for other, answer in other_documents:
            if state := DocumentState.read(await self._session.await_script_result(other, answer)):
                workers, next_timer_ms = workers + state.workers, min(next_timer_ms, state.next_timer_ms)
        self._workers = workers > 0
        return FrameResult(bool(payload.get("hasDamage")), next_timer_ms)

    async def _begin_time(self) -> int:
        """Start the time until the next frame. Returns when that frame is due. Raises PageHung, BrowserEnded."""
        if self._input_since_frame and not self._session.active.navigating:
            await self._draw(self._session.active, self.now, seen=False)
        self._requests.release(self.now)
        if self._requests.requested:  # a response after the budget was given would move it
            await self._requests.wait_for_requested()
        await self._session.wait_for_navigations(submissions=False)
        due = next_frame_time(self.now)
        if self._requests.delayed:
            await self._requests.wait_for_deliveries()
        if self._workers:
            self._advance_workers()
        self._start_budget(
            "advance" if self._requests.delayed or self._session.popup_blocked else "pauseIfNetworkFetchesPending",
            due - self.now,
        )
        return due

    async def advance(self, frames: int) -> None:
        """See `PageClock.advance`. Pages draw every frame; the last one is displayed."""
        for left in reversed(range(frames)):
            await self.frame(seen=left == 0, ahead=left > 0)

    async def refresh(self, *, seen: bool = True) -> None:
        """See `PageClock.refresh`."""
        await self._draw(self._session.active, self.now, seen=seen)

    async def picture(self, kind: str, quality: int, *, passive: bool = False) -> bytes:
        """See `PageClock.picture`. Raises BrowserFailed."""
        screenshot_before = self._screenshot_since_frame
        screenshot: CdpPayload = {"format": kind, "optimizeForSpeed": True}
        if kind != "png":
            screenshot["quality"] = quality
        payload = await self._draw(self._session.active, self.now, screenshot=screenshot)
        if "screenshotData" not in payload:
            raise BrowserFailed("the browser gives no picture")
        if passive and not screenshot_before:
            await self.refresh()
        return base64.b64decode(payload["screenshotData"])

    def _start_budget(self, policy: str, ms: float) -> None:
        """Give a new time budget after the previous one was used up."""
        self._budget_expired.clear()
        self._page_failure = None
        self._response_delayed = False
        self._extend_budget(policy, ms)

    def _extend_budget(self, policy: str, ms: float) -> None:
        """Let time pass in pages until the budget is used up."""

        def on_answer(answer: "asyncio.Future[CdpPayload]") -> None:
            if not answer.cancelled() and isinstance(failed := answer.exception(), BrowserFailed):
                self.on_page_failed(failed)

        self.clock_page.send("Emulation.setVirtualTimePolicy", policy=policy, budget=ms).add_done_callback(on_answer)

    async def _wait_until_due(self, due: int) -> None:
        """Wait until the given time has passed. Raises PageHung."""
        if self._budget_expired.is_set() and not self._response_delayed and self._page_failure is None:
            return
        try:
            async with asyncio.timeout(self.frame_timeout):
                await self._wait_budget_expired()
                while self._response_delayed:
                    # Time waits for a response that waits for its time.
                    self._response_delayed = False
                    self._budget_expired.clear()
                    await self._requests.wait_for_deliveries()
                    left = due - await self._read_clock(self.clock_page.ask("Date.now()"))
                    if left <= 0:
                        break
                    self._extend_budget("advance", left)
                    await self._wait_budget_expired()
        except TimeoutError:
            raise PageHung(f"the page does not come to its next frame within {self.frame_timeout:.0f} s") from None
        if self._page_failure is not None:
            raise self._page_failure

    async def _wait_budget_expired(self) -> None:
        """Wait until the time budget has passed.

        A request that a page made during input, while time stood still, keeps time from passing until a frame is drawn.
        It does not matter how long ago it was answered.
        """
        while not self._budget_expired.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(STALLED_SECONDS):
                    await self._budget_expired.wait()
                    return
            if self._requests.count > self._requests_at_frame and not self._requests.pending:
                await self._draw(self._session.active, self.now)

    async def _read_clock(self, answer: "asyncio.Future[CdpPayload]") -> int:
        """The current time, from an answer of the clock page. Raises BrowserFailed."""
        reply = evaluation_value(await within_timeout(answer, "the time", CALL_SECONDS))
        return round(float(reply) - self._session.start_time * 1000)

    async def _draw(self, page: Page, at: float, *, seen: bool = True, **more: Any) -> CdpPayload:
        """Draw a frame, and retry until the page's document has really drawn one.

        A document that has just begun, or had nothing to draw before, has not told the browser yet that there is
        something. Raises PageHung, BrowserEnded.
        """
        self._session.check()
        seen = seen or page.state.must_be_seen
        for _ in range(MAX_TRIES):
            payload = await self._draw_uninterrupted(page, at, more if seen else {**more, "noDisplayUpdates": True})
            if not (page.drawn or await self._is_silent(page)):
                continue
            complete = seen or not page.state.requires_display
            if complete and ("screenshot" not in more or "screenshotData" in payload):
                break
            # Decide only after a frame. A document may report `must_be_seen` with its first frame, or only after a
            # second one (`_is_silent` asks). Either way it goes through the same number of frames.
            seen = seen or page.state.must_be_seen
        return payload

    async def _is_silent(self, page: Page) -> bool:
        """Whether a page that reports no frame also reports none when asked: it is closing, or has no prelude."""
        if page.navigating:
            return True
        state = DocumentState.read(await self._session.await_script_result(page, page.ask(STATE_SCRIPT)))
        if state is not None:
            page.on_frame_drawn(state)
        return state is None or page.drawn

    async def _draw_uninterrupted(self, page: Page, at: float, more: CdpPayload) -> CdpPayload:
        """Draw one frame to its end, even if the caller is cancelled.

        Two concurrent frames in one browser would end its GPU process, and with it the canvases of all its sessions.
        """
        drawing = asyncio.ensure_future(self._frame_of(page, at, more))
        drawing.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(drawing)

    async def _frame_of(self, page: Page, at: float, more: CdpPayload) -> CdpPayload:
        async with self._drawing:
            page.drawn = False
            self._last_frame_us = max(round(at * 1000), self._last_frame_us + MIN_FRAME_GAP)
            self._requests_at_frame = self._requests.count
            self._input_since_frame = False
            if "noDisplayUpdates" not in more:
                self._screenshot_since_frame = "screenshot" in more
            # The browser truncates below a microsecond, so float errors must not count.
            ticks = (self._base + self._last_frame_us + 0.25) / 1000
            answer = page.send("HeadlessExperimental.beginFrame", frameTimeTicks=ticks, interval=FRAME_MS, **more)
            try:
                return await within_timeout(answer, "a frame", self.frame_timeout)
            except BrowserEnded:
                raise
            except BrowserFailed as failed:
                if "no answer" in str(failed):
                    await self._session.close()  # before another session draws
                    raise PageHung(str(failed)) from failed
                return {}  # the page has just closed

    def _query_other_documents(self) -> "list[tuple[Page, asyncio.Future[CdpPayload]]]":
        """Query the state of all documents but the active page's main one, after time has passed."""
        active = self._session.active
        return [
            (page, page.ask(STATE_AFTER_TIME_SCRIPT, context))
            for page in self._session.pages
            for context, frame in page.contexts.items()
            if not page.navigating and (page is not active or frame != page.id)
        ]

    def _advance_workers(self) -> None:
        """Move workers to the current time as the first step when time is given. Before time passes, workers and pages
        have exchanged their messages.
        """
        for page in self._session.pages:
            for context in () if page.navigating else page.contexts:
                page.ask(f"void globalThis.__pilothouse?.spin({self.now})", context)
