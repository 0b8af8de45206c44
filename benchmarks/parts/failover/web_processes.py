"""Two web processes behind nginx; the one that drives is killed in the middle of an act; then every step is counted."""

import asyncio
import contextlib
import json
import os
import secrets
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import httpx
import uvicorn
from psycopg import connect

from annotation_app.operations.runtime.ports import free_ports
from annotation_app.operations.runtime.redis_users import BRIDGE
from annotation_app.operations.runtime.secrets import InstallationSecrets
from annotation_app.operations.runtime.stack import ROOT
from annotation_app.operations.runtime.temporary_platform import temporary_platform
from benchmarks.parts.concurrency import in_background
from benchmarks.parts.failover.annotators import ReconnectingAnnotator
from benchmarks.parts.failover.pgbouncer import PGBOUNCER, run_pgbouncer
from benchmarks.parts.figures import percentile, print_progress
from benchmarks.parts.nginx import run_nginx
from benchmarks.parts.waiting import log_tail, wait_until
from protocol.actions.types import Action, Click
from vm_bridge.__main__ import create_bridge_app
from vm_bridge.config import Config
from vm_bridge.simulators.fake.sandbox import FakeHost

LOOPBACK = "127.0.0.1"
READY_SECONDS = 300.0
SEED_SECONDS = 900.0
"""Longest until the database has its tables and its people: minutes on a busy machine."""
STEPS = 3
"""How many each pilot has done before the first death, and between two."""
MAX_STEPS = 1000
"""How many steps an episode may have: the most that a pool allows."""
WATCH_SECONDS = 0.5
POOLED_CONNECTIONS = 4
"""Connections that all web processes share."""
COUNTS = ("deaths", "steps", "lost_steps", "doubled_steps")


@dataclass(frozen=True, slots=True)
class WebProcess:
    """A web process: its port, and the host name it believes it is on."""

    port: int
    host: str
    environment: dict[str, str]
    log: Path

    def start(self) -> "subprocess.Popen[bytes]":
        """In a host name of its own: what another host's process cannot know of it, this one cannot either."""
        daphne = f"{sys.executable} -m daphne --proxy-headers -b {LOOPBACK} -p {self.port}"
        inside = f"hostname {self.host} && exec {daphne} annotation_app.asgi_server:application"
        # Who is not root names a host in a user namespace; in one, root could not reach the socket of the database.
        mapped = ("--user", "--map-root-user") if os.geteuid() else ()
        command = ["unshare", *mapped, "--uts", "sh", "-c", inside]
        with self.log.open("ab") as log:
            return subprocess.Popen(command, cwd=ROOT, env={**os.environ, **self.environment}, stdout=log, stderr=log)


def measure(folder: Path, *, rounds: int = 6, annotator_count: int = 4) -> dict[str, object]:
    """What the death of a web process costs who sits at its desks, on one host and on two."""
    together = measure_deaths(folder / "together", hosts=("web", "web"), rounds=rounds, annotator_count=annotator_count)
    apart = measure_deaths(folder / "apart", hosts=("web-1", "web-2"), rounds=rounds, annotator_count=annotator_count)
    return {
        "web_failover_ms": together["steered"],
        "web_failover_step_ms": together["acted"],
        "web_failover_hosts_ms": apart["steered"],
        "web_failover_hosts_step_ms": apart["acted"],
        **{f"web_failover_{key}": int(together[key] + apart[key]) for key in COUNTS},
    }


def measure_deaths(folder: Path, *, hosts: tuple[str, str], rounds: int, annotator_count: int) -> dict[str, float]:
    folder.mkdir(parents=True)
    with temporary_platform(folder / "storage", storage_only=True) as storage:
        seeded = subprocess.run(
            [sys.executable, "-m", "benchmarks.parts.failover.seed", str(annotator_count), str(MAX_STEPS)], cwd=ROOT,
            env={**os.environ, **storage.environment}, stdout=subprocess.PIPE, text=True, check=True,
            timeout=SEED_SECONDS,
        ).stdout  # fmt: skip
        with _with_pooler(storage.environment) as environment:
            return asyncio.run(_run_rounds(folder, hosts, rounds, json.loads(seeded), environment))


@contextlib.contextmanager
def _with_pooler(environment: dict[str, str]) -> Iterator[dict[str, str]]:
    """The web processes' surroundings, with a pooler before the database where one is installed."""
    if PGBOUNCER is None:
        yield environment
        return
    direct = environment["PILOTHOUSE_DATABASE_URL"]
    with run_pgbouncer(direct, size=POOLED_CONNECTIONS) as url:
        yield {**environment, "PILOTHOUSE_DATABASE_URL": url, "PILOTHOUSE_DATABASE_DIRECT_URL": direct}


async def _run_rounds(
    folder: Path, hosts: tuple[str, str], rounds: int, seeded: list[dict[str, str]], environment: dict[str, str]
) -> dict[str, float]:
    ports = free_ports(3)
    host = FakeHost(capacity=len(seeded) + 1)
    async with _run_bridge(folder, host, environment) as bridge_url:
        common = {**environment, "PILOTHOUSE_BRIDGE_URL": bridge_url, "PILOTHOUSE_LOG_LEVEL": "WARNING"}
        webs = [
            WebProcess(port, name, common, folder / f"web-{port}.log") for port, name in zip(ports, hosts, strict=False)
        ]
        at = f"{LOOPBACK}:{ports[-1]}"
        annotators = [
            ReconnectingAnnotator(episode=each["episode"], session=each["session"], number=number, at=at)
            for number, each in enumerate(seeded)
        ]
        with run_nginx(folder, at, [f"{LOOPBACK}:{web.port}" for web in webs]), _run_web_processes(webs) as processes:
            over, logs = asyncio.Event(), {web.port: web.log for web in webs}
            async with in_background(processes.watch()):
                await _wait_for_health([*logs, ports[-1]], logs)
                async with in_background(*(annotator.run_until(over) for annotator in annotators)) as flights:
                    for _ in range(rounds):
                        await _kill_during_action(
                            environment["PILOTHOUSE_DATABASE_URL"], annotators, processes, MAX_STEPS // rounds
                        )
                        await _wait_for_health([*logs], logs)
                    over.set()
                    await asyncio.wait(flights)
                for annotator in annotators:
                    await annotator.read_stored()
    figures = count_lost_and_doubled(annotators, [machine.acts for machine in host.made])
    print_progress(f"{figures['deaths']:.0f} desks lost their process, {figures['steps']:.0f} steps")
    return figures


async def _kill_during_action(
    database: str, annotators: list[ReconnectingAnnotator], processes: "WebProcessGroup", most: int
) -> None:
    """Kill the process that drives some pilot while an act of it is under way; wait until all act again.

    Each annotator sends at most `most` actions meanwhile, however fast the machine is, and then rests.
    """
    before = [len(annotator.done) for annotator in annotators]
    _allow_actions(annotators, STEPS)
    await wait_until(
        lambda: all(len(annotator.done) >= had + STEPS for annotator, had in zip(annotators, before, strict=True)),
        READY_SECONDS,
        lambda: f"{STEPS} steps of each annotator; done: {[len(annotator.done) for annotator in annotators]}",
    )  # fmt: skip
    _allow_actions(annotators, most - STEPS - 1)
    victim = annotators[secrets.randbelow(len(annotators))]
    port = await asyncio.to_thread(processes.port_of, database, victim.episode)
    theirs = [
        annotator
        for annotator in annotators
        if await asyncio.to_thread(processes.port_of, database, annotator.episode) == port
    ]
    await wait_until(lambda: victim.acting, READY_SECONDS, f"an action of annotator {victim.number} begins")
    processes.kill(port)
    for annotator in theirs:
        annotator.killed_at = time.monotonic()
        annotator.limit = max(annotator.limit, len(annotator.sent) + 1)
    await wait_until(
        lambda: all(annotator.killed_at is None for annotator in annotators), READY_SECONDS,
        lambda: f"a step after the kill of annotators {[one.number for one in annotators if one.killed_at]}",
    )  # fmt: skip
    processes.start(port)


def _allow_actions(annotators: list[ReconnectingAnnotator], acts: int) -> None:
    """Let each pilot send so many acts more."""
    for annotator in annotators:
        annotator.limit = len(annotator.sent) + acts


class WebProcessGroup:
    """The web processes by port; a killed one may be started again."""

    def __init__(self, webs: list[WebProcess]) -> None:
        self._webs = {web.port: web for web in webs}
        self._processes = {web.port: web.start() for web in webs}

    def port_of(self, database: str, episode: str) -> int:
        """Which process drives this episode, by what it wrote there."""
        with connect(database) as connection:
            row = connection.execute("SELECT runner FROM episodes_episode WHERE id = %s", [episode]).fetchone()
        assert row is not None
        pid = int(row[0].rsplit(":", 2)[1])
        return next(port for port, process in self._processes.items() if process.pid == pid)

    async def watch(self) -> None:
        """Runs for ever. Raises RuntimeError when a process ends that nobody killed."""
        while True:
            for port, process in self._processes.items():
                if process.poll() is not None:
                    log = log_tail(self._webs[port].log)
                    raise RuntimeError(f"the web process at port {port} ended with {process.returncode}: {log}")
            await asyncio.sleep(WATCH_SECONDS)

    def kill(self, port: int) -> None:
        process = self._processes.pop(port)
        process.kill()
        process.wait()

    def start(self, port: int) -> None:
        self._processes[port] = self._webs[port].start()

    def end(self) -> None:
        for port in tuple(self._processes):
            self.kill(port)


@contextlib.contextmanager
def _run_web_processes(webs: list[WebProcess]) -> Iterator[WebProcessGroup]:
    fleet = WebProcessGroup(webs)
    try:
        yield fleet
    finally:
        fleet.end()


def _as_bridge(folder: Path, url: str) -> str:
    """The same Redis server's address for the bridge's user."""
    password = InstallationSecrets.load_or_create(folder / "storage" / "secrets.json").redis_bridge
    return f"redis://{BRIDGE}:{password}@{url.rpartition('@')[2]}"


@contextlib.asynccontextmanager
async def _run_bridge(folder: Path, host: FakeHost, environment: dict[str, str]) -> AsyncIterator[str]:
    """A bridge in this process, over machines whose acts can be read."""
    server = uvicorn.Server(uvicorn.Config("unset", port=0, ws="none", log_config=None, access_log=False))
    listener = server.config.bind_socket()
    url = f"http://{LOOPBACK}:{listener.getsockname()[1]}"
    config = Config(
        secret=environment["PILOTHOUSE_BRIDGE_MASTER_KEY"],
        redis_url=_as_bridge(folder, environment["PILOTHOUSE_REDIS_URL"]),
        bridge_url=url, data=folder,
    )  # fmt: skip
    server.config.app = create_bridge_app(config, host)
    try:
        async with in_background(server.serve(sockets=[listener])) as serving:
            await wait_until(lambda: server.started, READY_SECONDS, "the bridge serves")
            try:
                yield url
            finally:
                server.should_exit = True
                await asyncio.wait(serving)
    finally:
        listener.close()


def count_lost_and_doubled(
    annotators: list[ReconnectingAnnotator], acts: Sequence[Sequence[Action]]
) -> dict[str, float]:
    """A step is lost where a done command is not stored, doubled where a machine or the database has it twice."""
    made = Counter((act.x, act.y) for machine in acts for act in machine if isinstance(act, Click))
    lost = doubled = steps = 0
    for annotator in annotators:
        kept = Counter(step["command_id"] for step in annotator.stored)
        wanted = set(annotator.done)
        places = [(step["action"]["x"], step["action"]["y"]) for step in annotator.stored]
        lost += len(wanted - set(kept)) + sum(1 for place in places if made[place] == 0)
        doubled += sum(count - 1 for count in kept.values()) + sum(max(0, made[place] - 1) for place in places)
        steps += len(annotator.stored)
    steered, acted = (
        [1000 * each for annotator in annotators for each in getattr(annotator, name)] for name in ("steered", "acted")
    )
    return {
        "steered": percentile(steered, 0.5), "acted": percentile(acted, 0.5), "deaths": len(steered), "steps": steps,
        "lost_steps": lost, "doubled_steps": doubled,
    }  # fmt: skip


async def _wait_for_health(ports: list[int], logs: Mapping[int, Path] = MappingProxyType({})) -> None:
    """Wait until these ports answer with health. Raises TimeoutError, with the last answer and the end of the log."""
    async with httpx.AsyncClient(trust_env=False) as client:
        for port in ports:
            end, last = time.monotonic() + READY_SECONDS, ""
            while True:
                try:
                    answer = await client.get(f"http://{LOOPBACK}:{port}/api/health")
                except httpx.TransportError as error:
                    last = f"{type(error).__name__} {error}"
                else:
                    if answer.is_success:
                        break
                    last = f"{answer.status_code} {answer.text}"
                if time.monotonic() > end:
                    log = log_tail(logs[port]) if port in logs else ""
                    raise TimeoutError(f"port {port} is not healthy after {READY_SECONDS:g} s: {last}; {log}")
                await asyncio.sleep(0.1)
