"""A bridge in a process of its own, over what this machine has, which a test may end as it likes."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from annotation_app.operations.runtime.ports import free_port
from tests.integration.bridge.conftest import SECRET
from vm_bridge.api.client import BridgeClient

START_SECONDS = 90.0


def settings(redis: str, data: Path) -> dict[str, str]:
    """What a bridge process reads: the next one with the same settings is its successor."""
    port = free_port()
    return {
        **os.environ,
        "PILOTHOUSE_SECRET": SECRET,
        "PILOTHOUSE_REDIS_URL": redis,
        "PILOTHOUSE_DATA": str(data),
        "PILOTHOUSE_BRIDGE_BIND": f"127.0.0.1:{port}",
        "PILOTHOUSE_BRIDGE_URL": f"http://127.0.0.1:{port}",
    }


@asynccontextmanager
async def bridge(
    environment: dict[str, str], end: signal.Signals, *, seconds: float = START_SECONDS
) -> AsyncIterator[BridgeClient]:
    """A bridge process that answers within so many seconds, ended by this signal."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "vm_bridge", env=environment, stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr
    try:
        async with asyncio.timeout(seconds):
            while b"running on" not in await process.stderr.readline():
                assert process.returncode is None
        reading = asyncio.create_task(process.stderr.read())
        async with BridgeClient(environment["PILOTHOUSE_BRIDGE_URL"], SECRET) as client:
            yield client
    finally:
        process.send_signal(end)
        async with asyncio.timeout(seconds):
            await process.wait()
    await reading
