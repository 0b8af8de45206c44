"""The platform that is attacked: the whole one of `./pilothouse serve`, with a web process behind nginx besides."""

import asyncio
import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from annotation_app.operations.runtime.ports import free_ports
from annotation_app.operations.runtime.stack import ROOT
from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform, temporary_platform
from benchmarks.parts.figures import print_progress
from benchmarks.parts.nginx import NGINX, run_nginx
from benchmarks.parts.processes import descendant_pids
from benchmarks.parts.safety import escapes, load, machines, origins, roles, scopes
from benchmarks.parts.safety.planted_secrets import (
    PlantedSecrets,
    SecretsUser,
    log_files,
    plant_platform_secrets,
    process_lists,
)
from benchmarks.parts.safety.requests import Session, http_connection, listens
from benchmarks.parts.waiting import wait_for

LOOPBACK = "127.0.0.1"
SEED_SECONDS = 300.0
READY_SECONDS = 120.0
END_SECONDS = 30.0
IMAGES = ("terminal", "desktop", "browser")
MACHINES = 4
UPLOADS = "imports"
"""Where in the data folder uploads are stored."""


@dataclass(frozen=True, slots=True)
class Target:
    """A running platform and what is known of it."""

    platform: TemporaryPlatform
    folder: Path
    seeded: dict[str, Any]
    sessions: dict[str, Session]
    web: str
    """`host:port` of the platform's own web process."""
    proxied: str
    """The same of a second one, which believes what the proxy tells it."""
    proxied_pid: int
    proxy: str
    """What strangers reach: nginx before the second one, or that one itself where nginx is not installed."""
    proxy_pid: int
    """0 where there is none."""
    temporary: Path
    """The temporary folder of the second web process."""

    @property
    def bridge(self) -> str:
        return urlsplit(self.platform.environment["PILOTHOUSE_BRIDGE_URL"]).netloc


def measure_stack(folder: Path, only: Sequence[str] = ()) -> dict[str, Any]:
    """Every figure that needs a platform, or those of these parts."""
    os.environ["PILOTHOUSE_MAX_MACHINES"] = str(MACHINES)
    os.environ["PILOTHOUSE_WARM_POOL"] = "{}"
    print_progress("a whole platform")
    with _target(folder) as target:
        planted = PlantedSecrets()
        plant_platform_secrets(planted, target.platform.data, target.platform.environment)
        figures: dict[str, Any] = {"nginx": target.proxy_pid > 0}
        for name, part in _parts(target, planted).items():
            if only and name not in only:
                continue
            print_progress(name)
            began = time.monotonic()
            figures |= part()
            print_progress(f"  {time.monotonic() - began:.0f} s")
    return figures


def _parts(target: Target, planted: PlantedSecrets) -> dict[str, Callable[[], dict[str, Any]]]:
    """What is measured, in order: secrets are looked for when everything else was logged."""
    sessions = target.sessions
    return {
        "planting": lambda: _use_secrets(target, planted),
        "episode": lambda: asyncio.run(_use_secret_in_episode(target, planted)),
        "scopes": lambda: _try_scopes(target, planted),
        "origins": lambda: asyncio.run(_try_origins(target, planted)),
        "escapes": lambda: asyncio.run(_try_escapes(target)),
        "bodies": lambda: load.spooled_mb(target.proxy, _body_pids(target), _body_folders(target)),
        "flood": lambda: load.sign_in_flood(target.proxy, target.proxied_pid, sessions["annotator"]),
        "roles": lambda: roles.try_roles(target.web, _route_calls(target), sessions),
        "methods": lambda: load.label_growth_kb(target.web, sessions["admin"]),
        "secrets": lambda: _look_for_secrets(target, planted),
    }


@contextlib.contextmanager
def _target(folder: Path) -> Iterator[Target]:
    with contextlib.ExitStack() as exits:
        platform = exits.enter_context(temporary_platform(folder / "platform"))
        seeded = _seed(platform)
        csrf = {caller: secrets.token_hex(16) for caller in seeded["sessions"]}
        sessions = {caller: Session(cookie=cookie, csrf=csrf[caller]) for caller, cookie in seeded["sessions"].items()}
        web_port, proxy_port = free_ports(2)
        temporary = Path(exits.enter_context(tempfile.TemporaryDirectory(prefix="pilothouse-bench-")))
        proxied = f"{LOOPBACK}:{web_port}"
        second = exits.enter_context(_web_process(platform, web_port, folder, temporary))
        proxy, proxy_pid = proxied, 0
        if NGINX is not None:
            proxy = f"{LOOPBACK}:{proxy_port}"
            nginx_folder = folder / "nginx"
            nginx_folder.mkdir()
            proxy_pid = exits.enter_context(run_nginx(nginx_folder, proxy, [proxied])).pid
            wait_for(lambda: listens(proxy), READY_SECONDS, "nginx listens")
        web = f"{LOOPBACK}:{urlsplit(platform.url).port}"
        yield Target(platform, folder, seeded, sessions, web, proxied, second.pid, proxy, proxy_pid, temporary)


def _seed(platform: TemporaryPlatform) -> dict[str, Any]:
    told = subprocess.run(
        [sys.executable, "-m", "benchmarks.parts.safety.seed"], cwd=ROOT, env={**os.environ, **platform.environment},
        stdout=subprocess.PIPE, text=True, check=True, timeout=SEED_SECONDS,
    ).stdout  # fmt: skip
    seeded: dict[str, Any] = json.loads(told)
    return seeded


@contextlib.contextmanager
def _web_process(
    platform: TemporaryPlatform, port: int, folder: Path, temporary: Path
) -> "Iterator[subprocess.Popen[bytes]]":
    """A web process as behind a proxy, with a temporary folder of its own."""
    command = [
        *(sys.executable, "-m", "daphne", "--proxy-headers", "-b", LOOPBACK, "-p", str(port)),
        "annotation_app.asgi_server:application",
    ]
    log = folder / "web-2.log"
    environment = {**os.environ, **platform.environment, "TMPDIR": str(temporary)}
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=out, stderr=out)
    try:
        wait_for(lambda: listens(f"{LOOPBACK}:{port}"), READY_SECONDS, "a second web process listens", {log: process})
        yield process
    finally:
        process.terminate()
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _use_secrets(target: Target, planted: PlantedSecrets) -> dict[str, Any]:
    with http_connection(target.proxy) as connection:
        SecretsUser(
            connection, planted, target.sessions["admin"], target.seeded["password"], target.seeded["pool"]
        ).use_all()
    return {}


async def _use_secret_in_episode(target: Target, planted: PlantedSecrets) -> dict[str, Any]:
    session = target.sessions["annotator"]
    await machines.use_secret(target.web, target.platform.url, session, target.seeded["pool"], planted)
    return {}


def _route_calls(target: Target) -> list[roles.RouteCall]:
    return [roles.RouteCall(**{**call, "callers": frozenset(call["callers"])}) for call in target.seeded["calls"]]


def _try_scopes(target: Target, planted: PlantedSecrets) -> dict[str, Any]:
    routes = [
        (call.method, call.target.partition("?")[0]) for call in _route_calls(target) if "nobody" not in call.callers
    ]
    token = planted.plant("token of the feed", target.seeded["token"])
    return scopes.try_scopes(list(dict.fromkeys((target.web, target.proxy))), token, routes)


async def _try_origins(target: Target, planted: PlantedSecrets) -> dict[str, Any]:
    environment = target.platform.environment
    async with machines.leased(environment, "desktop") as desktop, machines.leased(environment, "browser") as browser:
        doors = machines.socket_doors(environment, target.platform.url, desktop, browser, planted)
        session = target.sessions["owner"]
        web_host = urlsplit(target.platform.url).netloc
        doors.append(
            origins.SocketDoor(
                "the desk", target.web, web_host, lambda: f"/ws/episodes/{target.seeded['episode']}/",
                target.platform.url, session.headers(),
            )
        )  # fmt: skip
        return await asyncio.to_thread(
            origins.try_origins, doors, target.web, session, target.platform.url, target.bridge
        )


async def _try_escapes(target: Target) -> dict[str, Any]:
    with _abstract_listener() as abstract:
        return await _try_escapes_with(target, (abstract, *_unix_sockets(target.platform.data)))


@contextlib.contextmanager
def _abstract_listener() -> Iterator[str]:
    """A service of the host at an abstract address, as D-Bus and X servers have."""
    name = f"pilothouse-bench-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0{name}")
        listener.listen()
        yield f"@{name}"


def _unix_sockets(data: Path) -> Iterator[str]:
    """Sockets of the platform's own programs: of PostgreSQL, and of other machines' guests."""
    for file in data.rglob("*"):
        if file.is_socket():
            yield str(file)


async def _try_escapes_with(target: Target, sockets: tuple[str, ...]) -> dict[str, Any]:
    platform = target.platform
    data = platform.data
    facts = escapes.HostFacts(
        files=(str(data / "secrets.json"), str(data / "secret_key"), str(ROOT / "README.md"), str(Path.home())),
        ports=tuple(_ports(target)),
        addresses=tuple(_own_addresses()),
        sockets=(*sockets, "/run/docker.sock", "/run/containerd/containerd.sock", "/run/dbus/system_bus_socket"),
        pids=tuple(pid for name in ("bridge", "web") if (pid := platform.pid(name)) >= escapes.MIN_PID),
    )
    environment = platform.environment
    return await escapes.measure_escapes(
        environment["PILOTHOUSE_BRIDGE_URL"],
        environment["PILOTHOUSE_BRIDGE_MASTER_KEY"],
        platform.pid("bridge"),
        facts,
        IMAGES,
        target.folder,
    )


def _ports(target: Target) -> Iterator[int]:
    """Where programs of the platform listen."""
    environment = target.platform.environment
    yield int(target.web.rpartition(":")[2])
    for name in ("PILOTHOUSE_BRIDGE_URL", "PILOTHOUSE_REDIS_URL", "PILOTHOUSE_SCRIPTED_URL"):
        if port := urlsplit(environment[name]).port:
            yield port
    yield int(environment["PILOTHOUSE_VNC_BIND"].rpartition(":")[2])


def _own_addresses() -> Iterator[str]:
    """The host's own address on its network, where it has one, with the port of a service that is often there."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.connect(("192.0.2.1", 9))
        yield f"{link.getsockname()[0]}:22"


def _body_pids(target: Target) -> list[int]:
    roots = [pid for pid in (target.proxied_pid, target.proxy_pid) if pid]
    return [pid for root in roots for pid in (root, *descendant_pids(root))]


def _body_folders(target: Target) -> list[Path]:
    return [target.folder / "nginx", target.temporary, target.platform.data / UPLOADS]


def _look_for_secrets(target: Target, planted: PlantedSecrets) -> dict[str, Any]:
    with http_connection(target.web) as connection:
        metrics = connection.call("GET", "/api/metrics", target.sessions["admin"]).body
    logs = list(log_files(target.folder))
    processes = list(process_lists())
    found = planted.found_in([*logs, *processes, ("the metrics", metrics), *planted.pages])
    return {
        "secrets_planted": len(planted.values),
        "logs_read": len(logs),
        "pages_read": len(planted.pages),
        "secrets_in_logs": found.total(),
    }
