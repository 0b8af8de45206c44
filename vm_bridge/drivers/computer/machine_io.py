"""The inside of a sandbox through its guest: files, terminals and tools; see `vm_bridge.machine_io`."""

import logging
import secrets
from base64 import b64encode
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Annotated, Any, TypeVar

from pydantic import Base64Bytes, BaseModel, Field, StringConstraints, ValidationError

from protocol.actions.tools import Tool
from protocol.actions.types import MAX_FILE
from protocol.base import FrozenModel
from protocol.blobs import BlobRef
from protocol.trajectory.mcp_servers import AnyMcpServer
from vm_bridge.drivers.computer.guest_link import EmptyReply, GuestLink
from vm_bridge.errors import BridgeError, InvalidAction, MachineGone
from vm_bridge.machine_io import CommandCompletion, FileChange, FileEntry, TerminalFrame, TerminalState, check_file_size

logger = logging.getLogger(__name__)

T = TypeVar("T", bound=BaseModel)
CHUNK_BYTES = 4 * 1024 * 1024
"""Bytes of a file per message."""
MAX_TOOLS = 200
"""Maximum tools of all servers together."""
LONG_POLL_SECONDS = 20.0
"""How long the guest may delay a reply until something happens (seconds)."""
CALL_TIMEOUT_SECONDS = 90.0
"""Timeout of a guest's reply; a tool's server may have to start first."""


class CallError(FrozenModel):
    """The reason why a call failed."""

    code: Annotated[str, StringConstraints(max_length=100)]
    message: Annotated[str, StringConstraints(max_length=10_000)]


class Reply(FrozenModel):
    """The guest's reply to any of these calls."""

    failed: CallError | None
    answer: dict[str, Any]


class BytesReply(FrozenModel):
    data: Base64Bytes


class EntryReply(FrozenModel):
    entry: FileEntry


class EntriesReply(FrozenModel):
    entries: tuple[FileEntry, ...]


class ChangesReply(FrozenModel):
    changes: tuple[FileChange, ...]


class TerminalStatesReply(FrozenModel):
    terminals: tuple[TerminalState, ...]


class TextReply(FrozenModel):
    text: Annotated[str, StringConstraints(max_length=200_000)]


class TerminalOutput(TerminalFrame):
    """A frame, and the offset at which the terminal's next output begins."""

    end: int


class TerminalOutputsReply(FrozenModel):
    frames: tuple[TerminalOutput, ...]


class ToolsReply(FrozenModel):
    tools: Annotated[tuple[Tool, ...], Field(max_length=MAX_TOOLS)]
    failures: dict[str, str]


class GuestIO:
    """Calls to the files, terminals and tools of one guest under one fencing token."""

    def __init__(self, link: GuestLink, fence: int) -> None:
        self._link, self._fence = link, fence

    async def call(self, call: str, answer: type[T], *, wait: float = 0.0, **arguments: Any) -> T:
        """Send one call. Raises InvalidAction if it fails, and the guest's errors."""
        arguments = {"call": call, "fence": self._fence, **arguments}
        reply = await self._link.call("inside", Reply, timeout=CALL_TIMEOUT_SECONDS + wait, wait=wait, **arguments)
        if reply.failed is not None:
            raise InvalidAction(reply.failed.message)
        try:
            return answer.model_validate(reply.answer)
        except ValidationError as error:
            self._link.close()
            raise MachineGone(f"the machine gave a senseless answer to {call}") from error

    async def put(self, data: bytes) -> str:
        """Send bytes to the guest. Returns the name under which it keeps them for a moment."""
        name = BlobRef.of(data, "").sha256
        for offset in range(0, max(len(data), 1), CHUNK_BYTES):
            part = b64encode(data[offset : offset + CHUNK_BYTES]).decode()
            await self.call("put", EmptyReply, sha256=name, offset=offset, data=part)
        return name

    async def get(self, key: int, size: int) -> bytes:
        """Read the bytes of an exported file."""
        return await self._whole("get", size, key=key)

    async def configure(self, servers: Mapping[str, AnyMcpServer]) -> None:
        """Configure these MCP servers in addition to the image's own."""
        await self.call(
            "tools.configure", EmptyReply, servers={n: s.model_dump(mode="json") for n, s in servers.items()}
        )

    async def list_tools(self) -> ToolsReply:
        """Start the MCP servers and list their tools; a server that does not start is logged and has none."""
        found = await self.call("tools.list", ToolsReply)
        for server, why in found.failures.items():
            logger.warning("no tools of the MCP server %s: %s", server, why)
        return found

    async def _whole(self, call: str, most: int, **arguments: Any) -> bytes:
        """Read a file in parts."""
        data = bytearray()
        while len(data) <= most:
            part = (await self.call(call, BytesReply, offset=len(data), **arguments)).data
            data += part
            if len(part) < CHUNK_BYTES:
                return bytes(data)
        raise InvalidAction(f"the file has more than {most} bytes")


class GuestFiles(GuestIO):
    """See `vm_bridge.machine_io.Files`."""

    async def list(self, path: str = ".") -> tuple[FileEntry, ...]:
        return (await self.call("files.list", EntriesReply, path=path)).entries

    async def stat(self, path: str) -> FileEntry:
        return (await self.call("files.stat", EntryReply, path=path)).entry

    async def read(self, path: str) -> bytes:
        return await self._whole("files.read", MAX_FILE, path=path)

    async def write(self, path: str, data: bytes) -> None:
        check_file_size(data)
        await self.call("files.write", EmptyReply, path=path, sha256=await self.put(data))

    async def delete(self, path: str, *, recursive: bool = False) -> None:
        await self.call("files.delete", EmptyReply, path=path, recursive=recursive)

    @asynccontextmanager
    async def watch(self, path: str = ".") -> AsyncIterator[AsyncIterator[FileChange]]:
        name = secrets.token_hex(8)
        await self.call("files.watch", ChangesReply, watch=name, path=path)
        try:
            async with aclosing(self._changes(name, path)) as changes:
                yield changes
        finally:
            with suppress(BridgeError):
                await self.call("files.unwatch", EmptyReply, watch=name)

    async def _changes(self, name: str, path: str) -> AsyncGenerator[FileChange, None]:
        while True:
            for change in (
                await self.call("files.watch", ChangesReply, watch=name, path=path, wait=LONG_POLL_SECONDS)
            ).changes:
                yield change


class GuestTerminals(GuestIO):
    """See `vm_bridge.machine_io.Terminals`."""

    async def list(self) -> tuple[TerminalState, ...]:
        return (await self.call("terminals.list", TerminalStatesReply)).terminals

    async def write(self, session: str, text: str) -> None:
        await self.call("terminals.write", EmptyReply, told={"session": session, "text": text})

    async def read(self, session: str) -> str:
        return (await self.call("terminals.read", TextReply, told={"session": session})).text

    async def complete(self, line: str, *, session: str | None = None) -> CommandCompletion:
        return await self.call("terminals.complete", CommandCompletion, told={"line": line, "session": session})

    async def resize(self, session: str, *, columns: int, rows: int) -> None:
        await self.call("terminals.resize", EmptyReply, told={"session": session, "columns": columns, "rows": rows})

    async def close(self, session: str) -> None:
        await self.call("terminals.close", EmptyReply, told={"session": session})

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[AsyncIterator[TerminalFrame]]:
        async with aclosing(self._frames()) as frames:
            yield frames

    async def _frames(self) -> AsyncGenerator[TerminalFrame, None]:
        """Each viewer requests the output after its offset. A slow viewer gets the screen instead of a backlog."""
        offsets: dict[str, int] = {}
        while True:
            told = {"offsets": offsets, "wait": LONG_POLL_SECONDS}
            for frame in (
                await self.call("terminals.poll", TerminalOutputsReply, wait=LONG_POLL_SECONDS, told=told)
            ).frames:
                if frame.rows:
                    offsets[frame.session] = frame.end
                else:
                    offsets.pop(frame.session, None)
                yield TerminalFrame.of(frame.session, frame.data, frame.columns, frame.rows)
