"""A desktop from nothing: how long until it has done its first act, and what it costs when idle."""

import asyncio
import time
from pathlib import Path

from benchmarks.parts.figures import percentile, print_progress
from protocol.actions.types import MoveTo
from vm_bridge.hosts.local.host import LocalHost

STARTS = 12
IDLE_SECONDS = 3.0
MIB = 2**20


async def measure(data: Path) -> dict[str, float]:
    """Cold starts one after another, each thrown away; no X server and no desktop stands ready before."""
    host = LocalHost(data)
    try:
        await (await host.create("desktop")).destroy()  # the image is unpacked once a host, not once a desktop
        ready, sizes = [], []
        for number in range(STARTS):
            began = time.perf_counter()
            sandbox = await host.create("desktop")
            await sandbox.bind(1).perform(f"first-act-{number:03}", MoveTo(x=200, y=200))
            ready.append((time.perf_counter() - began) * 1000)
            if number == STARTS - 1:
                await sandbox.bind(1).observe(settle=True)
                await asyncio.sleep(IDLE_SECONDS)  # memory is read once start-up garbage has gone
                sizes.append((await sandbox.usage()).pss / MIB)
            await sandbox.destroy()
    finally:
        await host.close()
    print_progress(f"desktop ready {percentile(ready, 0.5)} ms, {sizes[0]:.0f} MiB")
    return {
        "desktop_ready_ms": percentile(ready, 0.5),
        "desktop_ready_p95_ms": percentile(ready, 0.95),
        "desktop_pss_mb": round(sizes[0], 1),
    }
