"""One session: pages that share storage, a site and a clock, isolated from other sessions."""

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from vm_bridge.browser.cdp_events import MAX_PAGES, CdpEventHandler
from vm_bridge.browser.clocks import FRAME_MS, Clock, PageClock
from vm_bridge.browser.document_state import FRAME_BINDING
from vm_bridge.browser.errors import BrowserEnded, BrowserFailed, PageHung
from vm_bridge.browser.events import MAX_TEXT, BrowserEvent, EventBuffer
from vm_bridge.browser.exact_clock import ExactClock
from vm_bridge.browser.frame_stream import FrameStream
from vm_bridge.browser.input import InputDispatcher
from vm_bridge.browser.interfaces import EngineInterface
from vm_bridge.browser.page import SCRIPT_SECONDS, Page, evaluation_value
from vm_bridge.browser.pipe import CALL_SECONDS, CdpPayload
from vm_bridge.browser.request_interception import RequestInterceptor
from vm_bridge.browser.script_clock import ScriptClock
from vm_bridge.browser.site import Site

PRELUDE = (Path(__file__).parent / "js" / "prelude.js").read_text(encoding="utf-8")
LOAD_MS = 10_000.0
NAVIGATION_SECONDS = 10.0
MAX_FRAMES_PER_LOCK = 60
"""Frames that run before other sessions get a turn."""
TIMER_WAIT_MS = 250.0
"""A page does not rest while a one-shot timer is due within this time."""


@dataclass(frozen=True, slots=True)
class SettleResult:
    """How a settle ended."""

    settled: bool
    took_ms: float
    """Game time."""


class Session(InputDispatcher):
    """Created by `Engine.open`. Calls must be sequential: await each call before the next."""

    def __init__(
        self, engine: EngineInterface, context: str, site: Site, *, size: tuple[int, int], seed: int, start_time: float
    ) -> None:
        self.engine, self.context = engine, context
        self.size, self.seed, self.start_time = size, seed, start_time
        self.clock = engine.clock
        self.page_changed = asyncio.Event()
        """Set whenever the browser reports a page."""
        self.interceptor = RequestInterceptor(
            self,
            site,
            self._prelude,
            on_delayed=lambda: self.time.hold(),
            prepare_document=lambda response: self.time.document(response),
        )
        self.time: PageClock = ScriptClock(self, self.interceptor)
        if self.clock is Clock.EXACT:
            self.time = ExactClock(self, self.interceptor, engine.drawing)
        self._events = EventBuffer()
        self._event_handler = CdpEventHandler(self, self.time, self.interceptor)
        self._pages: dict[str, Page] = {}
        self._active = ""
        self._clock_page: Page | None = None
        self._page_expected = False
        """Whether the next page was requested here. Otherwise a page opened it."""
        self.popup_blocked = False
        """Whether a window was refused: the browser may then count its first request as in flight for ever."""
        self.frame_stream = FrameStream(self)
        """Its picture stream for viewers."""
        self._frame_lock = asyncio.Lock()
        """Held while a frame passes or is captured: the engine's user and viewers take turns."""

    @property
    def pages(self) -> tuple[Page, ...]:
        return tuple(self._pages.values())

    @property
    def active(self) -> Page:
        """The page that is displayed and receives input. Raises BrowserEnded if there is none."""
        try:
            return self._pages[self._active]
        except KeyError:
            raise BrowserEnded("the session has no page") from None

    def check(self) -> Page:
        """The active page, if it is alive. Raises BrowserFailed."""
        if self.active.crashed:
            raise BrowserFailed("the page has crashed")
        return self.active

    @property
    def now_ms(self) -> float:
        """Game time since the start."""
        return self.time.now

    def page(self, page_id: str) -> Page | None:
        return self._pages.get(page_id)

    def take_events(self) -> tuple[BrowserEvent, ...]:
        """Events since the last call."""
        return self._events.drain()

    # Navigation

    async def goto(self, url: str, *, limit_ms: float = LOAD_MS) -> SettleResult:
        """Open a URL on the active page, and advance time until it has loaded. Raises BrowserFailed."""
        page = self.active
        page.navigating = True
        # The answer arrives with the document, which may take long.
        page.send("Page.navigate", url=url).add_done_callback(
            lambda answer: self._on_navigate_answer(page, url, answer)
        )
        return await self.settle(limit_ms, still=False)

    def _on_navigate_answer(self, page: Page, url: str, answer: "asyncio.Future[CdpPayload]") -> None:
        payload = {} if answer.cancelled() or answer.exception() else answer.result()
        if "loaderId" not in payload or "errorText" in payload:
            page.navigating = False
        if word := payload.get("errorText"):
            self.report_event("request_failed", f"{url}: {word}", page, word=word)

    async def go_back(self) -> bool:
        """Go back in the active page's history. Returns False if there is no earlier page."""
        return await self._history(-1)

    async def reload(self) -> None:
        """Reload the active page; `settle` waits for it."""
        page = self.active
        page.navigating = True
        await page.call("Page.reload")

    async def _history(self, by: int) -> bool:
        page = self.active
        payload = await page.call("Page.getNavigationHistory")
        index = payload["currentIndex"] + by
        if not 0 <= index < len(payload["entries"]) or payload["entries"][index]["url"] == "about:blank":
            return False
        page.navigating = True
        await page.call("Page.navigateToHistoryEntry", entryId=payload["entries"][index]["id"])
        return True

    async def activate_page(self, page_id: str) -> None:
        """Make another page the active one. Raises KeyError."""
        page = self._pages[page_id]
        with suppress(BrowserEnded, KeyError):
            self._pages[self._active].send("Emulation.setFocusEmulationEnabled", enabled=False)
        self._active = page.id
        page.awaiting_first_frame = True
        await page.call("Emulation.setFocusEmulationEnabled", enabled=True)

    async def close_page(self, page_id: str) -> None:
        """Close a page. An empty page replaces the last one. Raises KeyError, BrowserFailed."""
        page = self._pages[page_id]
        await self.engine.pipe.call("Target.closeTarget", targetId=page.id)
        with suppress(TimeoutError):
            async with asyncio.timeout(CALL_SECONDS):
                await page.closed.wait()
        await self.ensure_page()

    # Time

    async def advance(self, ms: float) -> None:
        """Advance game time in whole frames, at least one. Raises PageHung."""
        left = max(1, round(ms / FRAME_MS)) if ms > 0 else 0
        while left > 0:
            frames = min(left, 1 if self.frame_stream.watched else MAX_FRAMES_PER_LOCK)
            async with self._frame_lock:
                await self.time.advance(frames)
            self.frame_stream.touch()
            left -= frames

    async def refresh(self) -> None:
        """Draw changes without advancing time."""
        async with self._frame_lock:
            await self.time.refresh()
        self.frame_stream.touch()

    async def settle(self, limit_ms: float, *, still: bool = True) -> SettleResult:
        """Advance time until nothing is in flight (loading, responses), but at most by `limit_ms`. With `still`, also
        until no one-shot timers are due and nothing changes.
        """
        began = self.now_ms
        while self.now_ms - began < limit_ms:
            await self.ensure_page()
            async with self._frame_lock:
                tick = await self.time.frame(seen=still)
            self.frame_stream.touch()
            moving = still and (tick.changed or tick.next_timer_ms <= TIMER_WAIT_MS)
            if not (moving or self.active.busy or self.interceptor.pending):
                return SettleResult(True, self.now_ms - began)
        return SettleResult(False, self.now_ms - began)

    async def advance_until(self, at_ms: float) -> None:
        """Advance to a time at which an earlier `settle` ended, without a picture. Raises PageHung."""
        while self.now_ms < at_ms:
            await self.ensure_page()
            async with self._frame_lock:
                await self.time.frame(seen=False)
            self.frame_stream.touch()

    async def draw_without_screenshot(self) -> None:
        """Apply all effects of a picture on the page without taking it. Raises BrowserFailed."""
        await self.ensure_page()
        async with self._frame_lock:
            await self.time.refresh(seen=False)

    # Pictures

    async def picture(
        self, kind: Literal["jpeg", "png"] = "jpeg", quality: int = 90, *, passive: bool = False
    ) -> bytes:
        """The active page now. A `passive` picture has no effect on later settling. Raises BrowserFailed."""
        await self.ensure_page()
        async with self._frame_lock:
            return await self.time.picture(kind, quality, passive=passive)

    async def evaluate(
        self, expression: str, *, world: Literal["main", "own"] = "main", seconds: float = SCRIPT_SECONDS
    ) -> Any:
        """The value of a script in the active page, which is stopped at the timeout. Raises ScriptFailed."""
        return await self.active.evaluate(expression, world=world, seconds=seconds)

    # Lifecycle

    async def begin(self, clock_page: Page | None) -> None:
        """Open the first page. The exact clock sends its time commands to the empty page `clock_page`. Raises
        BrowserFailed.
        """
        self.engine.pipe.send(
            "Browser.setDownloadBehavior", behavior="deny", browserContextId=self.context, eventsEnabled=True
        )
        if clock_page is not None:
            self._clock_page = clock_page
            self.engine.pipe.listen(clock_page.session, lambda event, payload: self._event_handler.clock_page(event))
            await self.time.begin(clock_page)
        await self._open_page()

    async def wait_for_navigations(self, *, submissions: bool = True) -> None:
        """Wait until every navigating page has its document, or waits for it in game time. Without `submissions`, pages
        that sent a form and need time to begin are not waited for.
        """
        try:
            async with asyncio.timeout(NAVIGATION_SECONDS):
                while any(
                    page.navigating
                    and (submissions or not page.submitting)
                    and not self.interceptor.delays_document(page)
                    for page in self._pages.values()
                ):
                    self.page_changed.clear()
                    await self.page_changed.wait()
        except TimeoutError:
            for page in self._pages.values():
                page.navigating = False

    async def await_script_result(self, page: Page, answer: "asyncio.Future[CdpPayload]") -> Any:
        """The result of a page's script, or None if its document is replaced first. Raises PageHung, BrowserEnded."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + self.time.frame_timeout
        while not (answer.done() or page.navigating or page.crashed or page.closed.is_set()):
            self.page_changed.clear()
            page_changed = asyncio.ensure_future(self.page_changed.wait())
            left = ends - loop.time()
            await asyncio.wait((answer, page_changed), timeout=max(left, 0), return_when=asyncio.FIRST_COMPLETED)
            page_changed.cancel()
            if left <= 0:
                raise PageHung(f"the page does not answer within {self.time.frame_timeout:.0f} s")
        try:
            return evaluation_value(answer.result()) if answer.done() else None
        except BrowserEnded:
            raise
        except BrowserFailed:
            return None

    async def close(self) -> None:
        """Close the session. Idempotent."""
        self.abandon()
        await self.frame_stream.close()
        await self.engine.dispose_session(self.context)

    def abandon(self) -> None:
        """Stop all of its activity on this side."""
        self._event_handler.close()
        for page in self._pages.values():
            self.engine.pipe.forget(page.session)

    def report_event(self, kind: str, text: str, page: Page, **more: str) -> None:
        """Store an event for later."""
        self._events.add(BrowserEvent(kind, text[:MAX_TEXT], self.now_ms, page.id, more))

    def on_target_attached(self, session: str, info: CdpPayload) -> None:
        """A page was created, and waits."""
        pipe = self.engine.pipe
        expected, self._page_expected = self._page_expected, False
        page = Page(pipe, info["targetId"], session, info.get("openerId", ""), window=not expected)
        if len(self._pages) >= MAX_PAGES:
            # Its opener waits until it continues.
            self.popup_blocked = True
            pipe.send("Runtime.runIfWaitingForDebugger", session)
            pipe.send("Target.closeTarget", targetId=page.id)
            return self.report_event("popup_refused", f"{MAX_PAGES} pages are open", page)
        self._pages[page.id] = page
        pipe.listen(session, lambda event, payload: self._event_handler.page(page, event, payload))
        if page.window:
            self.report_event("popup", "a window opened", page)
        self._event_handler.do(self._prepare(page))

    def on_target_event(self, event: str, payload: CdpPayload) -> None:
        """Handle a target event of the browser, which may be for this session."""
        if event == "Browser.downloadWillBegin":
            if self._owns(payload["frameId"]):
                self._event_handler.download(payload)
            return
        page = self._pages.get(payload["targetId"])
        if page is None:
            return
        if event == "Target.targetCrashed":
            self.page_changed.set()
            return self._event_handler.crashed(page)
        self._pages.pop(page.id)
        page.closed.set()
        self.interceptor.forget(page)
        self.engine.pipe.forget(page.session)
        self.report_event("closed", page.url, page)
        if self._active == page.id:
            self._active = page.opener if page.opener in self._pages else next(reversed(self._pages), "")
            if self._active:
                self.active.awaiting_first_frame = True
        self.page_changed.set()

    def _owns(self, frame: str) -> bool:
        return frame in self._pages or any(frame in page.contexts.values() for page in self.pages)

    def _prelude(self) -> str:
        settings = {"seed": self.seed, "exact": self.clock is Clock.EXACT, "start": round(self.start_time * 1000)}
        settings["now"] = self.time.now  # for workers; documents know it already
        return PRELUDE.replace("__SETTINGS__", json.dumps(settings), 1)

    async def _open_page(self) -> None:
        self._page_expected = True
        self._active = await create_empty_page(self.engine, self.context, self.size)
        page = self.active
        try:
            async with asyncio.timeout(CALL_SECONDS):
                await page.ready.wait()
        except TimeoutError:
            raise BrowserFailed("a new page is not ready in time") from None

    async def ensure_page(self) -> None:
        """Make sure that there is a page."""
        if not self._pages:
            await self._open_page()

    async def _prepare(self, page: Page) -> None:
        """Send a page everything that must precede its first script, then resume it."""
        calls = [
            page.send("Page.enable"),
            page.send("Runtime.enable"),
            page.send("Runtime.addBinding", name=FRAME_BINDING),
            page.send("Network.enable", maxTotalBufferSize=0, maxResourceBufferSize=0),
            page.send("Fetch.enable", patterns=[{"urlPattern": "*"}]),
            page.send("Page.addScriptToEvaluateOnNewDocument", source=self._prelude(), runImmediately=True),
            # A page's content policy must not block the prelude's workers.
            page.send("Page.setBypassCSP", enabled=True),
            page.send("Page.setInterceptFileChooserDialog", enabled=True),
            page.send("Emulation.setFocusEmulationEnabled", enabled=True),
        ]
        if page.window or self.clock is not Clock.EXACT:
            width, height = self.size
            metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
            calls.append(page.send("Emulation.setDeviceMetricsOverride", **metrics))
        # A window without an opener has no renderer before it is resumed, and answers only then.
        calls.append(page.send("Runtime.runIfWaitingForDebugger"))
        for answer in asyncio.as_completed(calls):
            with suppress(BrowserFailed):
                await answer
        page.ready.set()
        if page.window and page.id in self._pages:
            self._active = page.id
            self.page_changed.set()


async def create_empty_page(engine: EngineInterface, context: str, size: tuple[int, int]) -> str:
    """Create an empty page of this size (pixels) in a browser context. Returns its id. Raises BrowserFailed."""
    made = await engine.pipe.call(
        "Target.createTarget",
        url="about:blank",
        width=size[0],
        height=size[1],
        browserContextId=context,
        enableBeginFrameControl=engine.clock is Clock.EXACT,
    )
    return str(made["targetId"])
