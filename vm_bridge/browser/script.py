"""The script's clock: what pages take for time is moved by the prelude; the browser draws and loads by itself."""

import asyncio
import base64
import re
from typing import TYPE_CHECKING

from vm_bridge.browser.errors import BrowserFailed
from vm_bridge.browser.look import ASK, Look
from vm_bridge.browser.page import Page
from vm_bridge.browser.pipe import Told
from vm_bridge.browser.site import Response
from vm_bridge.browser.time import PATIENCE, Tick, boundary_after

if TYPE_CHECKING:
    from vm_bridge.browser.session import Session

DRAWN = "globalThis.__pilothouse ? __pilothouse.drawn() : null"
LOAD_SECONDS = 10.0


class ScriptTime:
    """A session's time, told to every document."""

    def __init__(self, session: "Session") -> None:
        self.now = 0
        self.patience = PATIENCE
        self._session = session

    async def begin(self, keeper: Page) -> None:
        """Nothing: the prelude stops time in every document."""

    def document(self, response: Response) -> Response:
        """Its first script tells it when it begins, and goes."""
        html = any(name.lower() == "content-type" and "html" in text for name, text in response.headers.items())
        if not html or not self.now:
            return response
        told = f"<script>globalThis.__pilothouse?.begin({self.now});document.currentScript.remove()</script>".encode()
        headers = {name: text for name, text in response.headers.items() if name.lower() != "content-length"}
        # Before the document's type it would change how the page is laid out.
        start = re.match(rb"(?:\xef\xbb\xbf)?\s*(?:<!doctype[^>]*>)?", response.body, re.IGNORECASE)
        end = start.end() if start else 0
        return Response(response.status, response.body[:end] + told + response.body[end:], headers)

    def drew(self, page: Page) -> None:
        """Not of this clock."""

    def touched(self) -> None:
        """Nothing waits for a frame here."""

    def expired(self) -> None:
        """Not of this clock."""

    def kept(self) -> None:
        """Nothing waits for it here."""

    def broke(self, failed: BrowserFailed) -> None:
        """Whoever waits for a page that ended is told by the answer itself."""

    async def frame(self, *, seen: bool) -> Tick:
        """See `Time.frame`. What changed is not known: what is drawn is the browser's own affair."""
        await self._loaded()
        await self._until(boundary_after(self.now))
        look = await self._look()
        return Tick(False, look.soon)

    async def _loaded(self) -> None:
        """Loading takes real time and no game time, but for what the site delays."""
        session = self._session
        await session.landed()
        try:
            async with asyncio.timeout(LOAD_SECONDS):
                while session.active.loading and not session.answers.delayed:
                    session.news.clear()
                    await session.news.wait()
        except TimeoutError:
            session.active.loading = False
        if session.active.fresh and not session.active.leaving:
            await self.refresh()

    async def advance(self, frames: int) -> None:
        """See `Time.advance`."""
        while frames > 0:
            single = sum(len(page.contexts) for page in self._session.pages) <= 1
            step = frames if single and not self._session.answers.delayed else 1
            end = self.now
            for _ in range(step):
                end = boundary_after(end)
            await self._until(end)
            frames -= step

    async def refresh(self, *, seen: bool = True) -> None:
        """See `Time.refresh`."""
        page = self._session.active
        if not page.leaving:
            await self._session.heard(page, page.ask(DRAWN))
        page.fresh = False

    async def picture(self, kind: str, quality: int, *, aside: bool = False) -> bytes:
        """See `Time.picture`."""
        asked: Told = {"format": kind, "optimizeForSpeed": True}
        if kind != "png":
            asked["quality"] = quality
        told = await self._session.active.call("Page.captureScreenshot", **asked)
        return base64.b64decode(told["data"])

    async def _until(self, end: int) -> None:
        session = self._session
        session.check()
        session.answers.release(self.now)
        await session.answers.arrived()
        asked = [
            (page, page.ask(f"globalThis.__pilothouse?.until({end})", context))
            for page in session.pages
            for context in (() if page.leaving else page.contexts)
        ]
        for page, answer in asked:
            await session.heard(page, answer)
        self.now = end

    async def _look(self) -> Look:
        page = self._session.active
        look = None if page.leaving else Look.read(await self._session.heard(page, page.ask(ASK)))
        if look is None:
            return Look()
        page.title = look.title
        return look
