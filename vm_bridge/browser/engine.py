"""One browser process and the sessions in it."""

import asyncio
import logging
from pathlib import Path

from vm_bridge.browser.errors import BrowserFailed
from vm_bridge.browser.pipe import Pipe, Told
from vm_bridge.browser.process import Process
from vm_bridge.browser.session import Session
from vm_bridge.browser.site import Site
from vm_bridge.browser.words import Clock

logger = logging.getLogger(__name__)

START_SECONDS = 30.0


class Engine:
    """A browser whose sessions share nothing but its process. Ended by `close`; `died` is set however it ends."""

    def __init__(self, process: Process, clock: Clock) -> None:
        self.clock = clock
        """What new sessions get."""
        self.drawing = asyncio.Lock()
        """Held while a frame is drawn: frames of two pages of one browser, asked for at once, wait for each other."""
        self._process = process
        self._sessions: dict[str, Session] = {}
        """By browser context."""
        self._closing = False
        process.pipe.listen("", self._told)

    @classmethod
    async def start(cls, folder: Path, *, exact: bool, gpu: bool = False) -> "Engine":
        """A browser; where it cannot make time exactly, one with the script's clock, and a warning. Raises BrowserFailed."""
        if exact:
            try:
                return await cls._start(folder / "exact", Clock.EXACT, gpu)
            except BrowserFailed as failed:
                logger.warning("no exact clock, pages get the script's: %s", failed)
        return await cls._start(folder / "script", Clock.SCRIPT, gpu)

    @classmethod
    async def _start(cls, folder: Path, clock: Clock, gpu: bool) -> "Engine":
        process = await Process.start(folder, exact=clock is Clock.EXACT, gpu=gpu)
        engine = cls(process, clock)
        try:
            watch = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True, "filter": [{"type": "page"}]}
            await process.pipe.call("Target.setAutoAttach", **watch, seconds=START_SECONDS)
            await process.pipe.call("Target.setDiscoverTargets", discover=True)
        except BrowserFailed as failed:
            words = process.words()
            await engine.close()
            raise BrowserFailed(f"{failed}: {words}") from failed
        return engine

    @property
    def died(self) -> asyncio.Event:
        """Set when the process has ended."""
        return self._process.pipe.ended

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def sessions(self) -> int:
        """How many it has."""
        return len(self._sessions)

    @property
    def pipe(self) -> Pipe:
        """For the sessions of this package."""
        return self._process.pipe

    async def open(self, site: Site, *, size: tuple[int, int], seed: int, start_time: float) -> Session:
        """A session with one empty page. `start_time` is what its clocks say first (seconds since the epoch).
        Raises BrowserFailed."""
        made = await self.pipe.call("Target.createBrowserContext", disposeOnDetach=True)
        context = str(made["browserContextId"])
        session = Session(self, context, site, size=size, seed=seed, start_time=start_time)
        self._sessions[context] = session
        try:
            await session.begin()
        except BrowserFailed:
            await self.drop(session)
            raise
        return session

    async def drop(self, session: Session) -> None:
        """End a session's pages and forget it. Idempotent."""
        if self._sessions.pop(session.context, None) is None or self.died.is_set():
            return
        try:
            await self.pipe.call("Target.disposeBrowserContext", browserContextId=session.context)
        except BrowserFailed as failed:
            logger.warning("a session of browser %d does not end: %s", self.pid, failed)

    async def close(self) -> None:
        """End the process and everything in it. Idempotent."""
        self._closing = True
        for session in tuple(self._sessions.values()):
            session.abandon()
        self._sessions.clear()
        await self._process.end()

    def _told(self, event: str, told: Told) -> None:
        match event:
            case "Target.attachedToTarget":
                session = self._sessions.get(told["targetInfo"].get("browserContextId", ""))
                if session is not None:
                    session.attached(told["sessionId"], told["targetInfo"])
                elif told["waitingForDebugger"]:
                    self.pipe.send("Runtime.runIfWaitingForDebugger", told["sessionId"])
            case "Target.targetDestroyed" | "Target.targetCrashed" | "Browser.downloadWillBegin":
                for session in tuple(self._sessions.values()):
                    session.target_told(event, told)
