"""The browser that the factory's commands play tasks in."""

import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from vm_bridge.browser import Engine
from vm_bridge.config import browser_unsandboxed


@asynccontextmanager
async def open_engine() -> AsyncIterator[tuple[Engine, Path]]:
    """A browser of its own with the exact clock, and a folder that goes with it. Raises BrowserFailed, ConfigError."""
    with tempfile.TemporaryDirectory(prefix="pilothouse-factory-") as folder:
        unsandboxed = browser_unsandboxed(os.environ)
        engine = await Engine.start(Path(folder) / "browser", exact=True, unsandboxed=unsandboxed)
        try:
            yield engine, Path(folder)
        finally:
            await engine.close()
