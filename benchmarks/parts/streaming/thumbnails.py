"""What thumbnails cost the bridge: `python -m benchmarks.parts.streaming.thumbnails [--machines 50]`.

Fake machines change a part of their screens (1280x720) once a second while one reader, in a process of its own, takes
the thumbnails of all. The difference that the reader makes to the bridge's processor time is what they cost. The last
line is one JSON object.
"""

import argparse
import asyncio
import json
import multiprocessing
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import uvicorn

from annotation_app.operations.runtime.ports import free_ports
from annotation_app.operations.runtime.redis import Redis
from benchmarks.parts.leases.simulated_fleet import port_is_open
from benchmarks.parts.waiting import wait_for, wait_until
from vm_bridge.__main__ import create_bridge_app
from vm_bridge.api.client import BridgeClient
from vm_bridge.api.tickets import TicketClaim, mint_ticket
from vm_bridge.config import Config
from vm_bridge.machine import Lease
from vm_bridge.simulators.fake.sandbox import FakeHost

SECRET = secrets.token_hex(16)
SECONDS = 15.0
WARM_SECONDS, START_SECONDS = 3.0, 30.0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--machines", type=int, default=50)
    machines: int = parser.parse_args().machines
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as name:
        folder, (port,) = Path(name), free_ports(1)
        redis = Redis(folder / "redis", port, secrets.token_hex(8))
        redis.create()
        with (folder / "redis.log").open("wb") as log:
            program = subprocess.Popen(redis.program().command, stdout=log, stderr=log)
        try:
            wait_for(lambda: port_is_open(port), START_SECONDS, "Redis answers", {folder / "redis.log": program})
            print(json.dumps(asyncio.run(measure(folder, redis.url, machines))))
        finally:
            program.terminate()
            program.wait()
    return 0


async def measure(folder: Path, redis_url: str, count: int) -> dict[str, float]:
    """How many cores the reader costs the bridge, and what it receives."""
    host = FakeHost(capacity=count)
    async with _serving(folder, redis_url, host) as url, BridgeClient(url, SECRET) as client:
        leases = [await client.allocate(image="desktop", holder=f"episode:{n}", wait=60) for n in range(count)]
        painting = asyncio.create_task(_paint(host))
        await asyncio.sleep(WARM_SECONDS)
        alone = await _cores()
        spawn = multiprocessing.get_context("spawn")  # a fork would have the server's signal handlers
        pictures, received = spawn.Value("q", 0), spawn.Value("q", 0)
        reader = spawn.Process(target=_read, args=(url, list(map(_ticket, leases)), pictures, received))
        reader.start()
        await asyncio.sleep(WARM_SECONDS)
        before = pictures.value, received.value
        watched = await _cores()
        came, size = pictures.value - before[0], received.value - before[1]
        reader.terminate()
        reader.join()
        painting.cancel()
    return {
        "machines": count,
        "thumbnail_cores": round(watched - alone, 3),
        "thumbnails_per_s": round(came / SECONDS, 1),
        "thumbnail_kb": round(size / max(1, came) / 1_000, 1),
    }


@asynccontextmanager
async def _serving(folder: Path, redis_url: str, host: FakeHost) -> AsyncIterator[str]:
    server = uvicorn.Server(uvicorn.Config("unset", port=0, ws="none", log_config=None, access_log=False))
    listener = server.config.bind_socket()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    settings: dict[str, Any] = {"redis_url": redis_url, "max_machines": host.capacity, "data": folder}
    server.config.app = create_bridge_app(Config(secret=SECRET, bridge_url=url, **settings), host)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    await wait_until(lambda: server.started or serving.done(), START_SECONDS, "the bridge serves")
    try:
        yield url
    finally:
        server.should_exit = True
        await serving


async def _paint(host: FakeHost) -> None:
    """Give every screen noise and lines, which compress badly, and change a part of it once a second."""
    texture = np.random.default_rng(1).integers(0, 255, (720, 1280, 4), dtype=np.uint8)
    texture[:, :900] = 240
    texture[::18, :900] = 30
    for sandbox in host.made:
        sandbox.screen.pixels[:] = texture
    shade = 0
    while True:
        began = time.monotonic()
        for sandbox in host.made:
            shade = (shade + 1) % 256
            sandbox.screen.pixels[100:300, 100:500, :3] = shade
            sandbox.screen.touch()
            await asyncio.sleep(0)
        await asyncio.sleep(max(0.0, 1 - (time.monotonic() - began)))


async def _cores() -> float:
    """Processor seconds of this process a second, over a while."""
    cpu, began = time.process_time(), time.monotonic()
    await asyncio.sleep(SECONDS)
    return (time.process_time() - cpu) / (time.monotonic() - began)


def _ticket(lease: Lease) -> str:
    claim = {"user": "1", "episode": lease.machine_id, "machine_id": lease.machine_id}
    return mint_ticket(SECRET, TicketClaim(kind="thumbnails", fencing_token=lease.fencing_token, **claim))


def _read(url: str, tickets: list[str], pictures: "Synchronized[int]", received: "Synchronized[int]") -> None:
    with (
        httpx.Client(timeout=60) as http,
        http.stream("POST", f"{url}/streams/thumbnails", json={"tickets": tickets}) as response,
    ):
        for chunk in response.iter_raw():
            pictures.value += chunk.count(b"--frame")
            received.value += len(chunk)


if __name__ == "__main__":
    sys.exit(main())
