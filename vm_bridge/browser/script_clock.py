"""The script clock: the prelude moves the time that pages see. The browser draws and loads by itself."""

import asyncio
import base64
import re

from vm_bridge.browser.clocks import FRAME_TIMEOUT_SECONDS, FrameResult, next_frame_time
from vm_bridge.browser.document_state import STATE_SCRIPT, DocumentState
from vm_bridge.browser.errors import BrowserFailed
from vm_bridge.browser.interfaces import PendingRequests, SessionInterface
from vm_bridge.browser.page import Page
from vm_bridge.browser.pipe import CdpPayload
from vm_bridge.browser.site import Response

DRAW_SCRIPT = "globalThis.__pilothouse ? __pilothouse.drawn() : null"
LOAD_SECONDS = 10.0


class ScriptClock:
    """A session's clock, set in every document."""

    def __init__(self, session: SessionInterface, requests: PendingRequests) -> None:
        self.now = 0
        self.frame_timeout = FRAME_TIMEOUT_SECONDS
        self._session, self._requests = session, requests

    async def begin(self, clock_page: Page) -> None:
        """Does nothing: the prelude stops time in every document."""

    def document(self, response: Response) -> Response:
        """Adds a first script that sets the start time, and then removes itself."""
        html = any(name.lower() == "content-type" and "html" in text for name, text in response.headers.items())
        if not html or not self.now:
            return response
        payload = (
            f"<script>globalThis.__pilothouse?.begin({self.now});document.currentScript.remove()</script>".encode()
        )
        headers = {name: text for name, text in response.headers.items() if name.lower() != "content-length"}
        # In front of the doctype it would change the page's layout.
        start = re.match(rb"(?:\xef\xbb\xbf)?\s*(?:<!doctype[^>]*>)?", response.body, re.IGNORECASE)
        end = start.end() if start else 0
        return Response(response.status, response.body[:end] + payload + response.body[end:], headers)

    def on_frame_drawn(self, page: Page) -> None:
        """Not used by this clock."""

    def on_input(self) -> None:
        """Does nothing: nothing waits for a frame here."""

    def on_budget_expired(self) -> None:
        """Not used by this clock."""

    def hold(self) -> None:
        """Does nothing: nothing waits for it here."""

    def on_page_failed(self, failed: BrowserFailed) -> None:
        """Does nothing: the pending call on an ended page fails itself."""

    async def frame(self, *, seen: bool) -> FrameResult:
        """See `PageClock.frame`. Changes are unknown, because the browser decides when it draws."""
        await self._wait_until_loaded()
        await self._advance_documents(next_frame_time(self.now))
        state = await self._read_state()
        return FrameResult(False, state.next_timer_ms)

    async def _wait_until_loaded(self) -> None:
        """Wait for loading, which takes real time and no game time, except for delays by the site."""
        session = self._session
        await session.wait_for_navigations()
        try:
            async with asyncio.timeout(LOAD_SECONDS):
                while session.active.loading and not self._requests.delayed:
                    session.page_changed.clear()
                    await session.page_changed.wait()
        except TimeoutError:
            session.active.loading = False
        if session.active.awaiting_first_frame and not session.active.navigating:
            await self.refresh()

    async def advance(self, frames: int) -> None:
        """See `PageClock.advance`."""
        while frames > 0:
            single = sum(len(page.contexts) for page in self._session.pages) <= 1
            step = frames if single and not self._requests.delayed else 1
            end = self.now
            for _ in range(step):
                end = next_frame_time(end)
            await self._advance_documents(end)
            frames -= step

    async def refresh(self, *, seen: bool = True) -> None:
        """See `PageClock.refresh`."""
        page = self._session.active
        if not page.navigating:
            await self._session.await_script_result(page, page.ask(DRAW_SCRIPT))
        page.awaiting_first_frame = False

    async def picture(self, kind: str, quality: int, *, passive: bool = False) -> bytes:
        """See `PageClock.picture`."""
        pending: CdpPayload = {"format": kind, "optimizeForSpeed": True}
        if kind != "png":
            pending["quality"] = quality
        payload = await self._session.active.call("Page.captureScreenshot", **pending)
        return base64.b64decode(payload["data"])

    async def _advance_documents(self, end: int) -> None:
        session = self._session
        session.check()
        self._requests.release(self.now)
        await self._requests.wait_for_deliveries()
        pending = [
            (page, page.ask(f"globalThis.__pilothouse?.until({end})", context))
            for page in session.pages
            for context in (() if page.navigating else page.contexts)
        ]
        for page, answer in pending:
            await session.await_script_result(page, answer)
        self.now = end

    async def _read_state(self) -> DocumentState:
        page = self._session.active
        state = (
            None
            if page.navigating
            else DocumentState.read(await self._session.await_script_result(page, page.ask(STATE_SCRIPT)))
        )
        if state is None:
            return DocumentState()
        page.title = state.title
        return state
