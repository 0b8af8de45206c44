"""One browser process and the sessions in it."""

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vm_bridge.browser.bubblewrap import check_sandbox
from vm_bridge.browser.clocks import Clock
from vm_bridge.browser.errors import BrowserFailed, BubblewrapUnavailable
from vm_bridge.browser.page import Page
from vm_bridge.browser.pipe import CdpPayload, Pipe
from vm_bridge.browser.process import Process
from vm_bridge.browser.session import Session, create_empty_page
from vm_bridge.browser.site import Request, Response, Site

RENDERER_SCRIPT = """(() => {
  const gl = document.createElement("canvas").getContext("webgl");
  const named = gl && gl.getExtension("WEBGL_debug_renderer_info");
  return gl ? String(gl.getParameter(named ? named.UNMASKED_RENDERER_WEBGL : gl.RENDERER)) : "";
})()"""
SOFTWARE = ("swiftshader", "llvmpipe", "lavapipe", "software", "basic render")
"""Names of renderers that draw without a graphics card."""
SELF_TEST_PAGE = b"<script>let frames = 0; (function step() { frames++; requestAnimationFrame(step) })()</script>"

logger = logging.getLogger(__name__)

START_SECONDS = 30.0
PREPARE_AFTER_SECONDS = 0.5
"""Delay between opening a session and preparing the next one, so that the session's first page comes first."""
CLOCK_PAGE_SIZE = (64, 64)
"""Size of invisible pages (pixels)."""


@dataclass(frozen=True, slots=True)
class PreparedContext:
    """A prepared browser context for a session of any size, seed and time. Its renderer, the slowest part, already
    runs.
    """

    context: str
    clock_page: Page | None
    """See `Session.begin`; None with the script clock."""


class SelfTestSite:
    """The site of a page that counts its frames."""

    async def answer(self, request: Request) -> Response:
        return Response(200, SELF_TEST_PAGE, {"content-type": "text/html"})


class Engine:
    """A browser whose sessions share only its process. `close` ends it; `died` is set however it ends."""

    def __init__(self, process: Process, clock: Clock) -> None:
        self.clock = clock
        """The clock of new sessions."""
        self.alone = False
        """Whether it serves a single session, and ends with it."""
        self.drawing = asyncio.Lock()
        """Held while a frame is drawn: concurrent frames of two pages in one browser wait for each other."""
        self._process = process
        self._sessions: dict[str, Session] = {}
        """By browser context."""
        self._prepare_at: asyncio.TimerHandle | None = None
        self._preparing: asyncio.Task[PreparedContext] | None = None
        """The task that prepares the context of the next session."""
        self._clock_pages: dict[str, Page] = {}
        """Clock pages that no session has taken yet, by browser context."""
        self._closing = False
        process.pipe.listen("", self._on_event)

    @classmethod
    async def start(cls, folder: Path, *, exact: bool, gpu: bool = False, unsandboxed: bool = False) -> "Engine":
        """Start a sandboxed browser.

        Falls back to the script clock if the browser cannot control time exactly, and to software rendering if it
        cannot use a graphics card. `unsandboxed` allows a start where no sandbox is possible.

        Raises BrowserFailed, BubblewrapUnavailable.
        """
        in_bubblewrap = await cls._probe_sandbox(unsandboxed=unsandboxed)
        if gpu:
            try:
                return await cls._start_with_fallback(
                    folder / "gpu", exact=exact, gpu=True, in_bubblewrap=in_bubblewrap
                )
            except BrowserFailed as why:
                logger.warning("no graphics card for browsers here: %s", why)
        return await cls._start_with_fallback(folder, exact=exact, gpu=False, in_bubblewrap=in_bubblewrap)

    @classmethod
    async def _probe_sandbox(cls, *, unsandboxed: bool) -> bool:
        try:
            await check_sandbox()
        except BubblewrapUnavailable as why:
            if not unsandboxed:
                raise
            logger.warning(
                "browsers run here without a sandbox, as this user, with access to this machine's files: %s", why
            )
            return False
        return True

    @classmethod
    async def _start_with_fallback(cls, folder: Path, *, exact: bool, gpu: bool, in_bubblewrap: bool) -> "Engine":
        failed = BrowserFailed("nothing was tried")
        for clock in (Clock.EXACT, Clock.SCRIPT) if exact else (Clock.SCRIPT,):
            for sandboxed in (True, False) if in_bubblewrap else (False,):
                try:
                    return await cls._start(folder / clock, clock, gpu, in_bubblewrap, sandboxed)
                except BrowserFailed as why:
                    failed = why
                    without = " with Chromium's own sandbox" if sandboxed else ""
                    logger.warning("no %s clock here%s: %s", clock, without, why)
        raise failed

    @classmethod
    async def _start(cls, folder: Path, clock: Clock, gpu: bool, in_bubblewrap: bool, sandboxed: bool) -> "Engine":
        process = await Process.start(
            folder, exact=clock is Clock.EXACT, gpu=gpu, in_bubblewrap=in_bubblewrap, sandboxed=sandboxed
        )
        engine = cls(process, clock)
        try:
            watch: CdpPayload = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
            watch["filter"] = [{"type": "page"}]
            await process.pipe.call("Target.setAutoAttach", seconds=START_SECONDS, **watch)
            await process.pipe.call("Target.setDiscoverTargets", discover=True)
            await engine._self_test(gpu)
            engine._prepare_next()
        except BrowserFailed as failed:
            last_errors = process.last_errors()
            await engine.close()
            raise BrowserFailed(f"{failed}: {last_errors}") from failed
        return engine

    async def _self_test(self, gpu: bool) -> None:
        """Check that a page moves and draws according to its clock, and on a graphics card if one is required. Raises
        BrowserFailed.
        """
        session = await self.open(SelfTestSite(), size=(64, 64), seed=1, start_time=1_000_000_000)
        try:
            async with asyncio.timeout(START_SECONDS):
                await session.goto("http://proof.test/")
                await session.advance(100)
                frames, date = await session.evaluate("[frames, Date.now()]")
                picture = await session.picture()
                renderer = str(await session.evaluate(RENDERER_SCRIPT)) if gpu else ""
        except TimeoutError:
            raise BrowserFailed("a first page does not come to its end in time") from None
        finally:
            await session.close()
        if date != 1_000_000_000_000 + session.now_ms or abs(frames - session.now_ms * 0.06) > 1.5 or not picture:
            raise BrowserFailed(f"after {session.now_ms} ms a page counts {frames} frames and {date - 10**12} ms")
        if gpu and is_software_renderer(renderer):
            raise BrowserFailed(f"WebGL is drawn by {renderer or 'nothing'}")

    @property
    def died(self) -> asyncio.Event:
        """Set when the process has ended."""
        return self._process.pipe.ended

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def unbounded(self) -> tuple[str, ...]:
        """Resources of this machine without a limit: cpu, memory, pids; `walls` if there is no sandbox."""
        return (*self._process.groups.missing, *(() if self._process.in_bubblewrap else ("walls",)))

    @property
    def sandboxed(self) -> bool:
        """Whether its renderers are in Chromium's own sandbox."""
        return self._process.sandboxed

    @property
    def sessions(self) -> int:
        """Number of sessions."""
        return len(self._sessions)

    @property
    def pipe(self) -> Pipe:
        """The pipe, for the sessions of this package."""
        return self._process.pipe

    async def open(self, site: Site, *, size: tuple[int, int], seed: int, start_time: float) -> Session:
        """Open a session with one empty page. `start_time` is the initial time of its clocks (seconds since the epoch).
        Raises BrowserFailed.
        """
        try:
            if (prepared := await self._take_prepared()) is not None:
                with suppress(BrowserFailed):  # its renderer may have ended while unused
                    return await self._open(prepared, site, size=size, seed=seed, start_time=start_time)
            return await self._open(await self._prepare(), site, size=size, seed=seed, start_time=start_time)
        finally:
            if not self._closing:
                loop = asyncio.get_running_loop()
                self._prepare_at = loop.call_later(PREPARE_AFTER_SECONDS, self._prepare_next)

    async def _open(
        self, prepared: PreparedContext, site: Site, *, size: tuple[int, int], seed: int, start_time: float
    ) -> Session:
        session = Session(self, prepared.context, site, size=size, seed=seed, start_time=start_time)
        self._sessions[prepared.context] = session
        try:
            await session.begin(prepared.clock_page)
        except BrowserFailed:
            await self.dispose_session(prepared.context)
            raise
        return session

    def _prepare_next(self) -> None:
        """Prepare the next session in the background, unless one is prepared or this browser serves a single
        session."""
        if self._preparing is None and not (self.alone or self._closing or self.died.is_set()):
            self._preparing = asyncio.create_task(self._prepare())
            self._preparing.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def _take_prepared(self) -> PreparedContext | None:
        """The prepared context, or the one in preparation, which takes no longer than a new one. None if there is
        neither.
        """
        if self._prepare_at is not None:
            self._prepare_at.cancel()
        preparing, self._preparing = self._preparing, None
        if preparing is not None:
            with suppress(BrowserFailed):
                return await preparing
        return None

    async def _prepare(self) -> PreparedContext:
        """Raises BrowserFailed."""
        made = await self.pipe.call("Target.createBrowserContext", disposeOnDetach=True)
        context = str(made["browserContextId"])
        if self.clock is not Clock.EXACT:
            return PreparedContext(context, None)
        self._clock_pages[context] = Page(self.pipe, "", "", "")  # until it is attached
        try:
            await create_empty_page(self, context, CLOCK_PAGE_SIZE)
        except BaseException:
            self.pipe.send("Target.disposeBrowserContext", browserContextId=context)
            raise
        finally:
            page = self._clock_pages.pop(context)
        return PreparedContext(context, page)

    async def dispose_session(self, context: str) -> None:
        """Close the pages of the session with this browser context and forget it. Idempotent."""
        if self._sessions.pop(context, None) is None or self.died.is_set():
            return
        if self.alone and not self._sessions:
            return await self.close()
        try:
            await self.pipe.call("Target.disposeBrowserContext", browserContextId=context)
        except BrowserFailed as failed:
            logger.warning("a session of browser %d cannot be closed: %s", self.pid, failed)

    async def close(self) -> None:
        """End the process and everything in it. Idempotent."""
        self._closing = True
        if self._prepare_at is not None:
            self._prepare_at.cancel()
        if self._preparing is not None:
            self._preparing.cancel()
        for session in tuple(self._sessions.values()):
            session.abandon()
        self._sessions.clear()
        await self._process.end()

    def _on_event(self, event: str, payload: CdpPayload) -> None:
        match event:
            case "Target.attachedToTarget":
                info = payload["targetInfo"]
                context = info.get("browserContextId", "")
                if context in self._clock_pages:
                    self._clock_pages[context] = Page(self.pipe, info["targetId"], payload["sessionId"], "")
                if (session := self._sessions.get(context)) is not None:
                    session.on_target_attached(payload["sessionId"], info)
                elif payload["waitingForDebugger"]:
                    self.pipe.send("Runtime.runIfWaitingForDebugger", payload["sessionId"])
            case "Target.targetDestroyed" | "Target.targetCrashed" | "Browser.downloadWillBegin":
                for session in tuple(self._sessions.values()):
                    session.on_target_event(event, payload)


def is_software_renderer(renderer: str) -> bool:
    """Whether a WebGL renderer with this name draws without a graphics card."""
    return not renderer or any(word in renderer.lower() for word in SOFTWARE)
