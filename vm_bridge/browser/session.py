"""One session: pages that share storage, a site and a clock, and nothing with anybody else."""

import asyncio
import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from vm_bridge.browser.errors import BrowserEnded, BrowserFailed
from vm_bridge.browser.exact import ExactTime
from vm_bridge.browser.happenings import MOST_TEXT, Happening, Happenings
from vm_bridge.browser.page import Page
from vm_bridge.browser.pipe import Told
from vm_bridge.browser.site import Request, Response, Site
from vm_bridge.browser.words import Clock

if TYPE_CHECKING:
    from vm_bridge.browser.engine import Engine

PRELUDE = (Path(__file__).parent / "js" / "prelude.js").read_text(encoding="utf-8")
LOAD_MS = 10_000.0
START_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Rest:
    """How a settle ended."""

    settled: bool
    took_ms: float
    """Game time."""


class Session:
    """Made by `Engine.open`. Calls follow each other: whoever uses it waits for one before the next."""

    def __init__(
        self, engine: "Engine", context: str, site: Site, *, size: tuple[int, int], seed: int, start_time: float
    ) -> None:
        self.engine, self.context, self.site = engine, context, site
        self.size, self.seed, self.start_time = size, seed, start_time
        self.clock = engine.clock
        self.time = ExactTime(self)
        self.happenings = Happenings()
        self._pages: dict[str, Page] = {}
        self._active = ""
        self._tasks: set[asyncio.Task[None]] = set()
        self._pending = 0
        self._closed = False

    @property
    def pages(self) -> tuple[Page, ...]:
        return tuple(self._pages.values())

    @property
    def active(self) -> Page:
        """The page that is seen and acted on. Raises BrowserEnded when there is none."""
        try:
            return self._pages[self._active]
        except KeyError:
            raise BrowserEnded("the session has no page") from None

    @property
    def now_ms(self) -> float:
        """Game time since the start."""
        return self.time.now

    def take_events(self) -> tuple[Happening, ...]:
        """What happened since this was last asked."""
        return self.happenings.take()

    async def begin(self) -> None:
        """Open the first page. Raises BrowserFailed."""
        pipe = self.engine.pipe
        deny = {"behavior": "deny", "browserContextId": self.context, "eventsEnabled": True}
        pipe.send("Browser.setDownloadBehavior", **deny)
        made = await pipe.call(
            "Target.createTarget",
            url="about:blank",
            width=self.size[0],
            height=self.size[1],
            browserContextId=self.context,
            enableBeginFrameControl=self.clock is Clock.EXACT,
        )
        self._active = str(made["targetId"])
        page = self.active
        async with asyncio.timeout(START_SECONDS):
            await page.ready.wait()

    async def go(self, url: str, *, limit_ms: float = LOAD_MS) -> Rest:
        """Open an address on the active page, and let time pass until it has loaded. Raises BrowserFailed."""
        page = self.active
        page.loading = True
        navigated = page.send("Page.navigate", url=url)
        async with asyncio.timeout(START_SECONDS):
            told = await navigated
        if "loaderId" not in told:
            page.loading = False
        return await self.settle(limit_ms)

    async def settle(self, limit_ms: float) -> Rest:
        """Let time pass until nothing is on its way, at most so much."""
        began = self.now_ms
        while self.now_ms - began < limit_ms:
            await self.time.advance(1)
            if not self.active.loading and not self._pending:
                return Rest(True, self.now_ms - began)
        return Rest(False, self.now_ms - began)

    async def advance(self, ms: float) -> None:
        """Let game time pass, in whole frames."""
        await self.time.advance(ms)

    async def picture(self, kind: Literal["jpeg", "png"] = "jpeg", quality: int = 90) -> bytes:
        """The active page as it is now."""
        return await self.time.picture(kind, quality)

    async def evaluate(self, expression: str, *, world: Literal["main", "own"] = "main") -> Any:
        """The value of a script in the active page. Raises ScriptFailed."""
        return await self.active.evaluate(expression, world=world)

    async def mouse(
        self, kind: str, x: float, y: float, button: str = "none", clicks: int = 0, modifiers: int = 0
    ) -> None:
        """`kind` is moved, pressed or released; `buttons` follow from what is held."""
        page = await self._drawn()
        word = {"moved": "mouseMoved", "pressed": "mousePressed", "released": "mouseReleased"}[kind]
        sent = page.send(
            "Input.dispatchMouseEvent", type=word, x=x, y=y, button=button, clickCount=clicks, modifiers=modifiers
        )
        if kind == "moved":
            await self.time.refresh()
        async with asyncio.timeout(START_SECONDS):
            await sent

    async def close(self) -> None:
        """End it. Idempotent."""
        self.abandon()
        await self.engine.drop(self)

    def abandon(self) -> None:
        """Stop everything of it on this side."""
        self._closed = True
        for task in self._tasks:
            task.cancel()
        for page in self._pages.values():
            self.engine.pipe.forget(page.session)

    async def _drawn(self) -> Page:
        """The active page, once input reaches it."""
        if self.active.fresh:
            await self.time.refresh()
            self.active.fresh = False
        return self.active

    # What the browser tells

    def attached(self, session: str, info: Told) -> None:
        """A page has come to be, and waits."""
        page = Page(self.engine.pipe, info["targetId"], session, info.get("openerId", ""))
        self._pages[page.id] = page
        self.engine.pipe.listen(session, lambda event, told: self._told(page, event, told))
        self._spawn(self._prepare(page))

    def target_told(self, event: str, told: Told) -> None:
        """News of some target of the browser, maybe ours."""
        target = told.get("targetInfo", told).get("targetId", "")
        page = self._pages.get(target)
        if page is None:
            return
        match event:
            case "Target.targetInfoChanged":
                page.title = str(told["targetInfo"]["title"])[:MOST_TEXT]
            case "Target.targetCrashed":
                page.crashed = True
                self.happen("crashed", told.get("status", ""), page)
            case "Target.targetDestroyed":
                self._pages.pop(target)
                page.closed.set()
                self.engine.pipe.forget(page.session)

    def happen(self, kind: str, text: str, page: Page, **more: str) -> None:
        self.happenings.add(Happening(kind, text[:MOST_TEXT], self.now_ms, page.id, more))

    def _spawn(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _prepare(self, page: Page) -> None:
        settings = {"seed": self.seed, "exact": self.clock is Clock.EXACT}
        prelude = PRELUDE.replace("__SETTINGS__", json.dumps(settings), 1)
        calls = [
            page.send("Page.enable"),
            page.send("Runtime.enable"),
            page.send("Fetch.enable", patterns=[{"urlPattern": "*"}]),
            page.send("Page.addScriptToEvaluateOnNewDocument", source=prelude, runImmediately=True),
            page.send("Emulation.setFocusEmulationEnabled", enabled=True),
        ]
        await self.time.attach(page)
        await asyncio.gather(*calls)
        page.send("Runtime.runIfWaitingForDebugger")
        page.ready.set()

    def _told(self, page: Page, event: str, told: Told) -> None:
        match event:
            case "Emulation.virtualTimeBudgetExpired":
                self.time.expired()
            case "Fetch.requestPaused":
                self._pending += 1
                self._spawn(self._answer(page, told))
            case "Page.frameStartedLoading" if told["frameId"] == page.id:
                page.loading = True
            case "Page.frameStoppedLoading" if told["frameId"] == page.id:
                page.loading = False
            case "Page.frameNavigated" if told["frame"]["id"] == page.id:
                page.url = told["frame"]["url"] + told["frame"].get("urlFragment", "")
                page.fresh = True
                page.own_world = None
                self.happen("navigated", page.url, page)
            case "Page.navigatedWithinDocument" if told["frameId"] == page.id:
                page.url = told["url"]

    async def _answer(self, page: Page, told: Told) -> None:
        try:
            request = _request(told)
            try:
                response = await self.site.answer(request)
            except Exception as error:  # noqa: BLE001 - a site's mistake is a failed request, not the session's end
                self.happen("request_failed", f"{request.url}: {error}", page)
                response = Response(failure="Failed")
            self._give(page, told["requestId"], response)
        except BrowserFailed:
            return  # the page has gone
        finally:
            self._pending -= 1

    def _give(self, page: Page, request: str, response: Response) -> None:
        if response.failure:
            page.send("Fetch.failRequest", requestId=request, errorReason=response.failure)
            return
        page.send(
            "Fetch.fulfillRequest",
            requestId=request,
            responseCode=response.status,
            responseHeaders=[{"name": name, "value": text} for name, text in response.headers.items()],
            body=base64.b64encode(response.body).decode(),
        )


def _request(told: Told) -> Request:
    asked = told["request"]
    parts = asked.get("postDataEntries") or ()
    body = b"".join(base64.b64decode(part.get("bytes", "")) for part in parts)
    return Request(asked["method"], asked["url"], asked["headers"], body, told.get("resourceType", "Other"))
