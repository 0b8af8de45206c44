"""The browser processes of a host: started on demand, shared, and replaced when they die."""

import asyncio
import logging
import shutil
import time
from collections import Counter
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from vm_bridge.browser import BrowserEnded, BrowserFailed, Clock, Engine, Session
from vm_bridge.browser.interfaces import EngineInterface
from vm_bridge.isolation.resource_usage import measure_usage
from vm_bridge.sandbox import Usage
from vm_bridge.suites.web_suite import Scene

logger = logging.getLogger(__name__)

OPEN_SECONDS = 30.0
"""Longest that an empty page may take."""
USAGE_CACHE_SECONDS = 2.0
"""How long what a process costs is remembered."""


class BrowserEnginePool:
    """Runs at most `most` processes with sessions for each clock.

    One process draws its pictures one after another, so several are faster on several processors, but each costs
    memory. One spare process per used clock is kept ready, so that a session never waits for a process to start.
    Sessions with network access have their own process: a page that takes over its browser finds no other session
    there, and cannot slow one down.
    """

    def __init__(self, folder: Path, *, most: int, gpu: bool = False, unsandboxed: bool = False) -> None:
        self._folder, self._most, self._gpu, self._unsandboxed = folder, most, gpu, unsandboxed
        self.unbounded: tuple[str, ...] = ()
        """See `Engine.unbounded`, of the last one that was started."""
        self._running: dict[bool, list[Engine]] = {True: [], False: []}
        """By whether the exact clock was requested."""
        self._opening: Counter[Engine] = Counter()
        """Number of sessions that each is about to get."""
        self._costs: dict[EngineInterface, tuple[float, Usage]] = {}
        self._starting = asyncio.Lock()
        self._beside: set[asyncio.Task[None]] = set()
        self._number = 0
        self._closed = False

    async def open(self, scene: Scene, *, seed: int, clock: Clock, alone: bool = False) -> Session:
        """A session in the process that has the fewest, or in one of its own (`alone`), which ends with it.

        Raises BrowserFailed.
        """
        try:
            return await self._open(scene, seed=seed, clock=clock, alone=alone)
        except BrowserEnded:
            # That a process has died may be known only once something is asked of it.
            return await self._open(scene, seed=seed, clock=clock, alone=alone)

    async def _open(self, scene: Scene, *, seed: int, clock: Clock, alone: bool) -> Session:
        exact = clock is Clock.EXACT
        engine = await self._acquire_engine(exact=exact, alone=alone)
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                return await engine.open(scene.site, size=scene.size, seed=seed, start_time=scene.start_time)
        except BaseException as error:
            if engine.alone:
                self._do(engine.close())
            if isinstance(error, TimeoutError):
                raise BrowserFailed(f"no page within {OPEN_SECONDS:.0f} s") from error
            raise
        finally:
            self._opening[engine] -= 1
            self._do(self._ensure_spare(exact=exact))

    async def usage(self, engine: EngineInterface) -> Usage:
        """The share of one of its sessions in what a process costs."""
        at, whole = self._costs.get(engine, (0.0, Usage()))
        if time.monotonic() - at > USAGE_CACHE_SECONDS:
            whole = await asyncio.to_thread(measure_usage, engine.pid)
            self._costs[engine] = (time.monotonic(), whole)
        share = max(1, engine.sessions)
        return Usage(whole.pss // share, whole.cpu_seconds / share, whole.processes)

    async def close(self) -> None:
        """End every process."""
        self._closed = True
        async with self._starting:
            engines = [engine for running in self._running.values() for engine in running]
            for running in self._running.values():
                running.clear()
        await asyncio.gather(*(engine.close() for engine in engines), *self._beside)
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    async def _acquire_engine(self, *, exact: bool, alone: bool) -> Engine:
        """The process for one more session. Raises BrowserFailed."""
        if engine := self._reserve_running(exact=exact, alone=alone):
            return engine
        async with self._starting:
            if engine := self._reserve_running(exact=exact, alone=alone):
                return engine
            await self._start(exact=exact)
            if engine := self._reserve_running(exact=exact, alone=alone):
                return engine
            raise BrowserEnded("the browser ended as soon as it had started")

    def _reserve_running(self, *, exact: bool, alone: bool) -> Engine | None:
        """The process for one more session, which is then counted; None where one has to be started for it."""
        running = [engine for engine in self._running_engines(exact=exact) if not engine.alone]
        if alone:
            engine = next((engine for engine in running if not self._load(engine)), None)
            if engine is not None:
                engine.alone = True
                self._opening[engine] += 1
            return engine
        busy = [engine for engine in running if self._load(engine)]
        free = len(busy) < self._most
        if free and len(busy) == len(running):
            return None
        engine = min(running if free else busy, key=self._load)
        self._opening[engine] += 1
        return engine

    async def _ensure_spare(self, *, exact: bool) -> None:
        """Make sure that one process has no session."""
        async with self._starting:
            if self._closed or not all(self._load(engine) for engine in self._running_engines(exact=exact)):
                return
            try:
                await self._start(exact=exact)
            except BrowserFailed as failure:
                logger.warning("no browser is ready: %s", failure)

    def _load(self, engine: Engine) -> int:
        return engine.sessions + self._opening[engine]

    def _running_engines(self, *, exact: bool) -> list[Engine]:
        """The processes that run; those that have ended are cleared away beside."""
        for dead in [engine for engine in self._running[exact] if engine.died.is_set()]:
            self._running[exact].remove(dead)
            self._costs.pop(dead, None)
            self._opening.pop(dead, None)
            self._do(self._close_engine(dead))
        return self._running[exact]

    async def _start(self, *, exact: bool) -> None:
        if not self._number:  # remove what a killed bridge left
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)
        self._number += 1
        engine = await Engine.start(
            self._folder / str(self._number), exact=exact, gpu=self._gpu, unsandboxed=self._unsandboxed
        )
        self.unbounded = engine.unbounded
        self._running[exact].append(engine)

    async def _close_engine(self, engine: Engine) -> None:
        if not engine.alone:
            logger.warning("browser %d has ended", engine.pid)
        try:
            await engine.close()
        except BrowserFailed as failure:
            logger.warning("what browser %d left could not be cleared: %s", engine.pid, failure)

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine in the background; `close` waits for it."""
        task = asyncio.create_task(work)
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)
