"""The browsers behind the environments of this process, on a loop in a thread of its own."""

import asyncio
import atexit
import os
import shutil
import tempfile
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from vm_bridge.config import without_walls
from vm_bridge.hosts.browser import IMAGE, BrowserHost, BrowserSandbox
from vm_bridge.suites.bundled import WEB_SUITES

PATIENCE = 300.0
"""Longest one call may take (seconds); the driver's own bounds are shorter."""
T = TypeVar("T")
_shared: "Runtime | None" = None
_guard = threading.Lock()


class Runtime:
    """A few browser processes. Begun with the first environment of a process, ended with its last."""

    def __init__(self, engines: int) -> None:
        self.process = os.getpid()
        self.users = 0
        self._folder = Path(tempfile.mkdtemp(prefix="pilothouse-gym-"))
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="pilothouse-gym", daemon=True)
        self._thread.start()
        self._host = BrowserHost(self._folder, WEB_SUITES, engines=engines, bare=without_walls(os.environ))

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of something done on the loop. Raises what it raises, and TimeoutError."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    async def machine(self) -> BrowserSandbox:
        """A machine of its own. Raises NoMachine."""
        made = await self._host.create(IMAGE)
        assert isinstance(made, BrowserSandbox)
        return made

    def close(self) -> None:
        """End the browsers and the thread. Idempotent."""
        if self._loop.is_closed() or self.process != os.getpid():
            return
        try:
            self.call(self._host.close())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(PATIENCE)
            self._loop.close()
            self.abandon()

    def abandon(self) -> None:
        """What is left to do when the process ends: its browsers end with it."""
        if self.process == os.getpid():
            shutil.rmtree(self._folder, ignore_errors=True)


def acquire(engines: int | None = None) -> Runtime:
    """The runtime of this process, which lives until it was released as often. A forked process gets its own."""
    global _shared
    with _guard:
        if _shared is None or _shared.process != os.getpid():
            _shared = Runtime(engines or max(1, (os.cpu_count() or 1)))
            atexit.register(_shared.abandon)
        _shared.users += 1
        return _shared


def release(runtime: Runtime) -> None:
    """It is not needed here any more."""
    global _shared
    with _guard:
        runtime.users -= 1
        if runtime.users:
            return
        if _shared is runtime:
            _shared = None
    runtime.close()
    atexit.unregister(runtime.abandon)
