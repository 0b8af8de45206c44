"""How soon a desktop in a container is there, from asking for one to an answered look, and is reset."""

import asyncio
import time
from pathlib import Path
from statistics import median

from vm_bridge.errors import MachineGone
from vm_bridge.hosts.docker.container import IMAGE, SYSTEM_IMAGE
from vm_bridge.hosts.docker.engine import ContainerEngine
from vm_bridge.hosts.docker.host import DockerHost

ROUNDS = 7


def missing_requirement() -> str | None:
    """Why nothing can be measured here; None when it can."""
    try:
        return None if ContainerEngine().has(SYSTEM_IMAGE) else f"the image {SYSTEM_IMAGE} is missing"
    except MachineGone as gone:
        return str(gone)


def measure(folder: Path) -> dict[str, object]:
    """The figures, medians of some rounds; the first desktop, which prepares the image's files, is no part of them."""
    return asyncio.run(_measure(folder))


async def _measure(folder: Path) -> dict[str, object]:
    warm = DockerHost(folder)
    cold, ready, resets = [], [], []
    try:
        await (await warm.create(IMAGE)).destroy()
        for _ in range(ROUNDS):
            # Of a host of its own there is none that stands ready.
            other = DockerHost(folder)
            try:
                cold.append(await _ready(other))
            finally:
                await other.close()
        for _ in range(ROUNDS):
            ready.append(await _ready(warm))
        sandbox = await warm.create(IMAGE)
        for _ in range(ROUNDS):
            began = time.perf_counter()
            await sandbox.reset()
            resets.append(time.perf_counter() - began)
    finally:
        await warm.close()
    return {"docker_ready_ms": _ms(ready), "docker_cold_ms": _ms(cold), "docker_reset_ms": _ms(resets)}


async def _ready(host: DockerHost) -> float:
    """Seconds until a new desktop has answered a look; it is given back."""
    began = time.perf_counter()
    sandbox = await host.create(IMAGE)
    await sandbox.bind(1).observe(settle=True)
    took = time.perf_counter() - began
    await sandbox.destroy()
    return took


def _ms(seconds: list[float]) -> float:
    return round(median(seconds) * 1000, 1)
