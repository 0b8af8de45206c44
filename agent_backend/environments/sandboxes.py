"""Sandboxes: machines on which a client runs commands and keeps files, without a task and without steps."""

import asyncio
import base64
import json
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, get_args

from pydantic import BeforeValidator, Field, StringConstraints

from agent_backend.environments.errors import EnvironmentRefusal, refusal_of
from agent_backend.rollout.attempts import leased_machine
from protocol.actions.types import MAX_FILE, RunCommand
from protocol.base import FrozenModel
from protocol.trajectory.observations import Platform
from protocol.trajectory.tasks import HostPattern, Task
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError
from vm_bridge.machine import Machine

HOLDER = "sandbox"
RUNNER = Path(__file__).with_name("sandbox_runner.py")
JOBS_FOLDER = "/tmp/.pilothouse-sandbox"  # noqa: S108 - inside the machine, which has one user
MAX_EXECUTE_SECONDS = 600.0
"""Longest a command may run."""
MAX_PART_BYTES = MAX_FILE // 2
"""Most bytes of one read or write, and of standard input."""
TRANSFER_SECONDS = 60.0
"""Timeout for reading or writing one part of a file inside the sandbox."""
SandboxPath = Annotated[str, StringConstraints(min_length=1, max_length=4096, pattern=r"^[^\x00]+$")]
SandboxWord = Annotated[str, StringConstraints(max_length=131_071, pattern=r"^[^\x00]*$")]
"""An argument or a variable, at most as long as Linux allows."""
VariableName = Annotated[str, StringConstraints(min_length=1, max_length=1_000, pattern=r"^[^=\x00]+$")]


def _decode_base64(text: object) -> bytes:
    """Raises ValueError."""
    if not isinstance(text, str):
        raise ValueError("it is no text in base64")
    return base64.b64decode(text, validate=True)


class SandboxRequest(FrozenModel):
    """The settings of a new sandbox."""

    image: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")] = "terminal"
    network: Annotated[tuple[HostPattern, ...], Field(max_length=64)] = ()
    """Hosts that it may reach; empty: it has no network."""


class ExecuteRequest(FrozenModel):
    """A command. Relative paths begin at the home folder."""

    argv: Annotated[tuple[SandboxWord, ...], Field(min_length=1, max_length=10_000)]
    stdin: Annotated[bytes, BeforeValidator(_decode_base64), Field(max_length=MAX_PART_BYTES)] = b""
    """In base64."""
    stdin_path: SandboxPath | None = None
    """A file that is standard input, in place of `stdin`."""
    cwd: SandboxPath | None = None
    env: Annotated[dict[VariableName, SandboxWord], Field(max_length=1_000)] = {}
    timeout_seconds: Annotated[float, Field(gt=0, le=MAX_EXECUTE_SECONDS)] = MAX_EXECUTE_SECONDS
    max_output_bytes: Annotated[int, Field(ge=1, le=MAX_PART_BYTES)] = 10 * 2**20
    """Limit for each of standard output and standard error; the rest is cut off."""


class OutputStream(FrozenModel):
    """What a command wrote: its beginning in base64, and its whole size in bytes."""

    data: str
    size: int


ReadStream = Callable[[str, Mapping[str, Any]], Awaitable[OutputStream]]
"""Reads an output by its name and the runner's reply about it. Raises BridgeError."""


class SystemFailure(FrozenModel):
    """Why the sandbox's system refused; `errno` is a name such as `ENOENT`."""

    errno: str
    message: str


class ExecuteResult(FrozenModel):
    """How a command ended: by itself or by its timeout, or why it did not begin."""

    returncode: int | None = None
    stdout: OutputStream | None = None
    stderr: OutputStream | None = None
    timed_out: bool = False
    failure: SystemFailure | None = None


class FilePart(FrozenModel):
    """A part of a file, or why it cannot be read. `size` is that of the whole file in bytes."""

    data: bytes = b""
    size: int = 0
    failure: SystemFailure | None = None


class SandboxSession:
    """A leased machine. Requests run one after another, because a machine does one thing at a time."""

    def __init__(
        self,
        bridge: BridgeClient,
        sandbox_id: str,
        principal: str,
        request: SandboxRequest,
        *,
        machine_wait_seconds: float,
    ) -> None:
        self.id, self.principal, self.request = sandbox_id, principal, request
        self.last_used = time.monotonic()
        self._bridge, self._machine_wait_seconds = bridge, machine_wait_seconds
        self._stack = AsyncExitStack()
        self._machine: Machine | None = None
        self._one_at_a_time = asyncio.Lock()
        self._requests = 0
        self._closed = False

    @property
    def busy(self) -> bool:
        """Whether a request runs or waits."""
        return self._requests > 0

    async def open(self) -> None:
        """Lease the machine. Idempotent. Raises EnvironmentRefusal: `session_closed`, the bridge's codes."""
        async with self._counted(), self._one_at_a_time:
            if self._machine is not None:
                return
            if self._closed:
                raise _ended()
            name, image = f"{HOLDER}-{self.id}", self.request.image
            leased = leased_machine(self._bridge, image, name, holder=HOLDER, wait=self._machine_wait_seconds)
            platform = image if image in get_args(Platform) else "desktop"
            task = Task.model_validate(
                {"id": name, "instruction": "A sandbox.", "platform": platform, "network": self.request.network}
            )
            try:
                machine = await self._stack.enter_async_context(leased)
                if not self._closed:  # it may have been closed while a machine was waited for
                    await machine.prepare(task)
                    self._machine = machine
            except BridgeError as error:
                await self.close()
                raise refusal_of(error) from error
            if self._closed:
                await self._stack.aclose()
                raise _ended()

    async def execute(self, request: ExecuteRequest) -> ExecuteResult:
        """Run a command. Raises EnvironmentRefusal if the sandbox is lost."""
        words = request.model_dump(mode="json", exclude={"stdin", "timeout_seconds"})
        async with self._job("execute", words, request.stdin, request.timeout_seconds) as (stream, reply):
            if reply is None:
                return ExecuteResult(timed_out=True)
            if "errno" in reply:
                return ExecuteResult(failure=SystemFailure.model_validate(reply))
            streams = {name: await stream(name, reply[name]) for name in ("stdout", "stderr")}
            return ExecuteResult.model_validate({"returncode": reply["returncode"], **streams})

    async def read(self, path: str, *, offset: int = 0, length: int = MAX_PART_BYTES) -> FilePart:
        """A part of a file. Raises EnvironmentRefusal if the sandbox is lost."""
        words = {"path": path, "offset": offset, "length": length}
        async with self._job("read", words, b"", TRANSFER_SECONDS) as (stream, reply):
            if reply is None:
                return FilePart(failure=_SLOW)
            if "errno" in reply:
                return FilePart(failure=SystemFailure.model_validate(reply))
            found = await stream("content", reply["content"])
            return FilePart(data=base64.b64decode(found.data), size=found.size)

    async def write(self, path: str, data: bytes, *, append: bool = False) -> SystemFailure | None:
        """Create, replace or extend a file; returns why it failed. Raises EnvironmentRefusal if the sandbox is lost."""
        async with self._job("write", {"path": path, "append": append}, data, TRANSFER_SECONDS) as (_, reply):
            if reply is None:
                return _SLOW
            return SystemFailure.model_validate(reply) if "errno" in reply else None

    async def interrupt(self) -> None:
        """End the running command, if there is one."""
        if self._machine is not None:
            with suppress(BridgeError):
                await self._machine.skip_settle()

    async def close(self) -> None:
        """Give the machine back. Idempotent."""
        self._closed = True
        self._machine = None
        await self._stack.aclose()

    @asynccontextmanager
    async def _counted(self) -> AsyncIterator[None]:
        self._requests += 1
        try:
            yield
        finally:
            self._requests -= 1
            self.last_used = time.monotonic()

    @asynccontextmanager
    async def _job(
        self, kind: str, request: Mapping[str, Any], data: bytes, seconds: float
    ) -> AsyncIterator[tuple[ReadStream, dict[str, Any] | None]]:
        """A reader of one request's outputs, and the runner's reply; None if it timed out."""
        async with self._counted(), self._one_at_a_time:
            machine = self._machine
            if machine is None:
                raise _ended()
            folder = f"{JOBS_FOLDER}/{uuid.uuid4().hex}"
            try:
                await machine.files.write(f"{folder}/request.json", json.dumps({"kind": kind, **request}).encode())
                if data:
                    await machine.files.write(f"{folder}/data", data)
                reply = await _run(machine, folder, seconds)
                yield partial(_read_stream, machine, folder), reply
                await machine.files.delete(folder, recursive=True)
            except BridgeError as error:
                await self.close()
                raise refusal_of(error) from error


def _ended() -> EnvironmentRefusal:
    return EnvironmentRefusal("session_closed", "this sandbox has ended")


_SLOW = SystemFailure(errno="ETIMEDOUT", message="the file took too long")


async def _read_stream(machine: Machine, folder: str, name: str, found: Mapping[str, Any]) -> OutputStream:
    """An output that is in the runner's reply, or in a file of this folder. Raises BridgeError."""
    data = found.get("data")
    if data is None:
        data = base64.b64encode(await machine.files.read(f"{folder}/{name}")).decode()
    return OutputStream(data=data, size=found["size"])


async def _run(machine: Machine, folder: str, seconds: float) -> dict[str, Any] | None:
    """The runner's reply; None if it timed out. Raises BridgeError, EnvironmentRefusal (`sandbox_failed`)."""
    command = f"exec python3 -I - {folder} <<'RUNNER'\n{RUNNER.read_text()}RUNNER"
    done = await machine.perform(uuid.uuid4().hex, RunCommand(command=command, timeout=seconds), settle=False)
    if done.error is not None and done.error.code == "timed_out":
        return None
    try:
        if done.error is not None:
            raise ValueError(done.error.message)
        reply: dict[str, Any] = json.loads(done.after.text or "")
    except ValueError as error:
        raise EnvironmentRefusal("sandbox_failed", f"the command could not be run: {str(error)[:500]}") from None
    return reply
