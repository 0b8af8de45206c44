"""The host's end of the socket to a guest: calls with answers in any order, none of them trusted."""

import asyncio
import itertools
import socket
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from vm_bridge.errors import ERRORS, BridgeError, MachineGone
from vm_bridge.guest import wire

T = TypeVar("T", bound=BaseModel)
READY = 0
"""The id under which a guest says that it is up."""


class GuestLink:
    """Calls a guest. A guest that breaks the protocol, hangs up or stays silent is gone: MachineGone."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._numbers = itertools.count(1)
        loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[dict[str, Any]] = loop.create_future()
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {READY: self._ready}
        self._ended = loop.create_future()
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def open(cls, end: socket.socket) -> "GuestLink":
        """Take over one end of a socket pair."""
        end.setblocking(False)
        reader, writer = await asyncio.open_unix_connection(sock=end, limit=wire.MAX_FRAME)
        return cls(reader, writer)

    async def ready(self, timeout: float) -> str:
        """Returns when the guest is up: the digest of its home folder at the start.

        Raises MachineGone when it is not up within `timeout` seconds.
        """
        return str((await self._answer(self._ready, timeout, "did not start")).get("home"))

    async def call(self, op: str, answer: type[T], *, timeout: float, **arguments: Any) -> T:
        """One call and its answer, checked. Raises what the guest refused with, or MachineGone."""
        number = next(self._numbers)
        if self.gone:
            raise MachineGone("the machine has ended")
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            self._writer.write(wire.encode({"id": number, "op": op, **arguments}))
            result = await self._answer(future, timeout, f"did not answer {op} within {timeout:g} s")
        finally:
            del self._waiting[number]
        try:
            return answer.model_validate(result)
        except ValidationError as error:
            self.close()
            raise MachineGone(f"the machine gave a senseless answer to {op}") from error

    @property
    def gone(self) -> bool:
        """Whether the guest has gone."""
        return self._ended.done()

    async def ended(self) -> None:
        """Returns when the guest has gone, however it went."""
        await asyncio.shield(self._ended)

    def close(self) -> None:
        """Hang up: the guest ends, and its sandbox with it. Idempotent."""
        self._listening.cancel()
        self._end()

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
            self._end()

    def _take(self, message: wire.Message) -> None:
        future = self._waiting.get(message.get("id", -1))
        if future is None or future.done():
            return  # the caller went away
        result, refused = message.get("result"), message.get("refused")
        if isinstance(result, dict):
            future.set_result(result)
        else:
            future.set_exception(_refusal(refused))

    def _end(self) -> None:
        if not self.gone:
            self._ended.set_result(None)
            self._writer.close()
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(MachineGone("the machine has ended"))
                    future.exception()  # nobody may be waiting for it


def _refusal(refused: Any) -> BridgeError:
    if not isinstance(refused, dict):
        return MachineGone("the machine gave a senseless answer")
    kind = ERRORS.get(str(refused.get("code")), MachineGone)
    return kind(str(refused.get("message"))[:500])
