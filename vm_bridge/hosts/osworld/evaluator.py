"""Sets up and evaluates OSWorld's task files with OSWorld's own package: a sandboxed program, started for each run.

The program can reach the guest's ports and the hosts that the operator allows. It can reach nothing else of this
machine or its network.
"""

import asyncio
import json
import logging
import os
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Protocol, Self

from pydantic import ValidationError

from protocol.base import FrozenModel
from protocol.trajectory.observations import Verdict
from vm_bridge.drivers.osworld.task_files import TaskFile, raise_unsupported
from vm_bridge.errors import MachineGone, VerifierFailed
from vm_bridge.guest.common.relay import StreamPair, relay
from vm_bridge.hosts.lifecycle import OperationGroup
from vm_bridge.hosts.osworld import evaluator_program as program
from vm_bridge.hosts.osworld import task_interface
from vm_bridge.hosts.osworld.disk_quota import find_excess, remove_folder, wait_for_excess
from vm_bridge.hosts.osworld.evaluator_settings import SETTINGS_FOLDER, EvaluatorSettings, account_files, list_missing
from vm_bridge.hosts.osworld.program_needs import FILES
from vm_bridge.isolation.bubblewrap import MIB
from vm_bridge.isolation.cgroups import ControlGroups, ResourceLimits
from vm_bridge.isolation.isolated_program import IsolatedProgram, end_isolated, isolated_command, start_isolated
from vm_bridge.isolation.start_errors import explain_start_failure
from vm_bridge.isolation.users import user_free
from vm_bridge.network import egress_proxy

logger = logging.getLogger(__name__)

FOLDER_PREFIX = "referee-"
"""How the names of tasks' folders begin."""
RUN_TIMEOUT_SECONDS = 600.0
"""Longest that setting up, or judging, may take."""
IDLE_SECONDS = 180.0
"""A connection to the guest on which nothing moves for so long is ended; their server ends a command after 120."""
MAX_ANSWER_BYTES = 2**20
MAX_ERROR_BYTES = 16 * 2**10
"""So much of the end of what the program writes beside its answer is kept."""
HOME, VENV, TUNNELS = "/home/user", "/run/osworld", "/run/ways"
WRITABLE = {HOME: 16 * MIB, "/tmp": 1024 * MIB, "/run": MIB, "/dev/shm": 256 * MIB}
"""What can be written beside the cache, in memory, and how much (bytes)."""
RESOURCE_LIMITS = ResourceLimits(cores=4, memory=6 * 1024 * MIB, processes=512)
"""Of everything in one run, where this process may make control groups."""
GUEST_PORTS = (program.SERVER, program.BROWSER, program.PLAYER)
PROXY_URL = f"http://{program.LOOPBACK}:{program.PROXY}"
ENVIRONMENT = {
    "HOME": HOME,
    "USER": "user",
    "PATH": f"{VENV}/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "MPLCONFIGDIR": "/tmp",
    "NUMBA_CACHE_DIR": "/tmp",
    **{name: PROXY_URL for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")},
    **{name: f"localhost,{program.LOOPBACK}" for name in ("no_proxy", "NO_PROXY")},
}


class EvaluatorReply(FrozenModel):
    """What the program says."""

    score: float | None = None
    failed: str | None = None
    told: tuple[str, ...] = ()
    """Errors that the package only logged before it continued."""
    details: str = ""
    """What a task program said beside its score, as JSON."""


class GuestConnector(Protocol):
    """Leads to the ports of one guest that are asked: its server's, Chrome's debugging port, and VLC's."""

    async def connect(self, port: int) -> StreamPair:
        """A connection to what OSWorld's package knows as this port. Raises OSError and TimeoutError."""
        ...


@dataclass(frozen=True)
class GuestPorts:
    """Where a guest's server is, and what in the guest is asked too: Chrome's debugging port, and VLC's."""

    host: str
    server: int
    browser: int = program.BROWSER
    player: int = program.PLAYER

    @classmethod
    def of(cls, address: str) -> Self:
        """From `host:server`, or `host:server:chrome:vnc:vlc` as OSWorld's own providers write it."""
        found = re.fullmatch(r"(\[[^]]+\]|[^:]+):(\d+)(?::(\d+):\d+:(\d+))?", address)
        if found is None:
            raise ValueError(f"{address} is no address of a guest")
        host, server, *others = found.groups()
        return cls(host.strip("[]"), int(server), *(int(port) for port in others if port))

    @property
    def server_address(self) -> str:
        """The server's `host:port`."""
        return f"[{self.host}]:{self.server}" if ":" in self.host else f"{self.host}:{self.server}"

    async def connect(self, port: int) -> StreamPair:
        """See `GuestConnector.connect`."""
        known = {program.SERVER: self.server, program.BROWSER: self.browser, program.PLAYER: self.player}
        return await asyncio.open_connection(self.host, known[port])


class OSWorldEvaluator:
    """Of one guest. What a task's steps keep for its evaluator lies in its cache until the next task."""

    def __init__(self, name: str, ports: GuestConnector, settings: EvaluatorSettings, folders: Path) -> None:
        self._name, self._ports, self._settings, self._folders = name, ports, settings, folders
        self._user = user_free()
        self.folder: Path | None = None
        """Of the present task, below `folders`."""
        self._ongoing = OperationGroup()

    def check_supported(self, file: TaskFile) -> None:
        """Raises UnsupportedTask with what of a file cannot be done here; changes nothing."""
        raise_unsupported(list_missing(file, self._settings))

    async def set_up(self, file: TaskFile, size: tuple[int, int]) -> None:
        """Raises MachineGone if a step failed, because the guest's state is then unknown."""
        await self.forget()
        answer, errors = await self._run({"do": "set_up", "size": size}, file)
        if answer is None or answer.failed is not None:
            await self.forget()
            raise MachineGone(f"the task's config: {errors if answer is None else answer.failed}")
        self._log(answer)

    async def judge(self, file: TaskFile, size: tuple[int, int], said: str) -> Verdict:
        """The verdict. Raises VerifierFailed if the guest or the file makes it impossible."""
        answer, errors = await self._run({"do": "judge", "size": size, "answer": said}, file)
        if answer is None or answer.score is None:
            raise VerifierFailed(errors if answer is None else answer.failed or errors)
        self._log(answer)
        score = min(1.0, max(0.0, answer.score))
        return Verdict(success=score == 1.0, score=score, reason=": ".join(filter(None, (file.judge, answer.details))))

    async def end(self) -> None:
        """End running set-ups and evaluations, which raise MachineGone, and wait until none runs."""
        await self._ongoing.end()

    async def forget(self) -> None:
        """Delete the cache once it is unused. Idempotent."""
        await self.end()
        folder, self.folder = self.folder, None
        if folder is not None:
            await remove_folder(folder)

    # --- one run

    async def _run(self, asked: dict[str, Any], file: TaskFile) -> tuple[EvaluatorReply | None, str]:
        """What the program answered, None where it did not, and its last words. Raises MachineGone."""
        folder = self._make_folder()
        asked |= {"file": file.given, "password": self._settings.password, "ways": _tunnel_ports()}
        asked |= {"services": self._settings.services_of(file)}
        asked["arena"] = self._settings.arena
        if self._user is not None:  # only this run uses the user, so its processes can be counted
            asked["processes"] = RESOURCE_LIMITS.processes
        try:
            async with (
                self._ongoing.work(),
                asyncio.timeout(RUN_TIMEOUT_SECONDS),
                self._open_tunnels(folder / "ways", file),
            ):
                answered, errors = await self._run_with_quota(json.dumps(asked).encode(), folder, file)
        except TimeoutError:
            return None, f"it did not end within {RUN_TIMEOUT_SECONDS:g} s"
        except DiskQuotaExceeded as excess:
            return None, str(excess)
        try:
            return EvaluatorReply.model_validate_json(answered), errors
        except ValidationError:
            return None, explain_start_failure(errors) or "it said nothing"

    async def _run_with_quota(self, asked: bytes, folder: Path, file: TaskFile) -> tuple[bytes, str]:
        """See `_reply_renderer`. Raises DiskQuotaExceeded where it is ended since it keeps too much on the disk."""
        speaking = asyncio.create_task(self._communicate(asked, folder, file))
        watching = asyncio.create_task(wait_for_excess(folder))
        try:
            await asyncio.wait((speaking, watching), return_when=asyncio.FIRST_COMPLETED)
            excess = watching.result() if watching.done() else await asyncio.to_thread(find_excess, folder)
            if excess is not None:
                raise DiskQuotaExceeded(excess)
            return speaking.result()
        finally:
            speaking.cancel()
            watching.cancel()
            await asyncio.gather(speaking, watching, return_exceptions=True)

    async def _communicate(self, asked: bytes, folder: Path, file: TaskFile) -> tuple[bytes, str]:
        """Everything it answered, and the end of the rest. It is ended with all it started."""
        groups = ControlGroups.create(folder.name, RESOURCE_LIMITS)
        try:
            process = await start_isolated(partial(isolated_command, self._program(folder, file)), groups)
        except BaseException:
            groups.remove()
            raise
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            process.stdin.write(asked)
            process.stdin.close()
            answered, errors = await asyncio.gather(
                _read_tail(process.stdout, MAX_ANSWER_BYTES), _read_tail(process.stderr, MAX_ERROR_BYTES)
            )
            await process.wait()
        finally:
            await end_isolated(process)
            groups.remove()
        return answered, errors.decode("utf-8", "replace")

    @asynccontextmanager
    async def _open_tunnels(self, folder: Path, file: TaskFile) -> AsyncIterator[None]:
        """The ways to the guest and out, for one run."""
        async with AsyncExitStack() as stack:
            proxy_tunnel = self._settings.make_egress(self._name, self._settings.hosts_of(file))
            await proxy_tunnel.open(folder)
            stack.push_async_callback(proxy_tunnel.close)
            for port in GUEST_PORTS:
                way = PortTunnel(self._ports, port)
                await way.open(folder, f"{port}.sock")
                stack.push_async_callback(way.close)
            yield

    def _make_folder(self) -> Path:
        """The folder of this guest's task: `cache` is the program's, `ways` has the sockets."""
        if self.folder is None:
            folder = self.folder = Path(mkdtemp(prefix=FOLDER_PREFIX, dir=self._folders))
            for path, mode in ((folder, 0o711), (folder / "ways", 0o711), (folder / "cache", 0o700)):
                path.mkdir(exist_ok=True)
                path.chmod(mode)
            self._give(folder / "cache")
        return self.folder

    def _give(self, path: Path) -> None:
        if self._user is not None:
            os.chown(path, self._user, self._user)

    # --- the walls

    def _program(self, folder: Path, file: TaskFile) -> IsolatedProgram:
        return IsolatedProgram(
            python=self._settings.python,
            venv=VENV,
            program=program.__file__,
            modules=(task_interface.__file__,),
            user=self._user,
            writable=WRITABLE,
            environment={**ENVIRONMENT, "PYTHONPATH": FILES} if self._settings.arena else ENVIRONMENT,
            mounts=[
                *("--ro-bind", str(folder / "ways"), TUNNELS),
                *("--bind", str(folder / "cache"), program.CACHE),
                *self._files(folder, file),
            ],
        )

    def _files(self, folder: Path, file: TaskFile) -> list[str]:
        """The operator's folder, without its accounts; a task that asks for one sees a copy of them."""
        given = self._settings.files
        if given is None:
            return ["--chdir", HOME]
        options = ["--ro-bind", str(given.resolve()), FILES, "--chdir", FILES]
        if not (given / SETTINGS_FOLDER).is_dir():
            return options
        if not any(account_files(part) for part in file.parts):
            return [*options, "--tmpfs", f"{FILES}/{SETTINGS_FOLDER}"]
        copy = folder / "settings"
        if not copy.exists():
            shutil.copytree(given / SETTINGS_FOLDER, copy)
            for path in (copy, *copy.rglob("*")):
                self._give(path)
        return [*options, "--bind", str(copy), f"{FILES}/{SETTINGS_FOLDER}"]

    def _log(self, answer: EvaluatorReply) -> None:
        for line in answer.told:
            logger.warning("%s: %s", self._name, line)


class DiskQuotaExceeded(Exception):
    """A program keeps too much on the disk."""


class PortTunnel:
    """A socket of the host's file system that leads to one port of a guest."""

    def __init__(self, guest: GuestConnector, port: int) -> None:
        self._guest, self._port = guest, port
        self._serving: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def open(self, folder: Path, name: str) -> None:
        """Listen."""
        path = folder / name
        path.unlink(missing_ok=True)
        self._server = await asyncio.start_unix_server(self._accept, path)
        path.chmod(0o666)  # the program is another user; no other user can reach the folder

    async def close(self) -> None:
        """End every connection."""
        if self._server is not None:
            self._server.close()
        serving = tuple(self._serving)
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)

    def _accept(self, *visitor: Any) -> None:
        task = asyncio.create_task(self._attend(visitor))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _attend(self, visitor: StreamPair) -> None:
        try:
            guest = await self._guest.connect(self._port)
        except (OSError, TimeoutError):
            visitor[1].close()
            return
        with suppress(TimeoutError):
            await relay(visitor, guest, idle=IDLE_SECONDS)


async def remove_stale_folders(folders: Path) -> None:
    """Remove those of an earlier host, with the accounts in them."""
    for left in tuple(folders.glob(f"{FOLDER_PREFIX}*")):  # noqa: ASYNC240 - it holds a few names, and nothing else runs yet
        await remove_folder(left)


def _tunnel_ports() -> dict[str, str]:
    """Where the program finds which port."""
    ways = {str(port): f"{TUNNELS}/{port}.sock" for port in GUEST_PORTS}
    return {**ways, str(program.PROXY): f"{TUNNELS}/{egress_proxy.PROXY_SOCKET}"}


async def _read_tail(stream: asyncio.StreamReader, most: int) -> bytes:
    """The last bytes of all that comes."""
    kept = b""
    while data := await stream.read(65_536):
        kept = (kept + data)[-most:]
    return kept
