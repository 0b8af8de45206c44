"""A fleet of simulated machines, each process as in production: Redis, a host that makes them, managers beside it."""

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from annotation_app.operations.runtime.ports import free_ports
from annotation_app.operations.runtime.redis import Redis
from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.waiting import wait_for

READY_SECONDS = 120.0
STOP_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class SimulatedFleet:
    """Where it is, and what its guests saw."""

    url: str
    secret: str
    redis_url: str
    journal: Path
    manager: int
    """The process that keeps the managers."""

    def get(self, name: str) -> list[dict[str, object]]:
        """One of the manager's lists."""
        request = urllib.request.Request(f"{self.url}/v1/{name}", headers={"Authorization": f"Bearer {self.secret}"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            found: list[dict[str, object]] = json.load(answer)
            return found


@contextlib.contextmanager
def run_fleet(folder: Path, *, machines: int, workers: int) -> Iterator[SimulatedFleet]:
    """So many machines, all free when the block begins."""
    folder.mkdir(parents=True, exist_ok=True)
    redis_port, manager_port, host_port = free_ports(3)
    redis = Redis(folder / "redis", redis_port, secrets.token_hex(8))
    redis.create()
    secret = secrets.token_hex(16)
    journal = folder / "journal"
    common = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PILOTHOUSE_SECRET": secret,
        "PILOTHOUSE_REDIS_URL": redis.url,
        "PILOTHOUSE_DATA": str(folder),
    }
    host = {
        "PILOTHOUSE_ROLE": "host",
        "PILOTHOUSE_MACHINES": "fake",
        "PILOTHOUSE_MAX_MACHINES": str(machines),
        "PILOTHOUSE_FAKE_MACHINE_LOG": str(journal),
        "PILOTHOUSE_BRIDGE_BIND": f"127.0.0.1:{host_port}",
        "PILOTHOUSE_BRIDGE_URL": f"http://127.0.0.1:{host_port}",
    }
    manager = {
        "PILOTHOUSE_ROLE": "manager",
        "PILOTHOUSE_WORKERS": str(workers),
        "PILOTHOUSE_WARM_POOL": json.dumps({"desktop": machines}),
        "PILOTHOUSE_BRIDGE_BIND": f"127.0.0.1:{manager_port}",
    }
    with contextlib.ExitStack() as stack:
        store = stack.enter_context(run_process(redis.program().command, dict(os.environ), folder / "redis.log"))
        bridge = (sys.executable, "-m", "vm_bridge")
        wait_for(lambda: port_is_open(redis_port), READY_SECONDS, "Redis listens", {folder / "redis.log": store})
        making = stack.enter_context(run_process(bridge, {**common, **host}, folder / "host.log"))
        process = stack.enter_context(run_process(bridge, {**common, **manager}, folder / "manager.log"))
        url = f"http://127.0.0.1:{manager_port}"
        made = SimulatedFleet(url, secret, redis.url, journal, process.pid)
        wait_for(
            lambda: count_free_machines(made) >= machines, READY_SECONDS, f"{machines} machines are free",
            {folder / "redis.log": store, folder / "host.log": making, folder / "manager.log": process},
        )  # fmt: skip
        yield made


@contextlib.contextmanager
def run_process(
    command: tuple[str, ...], environment: dict[str, str], log: Path
) -> Iterator["subprocess.Popen[bytes]"]:
    """A process of ours while the block runs."""
    with log.open("wb") as out:
        process = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=out, stderr=out)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def count_free_machines(made: SimulatedFleet) -> int:
    """How many machines stand ready; none where nobody answers yet."""
    with contextlib.suppress(OSError):
        return sum(int(str(image["free"])) for image in made.get("images"))
    return 0


def port_is_open(port: int) -> bool:
    """Whether somebody takes connections on a loopback port."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False
