"""One real bridge with real desktops, and its Redis, each a process of its own."""

import contextlib
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from annotation_app.operations.runtime.ports import free_ports
from annotation_app.operations.runtime.redis import Redis
from annotation_app.operations.runtime.stack import ROOT

READY_SECONDS, STOP_SECONDS = 60.0, 15.0


@dataclass(frozen=True, slots=True)
class LiveBridge:
    """How its calls are made."""

    port: int
    secret: str

    @property
    def url(self) -> str:
        """Where its calls go."""
        return f"http://127.0.0.1:{self.port}"


@contextlib.contextmanager
def live_bridge(folder: Path, data: Path) -> Iterator[LiveBridge]:
    """Ready when the block begins; `data` holds what images are made of."""
    redis_port, port = free_ports(2)
    redis, secret = Redis(folder / "redis", redis_port, secrets.token_hex(8)), secrets.token_hex(16)
    redis.create()
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PILOTHOUSE_SECRET": secret,
        "PILOTHOUSE_REDIS_URL": redis.url,
        "PILOTHOUSE_DATA": str(data),
        "PILOTHOUSE_BRIDGE_BIND": f"127.0.0.1:{port}",
        "PILOTHOUSE_BRIDGE_URL": f"http://127.0.0.1:{port}",
    }
    with contextlib.ExitStack() as stack:
        stack.enter_context(_process(redis.program().command, dict(os.environ), folder / "redis.log"))
        _wait(lambda: socket.create_connection(("127.0.0.1", redis_port), 1).close())
        stack.enter_context(_process((sys.executable, "-m", "vm_bridge"), environment, folder / "bridge.log"))
        _wait(lambda: urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=1).close())
        yield LiveBridge(port, secret)


@contextlib.contextmanager
def _process(command: tuple[str, ...], environment: dict[str, str], log: Path) -> Iterator[None]:
    with log.open("wb") as out:
        process = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=out, stderr=out)
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(attempt: Callable[[], object]) -> None:
    end = time.monotonic() + READY_SECONDS
    while True:
        try:
            attempt()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
        else:
            return
