"""The browsers of this process's environments, on an event loop in its own thread."""

import asyncio
import atexit
import os
import shutil
import tempfile
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from vm_bridge.config import browser_unsandboxed
from vm_bridge.hosts.browser.host import IMAGE, BrowserHost, BrowserSandbox
from vm_bridge.suites.registry import WEB_SUITES

CALL_TIMEOUT_SECONDS = 300.0
"""Longest one call may take (seconds); the driver's own bounds are shorter."""
T = TypeVar("T")
_shared: "BrowserPool | None" = None
_guard = threading.Lock()


class BrowserPool:
    """A few browser processes. The first environment of a process starts them, its last ends them."""

    def __init__(self, engines: int) -> None:
        self.process = os.getpid()
        self.users = 0
        self._folder = Path(tempfile.mkdtemp(prefix="pilothouse-gym-"))
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="pilothouse-gym", daemon=True)
        self._thread.start()
        self._host = BrowserHost(self._folder, WEB_SUITES, engines=engines, unsandboxed=browser_unsandboxed(os.environ))

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of something done on the loop. Raises what it raises, and TimeoutError."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(CALL_TIMEOUT_SECONDS)

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
            self._thread.join(CALL_TIMEOUT_SECONDS)
            self._loop.close()
            self.delete_folder()

    def delete_folder(self) -> None:
        """Clean up at process exit: the browsers end with the process."""
        if self.process == os.getpid():
            shutil.rmtree(self._folder, ignore_errors=True)


def acquire_pool(engines: int | None = None) -> BrowserPool:
    """The runtime of this process, which lives until it was released as often. A forked process gets its own."""
    global _shared
    with _guard:
        if _shared is None or _shared.process != os.getpid():
            _shared = BrowserPool(engines or max(1, (os.cpu_count() or 1)))
            atexit.register(_shared.delete_folder)
        _shared.users += 1
        return _shared


def release_pool(browser_pool: BrowserPool) -> None:
    """Release a reference to the pool."""
    global _shared
    with _guard:
        browser_pool.users -= 1
        if browser_pool.users:
            return
        if _shared is browser_pool:
            _shared = None
    browser_pool.close()
    atexit.unregister(browser_pool.delete_folder)
