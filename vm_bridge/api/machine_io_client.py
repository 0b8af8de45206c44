"""Client of the files, terminals and tools inside a machine; see `vm_bridge.machine_io`."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import TypeVar
from urllib.parse import quote, urlencode

from pydantic import BaseModel, TypeAdapter

from protocol.base import FrozenModel
from vm_bridge.api.request_sender import RequestSender
from vm_bridge.api.wire import CompletionRequest, ErrorResponse, TerminalInput, TerminalSize, TerminalText
from vm_bridge.errors import ERRORS, BridgeError, BridgeUnavailable
from vm_bridge.machine_io import CommandCompletion, FileChange, FileEntry, TerminalFrame, TerminalState, check_file_size

FILE_ENTRIES: TypeAdapter[tuple[FileEntry, ...]] = TypeAdapter(tuple[FileEntry, ...])
TERMINAL_STATES: TypeAdapter[tuple[TerminalState, ...]] = TypeAdapter(tuple[TerminalState, ...])
RESPONSE_TIMEOUT_SECONDS = 110.0
"""Read timeout of an answer (seconds): a server inside may have to start first."""
E = TypeVar("E", bound=BaseModel)


class _RemoteResource:
    """A part of one machine. `url` is the machine's; `headers` identify the lease."""

    def __init__(self, caller: RequestSender, url: str, headers: Mapping[str, str]) -> None:
        self._caller, self._url, self._headers = caller, url, headers

    async def _call(
        self, method: str, name: str, body: FrozenModel | bytes | None = None, *, retry: bool = True
    ) -> bytes:
        url = f"{self._url}/{name}"
        return await self._caller.call(
            method, url, body, headers=self._headers, timeout_seconds=RESPONSE_TIMEOUT_SECONDS, retry=retry
        )

    @asynccontextmanager
    async def _watch(self, name: str, kind: type[E]) -> AsyncIterator[AsyncIterator[E]]:
        lines = self._caller.lines(f"{self._url}/{name}", self._headers)
        async with lines as coming, aclosing(_parse_events(coming, kind)) as events:
            yield events


async def _parse_events(lines: AsyncIterator[str], kind: type[E]) -> AsyncGenerator[E, None]:
    """Parse server-sent events. Raises the error that ends them."""
    event = "message"
    async for line in lines:
        field, _, value = line.partition(": ")
        if field == "event":
            event = value
        elif field == "data" and event == "failure":
            failure = ErrorResponse.model_validate_json(value)
            raise ERRORS.get(failure.code, BridgeError)(failure.message)
        elif field == "data":
            yield kind.model_validate_json(value)
    raise BridgeUnavailable("the bridge ended the answer")


class RemoteFiles(_RemoteResource):
    """See `vm_bridge.machine_io.Files`."""

    async def list(self, path: str = ".") -> tuple[FileEntry, ...]:
        return FILE_ENTRIES.validate_json(await self._call("GET", _path_query("files", path)))

    async def stat(self, path: str) -> FileEntry:
        return FileEntry.model_validate_json(await self._call("GET", _path_query("files/stat", path)))

    async def read(self, path: str) -> bytes:
        return await self._call("GET", _path_query("files/content", path))

    async def write(self, path: str, data: bytes) -> None:
        check_file_size(data)
        await self._call("PUT", _path_query("files/content", path), data)

    async def delete(self, path: str, *, recursive: bool = False) -> None:
        await self._call("DELETE", _path_query("files", path, recursive=str(recursive).lower()))

    def watch(self, path: str = ".") -> AbstractAsyncContextManager[AsyncIterator[FileChange]]:
        return self._watch(_path_query("files/watch", path), FileChange)


class RemoteTerminals(_RemoteResource):
    """See `vm_bridge.machine_io.Terminals`."""

    async def list(self) -> tuple[TerminalState, ...]:
        return TERMINAL_STATES.validate_json(await self._call("GET", "terminals"))

    async def write(self, session: str, text: str) -> None:
        await self._call("POST", f"{_terminal_path(session)}/input", TerminalInput(text=text), retry=False)

    async def read(self, session: str) -> str:
        return TerminalText.model_validate_json(await self._call("GET", _terminal_path(session))).text

    async def complete(self, line: str, *, session: str | None = None) -> CommandCompletion:
        asked = CompletionRequest(line=line, session=session)
        return CommandCompletion.model_validate_json(await self._call("POST", "completions", asked))

    async def resize(self, session: str, *, columns: int, rows: int) -> None:
        await self._call("PUT", f"{_terminal_path(session)}/size", TerminalSize(columns=columns, rows=rows))

    async def close(self, session: str) -> None:
        await self._call("DELETE", _terminal_path(session))

    def watch(self) -> AbstractAsyncContextManager[AsyncIterator[TerminalFrame]]:
        return self._watch("terminals/watch", TerminalFrame)


def _path_query(name: str, path: str, **query: str) -> str:
    return f"{name}?{urlencode({'path': path, **query})}"


def _terminal_path(session: str) -> str:
    return f"terminals/{quote(session, safe='')}"
