"""The browser processes of a host: begun when they are needed, shared, and replaced when they die."""

import asyncio
import logging
import shutil
import time
from pathlib import Path

from vm_bridge.browser import BrowserEnded, BrowserFailed, Clock, Engine, Session
from vm_bridge.hosts.usage import usage_of
from vm_bridge.sandbox import Usage
from vm_bridge.suites.scenes import Scene

logger = logging.getLogger(__name__)

OPEN_SECONDS = 30.0
"""Longest that an empty page may take."""
USAGE_SECONDS = 2.0
"""How long what a process costs is remembered."""


class Engines:
    """At most `most` processes for each clock: pictures of one process are drawn one after another, so several are
    faster where there are several processors, and each costs memory."""

    def __init__(self, folder: Path, *, most: int, gpu: bool = False, bare: bool = False) -> None:
        self._folder, self._most, self._gpu, self._bare = folder, most, gpu, bare
        self.unbounded: tuple[str, ...] = ()
        """See `Engine.unbounded`, of the last one that was started."""
        self._running: dict[bool, list[Engine]] = {True: [], False: []}
        """By whether they were asked for the exact clock."""
        self._costs: dict[Engine, tuple[float, Usage]] = {}
        self._starting = asyncio.Lock()
        self._number = 0

    async def open(self, scene: Scene, *, seed: int, clock: Clock) -> Session:
        """A session in the process that has the fewest. Raises BrowserFailed."""
        engine = await self._least(exact=clock is Clock.EXACT)
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                return await engine.open(scene.site, size=scene.size, seed=seed, start_time=scene.start_time)
        except TimeoutError as late:
            raise BrowserFailed(f"no page within {OPEN_SECONDS:.0f} s") from late

    async def usage(self, engine: Engine) -> Usage:
        """The share of one of its sessions in what a process costs."""
        at, whole = self._costs.get(engine, (0.0, Usage(0, 0.0, 0)))
        if time.monotonic() - at > USAGE_SECONDS:
            whole = await asyncio.to_thread(usage_of, engine.pid)
            self._costs[engine] = (time.monotonic(), whole)
        share = max(1, engine.sessions)
        return Usage(whole.pss // share, whole.cpu_seconds / share, whole.processes)

    async def close(self) -> None:
        """End every process."""
        async with self._starting:
            engines = [engine for running in self._running.values() for engine in running]
            for running in self._running.values():
                running.clear()
            await asyncio.gather(*(engine.close() for engine in engines))
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    async def _least(self, *, exact: bool) -> Engine:
        async with self._starting:
            running = self._running[exact]
            for dead in [engine for engine in running if engine.died.is_set()]:
                await self._bury(dead)
            if all(engine.sessions for engine in running) and len(running) < self._most:
                await self._start(exact=exact)
            if not running:
                raise BrowserEnded("the browser ended as soon as it had started")
            return min(running, key=lambda engine: engine.sessions)

    async def _start(self, *, exact: bool) -> None:
        if not self._number:  # what a killed bridge left
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)
        self._number += 1
        engine = await Engine.start(self._folder / str(self._number), exact=exact, gpu=self._gpu, bare=self._bare)
        self.unbounded = engine.unbounded
        self._running[exact].append(engine)

    async def _bury(self, engine: Engine) -> None:
        logger.warning("browser %d has ended", engine.pid)
        for running in self._running.values():
            if engine in running:
                running.remove(engine)
        self._costs.pop(engine, None)
        try:
            await engine.close()
        except BrowserFailed as failure:
            logger.warning("what browser %d left could not be cleared: %s", engine.pid, failure)
