"""The platform that is killed: the whole one of `./pilothouse serve`, with a second web process and a second worker."""

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
from celery import Celery

from annotation_app.operations.console import Console
from annotation_app.operations.runtime.ports import free_ports
from annotation_app.operations.runtime.programs import HttpReadiness, OutputReadiness, Program
from annotation_app.operations.runtime.stack import ROOT
from annotation_app.operations.runtime.supervisor import Supervisor
from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform, temporary_platform
from benchmarks.parts.figures import print_progress
from benchmarks.parts.kills.machine_logs import MachineLogReader
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError

LOOPBACK = "127.0.0.1"
SEED_SECONDS = 300.0
CLAIM_SECONDS = 60.0
PROGRAMS = ("web", "web-2", "worker", "worker-2", "beat", "bridge", "vnc", "model", "redis", "postgres")
HEARTBEAT = "health.heartbeat"


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who annotates: their session, and the pool their tasks come from."""

    name: str
    kind: str
    pool: int
    session: str


@dataclass(frozen=True, slots=True)
class Stack:
    """Where the parts of a running platform are."""

    platform: TemporaryPlatform
    extra: Path
    """Of the second web process and worker."""
    addresses: tuple[str, ...]
    """`host:port` of each web process."""
    people: tuple[Person, ...]
    machine_logs: MachineLogReader
    machines: int
    names: tuple[str, ...] = PROGRAMS

    @property
    def database(self) -> str:
        """How PostgreSQL is reached."""
        return self.platform.environment["PILOTHOUSE_DATABASE_URL"]

    def pids(self, name: str) -> list[int]:
        """The process of a program; none while it is down."""
        folder = self.extra if name.endswith("-2") else self.platform.data
        with contextlib.suppress(FileNotFoundError, ValueError):
            return [int((folder / "run" / f"{name}.pid").read_text())]
        return []

    def log(self, name: str) -> str:
        """What a program said so far."""
        folder = self.extra if name.endswith("-2") else self.platform.data
        with contextlib.suppress(FileNotFoundError):
            return (folder / "logs" / f"{name}.log").read_text(errors="replace")
        return ""

    def empty_redis(self) -> None:
        """Delete what Redis keeps, while it is down."""
        shutil.rmtree(self.platform.data / "redis" / "appendonlydir", ignore_errors=True)

    def queue_job(self) -> str:
        """Queue a short job; its id. Raises OSError while Redis is away."""
        with Celery("kills", broker=self.platform.environment["PILOTHOUSE_REDIS_URL"]) as app:
            app.conf.broker_transport_options = {"socket_timeout": 2, "socket_connect_timeout": 2}
            return str(app.send_task(HEARTBEAT, retry=False).id)

    def job_is_done(self, job: str) -> bool:
        """Whether some worker did it."""
        return any(f"[{job}] succeeded" in self.log(name) for name in ("worker", "worker-2"))

    async def claimable(self, image: str, count: int) -> int:
        """How many machines of an image can be held at once, when nobody else holds one."""
        environment = self.platform.environment
        leases, began = [], now()
        async with BridgeClient(
            environment["PILOTHOUSE_BRIDGE_URL"], environment["PILOTHOUSE_BRIDGE_MASTER_KEY"]
        ) as bridge:
            claims = [bridge.allocate(image=image, holder="bench", ttl=120, wait=CLAIM_SECONDS) for _ in range(count)]
            for claim in asyncio.as_completed(claims):
                try:
                    leases.append(await claim)
                except BridgeError as error:
                    print_progress(f"a claim of {image} was refused after {now() - began:.1f} s: {error}")
            if len(leases) < count:
                for machine in await bridge.fleet.machines():
                    print_progress(
                        f"{machine.id} is {machine.state} since {machine.since:%H:%M:%S}, held by {machine.holder}"
                    )
            for lease in leases:
                await bridge.release(lease)
        return len(leases)

    def steps(self) -> Iterator[tuple[str, str, str | None]]:
        """Every stored step: its episode, its command, and the code of its error."""
        with psycopg.connect(self.database, connect_timeout=30) as connection:
            yield from connection.execute(
                "SELECT episode_id::text, command_id, document::jsonb #>> '{error,code}' FROM episodes_step"
            )


@contextlib.asynccontextmanager
async def stack(folder: Path, kinds: tuple[str, ...], tasks: int, machines: int, run: str) -> AsyncIterator[Stack]:
    """All of it, ready, with a person for each of `kinds`."""
    os.environ["PILOTHOUSE_LOG_LEVEL"] = "DEBUG"  # workers say only then which jobs they did
    os.environ["PILOTHOUSE_MAX_MACHINES"] = str(machines)
    os.environ["PILOTHOUSE_WARM_POOL"] = json.dumps({kind: 1 for kind in kinds})
    with temporary_platform(folder / "platform") as platform:
        seeded = await asyncio.to_thread(_seed_people, platform, kinds, tasks)
        extra = folder / "extra"
        (port,) = free_ports(1)
        first = platform.url.removeprefix("http://").replace("localhost", LOOPBACK)
        with (folder / "extra.log").open("w") as log:
            async with Supervisor(extra, Console(log)) as supervisor:
                await supervisor.start(*_start_second_host(platform, port))
                async with _watch_supervisor(supervisor):
                    yield Stack(platform, extra, (first, f"{LOOPBACK}:{port}"), seeded, MachineLogReader(run), machines)


@contextlib.asynccontextmanager
async def _watch_supervisor(supervisor: Supervisor) -> AsyncIterator[None]:
    watching = asyncio.create_task(supervisor.watch())
    try:
        yield
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


def _seed_people(platform: TemporaryPlatform, kinds: tuple[str, ...], tasks: int) -> tuple[Person, ...]:
    command = [sys.executable, "-m", "benchmarks.parts.kills.seed", str(tasks), *kinds]
    told = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **platform.environment}, stdout=subprocess.PIPE, text=True, check=True,
        timeout=SEED_SECONDS,
    ).stdout  # fmt: skip
    return tuple(Person(**each) for each in json.loads(told))


def _start_second_host(platform: TemporaryPlatform, port: int) -> tuple[Program, ...]:
    """Another web process and another worker, as on a second host."""
    environment = {**platform.environment, "PYTHONPATH": str(ROOT)}
    daphne = ("-m", "daphne", "-b", LOOPBACK, "-p", str(port), "annotation_app.asgi_server:application")
    celery = ("-m", "celery", "-A", "annotation_app", "worker", "--loglevel", "INFO", "--concurrency", "1")
    return (
        Program("web-2", (sys.executable, *daphne), HttpReadiness(f"http://{LOOPBACK}:{port}/api/health"), environment),
        Program(
            "worker-2", (sys.executable, *celery, "-n", "second@%h", "--without-mingle", "--without-gossip"),
            OutputReadiness(" ready."), environment,
        ),
    )  # fmt: skip


def now() -> float:
    """The clock of every moment here."""
    return time.monotonic()
