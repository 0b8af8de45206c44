"""The host's end of the socket to a guest. Replies may arrive in any order, and none is trusted."""

import asyncio
import itertools
import os
import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, Field, StringConstraints, ValidationError

from protocol.actions.types import MAX_FILE
from protocol.base import FrozenModel
from protocol.trajectory.observations import ActionError, Rest
from vm_bridge.errors import ERRORS, BridgeError, MachineGone
from vm_bridge.guest.common import handshake, wire

MAX_SIDE = 4096
MAX_GUEST_TEXT = 200_000
SLOTS = 5
"""Frame slots: two alternate for observations, two for viewers, one is the guest's own."""
T = TypeVar("T", bound=BaseModel)


class EmptyReply(FrozenModel):
    """A reply without content."""


class GuestState(FrozenModel):
    """A guest's first message: whether its desktop has started, the desktop's size, the highest fencing token it has
    seen, and the digest of its home folder before anything was started.
    """

    started: bool
    fence: Annotated[int, Field(ge=0)]
    home: str
    width: Annotated[int, Field(ge=0, le=MAX_SIDE)]
    height: Annotated[int, Field(ge=0, le=MAX_SIDE)]


Edge = Annotated[int, Field(ge=-32768, le=65535)]


class FrameRef(FrozenModel):
    """A captured picture as the guest reports it; `at` is seconds since the epoch."""

    serial: Annotated[int, Field(ge=1, le=2**53)]
    slot: Annotated[int, Field(ge=0, lt=SLOTS)]
    at: Annotated[float, Field(gt=0, lt=1e11)]
    turned: bool = False
    """Whether the screen is rotated: its width and height are swapped."""
    changed: tuple[Edge, Edge, Edge, Edge] | None = None
    """Left, top, right and bottom of the changed area. Outside it equals the previous serial."""


class AttachmentOffer(FrozenModel):
    """A file exported by an action, as the guest reports it."""

    key: int
    media_type: Literal["application/octet-stream", "image/png", "image/jpeg"]
    size: Annotated[int, Field(ge=0, le=MAX_FILE)]


ApplicationName = Annotated[str, StringConstraints(max_length=200)]


class ObserveReply(FrozenModel):
    """The guest's answer to `observe`."""

    after: FrameRef | None
    text: Annotated[str, StringConstraints(max_length=MAX_GUEST_TEXT)] | None = None
    rest: Rest
    settle_ms: Annotated[float, Field(ge=0, le=1e7)]
    application: ApplicationName = ""


class PerformReply(ObserveReply):
    """The guest's answer to `perform`."""

    before: FrameRef | None
    before_application: ApplicationName = ""
    before_text: Annotated[str, StringConstraints(max_length=MAX_GUEST_TEXT)] | None = None
    error: ActionError | None
    attachment: AttachmentOffer | None
    timer_pending: bool = False
    digest: str | None = None
    """Digest of the person's files before the action, if requested."""


@dataclass(frozen=True, slots=True)
class GuestCapabilities:
    """Capabilities of a guest with a screen; see `Capabilities`."""

    kinds: tuple[str, ...]
    streams: tuple[str, ...]
    snapshots: bool
    apps: tuple[str, ...] = ()
    needs_suite: bool = False
    """Whether files, terminals and tools exist only after a task's suite has started them."""


_READING_OPS = frozenset({"start", "ping", "hurry", "observe", "frame"})
"""Read-only calls; `inside` with `tools.list` is one too."""


class GuestLink:
    """Calls a guest. A guest that breaks the protocol, hangs up or stays silent raises MachineGone."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self.pristine = True
        """Whether no call so far could change a file or a program of the sandbox."""
        self.paint: Callable[[dict[str, Any]], None] | None = None
        """Receives pixels if no memory is shared. Raises WireError."""
        self._numbers = itertools.count(wire.READY + 1)
        loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[dict[str, Any]] = loop.create_future()
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {wire.READY: self._ready}
        self._ended = loop.create_future()
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def connect(cls, path: Path, *, timeout: float) -> tuple["GuestLink", int]:
        """A link to the guest that listens there, and the descriptor of its frames, which the caller owns.

        Raises MachineGone if no guest answers within `timeout` seconds.
        """
        end = socket.socket(socket.AF_UNIX)
        end.setblocking(False)
        try:
            async with asyncio.timeout(timeout):
                await asyncio.get_running_loop().sock_connect(end, str(path))
                memory = await _receive_descriptor(end)
        except BaseException as error:
            end.close()
            if isinstance(error, OSError):  # or the timeout expired
                raise MachineGone("the machine does not answer") from error
            raise
        return await cls.open(end), memory

    @classmethod
    async def open(cls, end: socket.socket) -> "GuestLink":
        """Take over a socket whose greeting has been read."""
        end.setblocking(False)
        reader, writer = await asyncio.open_unix_connection(sock=end, limit=wire.MAX_FRAME)
        return cls(reader, writer)

    @classmethod
    async def dial(cls, host: str, port: int, secret: str, *, timeout: float) -> "GuestLink":
        """A link to a guest that shares no memory, which has shown that it knows the secret.

        Raises MachineGone if none does within `timeout` seconds.
        """
        writer = None
        try:
            async with asyncio.timeout(timeout):
                reader, writer = await asyncio.open_connection(host, port, limit=wire.MAX_FRAME)
                await prove_secret(reader, writer, secret)
        except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            if writer is not None:
                writer.close()
            raise MachineGone(f"no agent at {host}:{port} that knows the secret: {error}") from error
        return cls(reader, writer)

    async def ready(self, timeout: float) -> GuestState:
        """Wait for the guest's first message. Raises MachineGone if it does not arrive within `timeout` seconds."""
        greeting = await self._answer(self._ready, timeout, "did not start")
        return self._checked(GuestState, greeting, "its start")

    async def call(self, op: str, answer: type[T], *, timeout: float, **arguments: Any) -> T:
        """Send a call and validate its reply. Raises the guest's error, or MachineGone."""
        number = next(self._numbers)
        if self.gone:
            raise MachineGone("the machine has ended")
        if op not in _READING_OPS and (op, arguments.get("call")) != ("inside", "tools.list"):
            self.pristine = False
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            self._writer.write(wire.encode({"id": number, "op": op, **arguments}))
            result = await self._answer(future, timeout, f"did not answer {op} within {timeout:g} s")
        finally:
            del self._waiting[number]
        return self._checked(answer, result, op)

    @property
    def gone(self) -> bool:
        """Whether the guest has gone."""
        return self._ended.done()

    async def ended(self) -> None:
        """Wait until the guest is gone for any reason."""
        await asyncio.shield(self._ended)

    def close(self) -> None:
        """Disconnect. The guest waits for another host for a while. Idempotent."""
        self._listening.cancel()
        self._end()

    def _checked(self, answer: type[T], result: dict[str, Any], op: str) -> T:
        try:
            return answer.model_validate(result)
        except ValidationError as error:
            self.close()
            raise MachineGone(f"the machine gave a senseless answer to {op}") from error

    async def _answer(self, future: "asyncio.Future[dict[str, Any]]", timeout: float, silence: str) -> dict[str, Any]:
        try:
            async with asyncio.timeout(timeout):
                return await future
        except TimeoutError:
            self.close()
            raise MachineGone(f"the machine {silence}") from None

    async def _listen(self) -> None:
        try:
            while True:
                length = wire.body_length(await self._reader.readexactly(wire.HEADER.size))
                self._take(wire.decode(await self._reader.readexactly(length)))
        except (asyncio.IncompleteReadError, OSError, wire.WireError):
            pass
        finally:
            self._end()  # however the listener ends, no call waits for a reply that cannot come

    def _take(self, message: wire.Message) -> None:
        number = message.get("id")
        if type(number) is not int:
            return  # unknown call id
        if number == wire.PICTURE and self.paint is not None:
            return self.paint(message)
        future = self._waiting.get(number)
        if future is None or future.done():
            return  # the caller was cancelled
        result, refused = message.get("result"), message.get("refused")
        if isinstance(result, dict):
            future.set_result(result)
        else:
            future.set_exception(_parse_error(refused))

    def _end(self) -> None:
        if not self.gone:
            self._ended.set_result(None)
            self._writer.close()
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(MachineGone("the machine has ended"))
                    future.exception()  # may be unobserved


async def prove_secret(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, secret: str) -> None:
    """The host's side of `vm_bridge.guest.common.handshake`. Raises OSError, IncompleteReadError."""
    said = await reader.readexactly(len(handshake.GREETING) + handshake.NONCE)
    if not said.startswith(handshake.GREETING):
        raise OSError("it does not greet")
    theirs, ours = said[len(handshake.GREETING) :], secrets.token_bytes(handshake.NONCE)
    writer.write(ours + handshake.compute_proof(secret, handshake.HOST, theirs, ours))
    shown = await reader.readexactly(handshake.PROOF)
    if not handshake.proofs_equal(shown, handshake.compute_proof(secret, handshake.GUEST, theirs, ours)):
        raise OSError("it does not know the secret")


async def _receive_descriptor(end: socket.socket) -> int:
    """Receive the descriptor that comes with a guest's first byte. Raises OSError."""
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(end, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(end)
    data, descriptors, _, _ = socket.recv_fds(end, len(wire.GREETING), 1, socket.MSG_CMSG_CLOEXEC)
    if data != wire.GREETING or len(descriptors) != 1:
        for descriptor in descriptors:
            os.close(descriptor)
        raise OSError("it does not greet")
    return descriptors[0]


def _parse_error(refused: Any) -> BridgeError:
    if not isinstance(refused, dict):
        return MachineGone("the machine gave a senseless answer")
    kind = ERRORS.get(str(refused.get("code")), MachineGone)
    return kind(str(refused.get("message"))[:500])
