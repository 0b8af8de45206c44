"""HTTP routes to the files, terminals and tools inside a machine, for the holders of its lease."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Annotated, TypeVar

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from protocol.actions.tools import Tool
from protocol.actions.types import FilePath, SessionName
from protocol.blobs import BlobRef
from vm_bridge.api.wire import (
    DRIVER_HEADER,
    FENCING_HEADER,
    CompletionRequest,
    ErrorResponse,
    Name,
    TerminalInput,
    TerminalSize,
    TerminalText,
)
from vm_bridge.errors import BridgeError
from vm_bridge.machine import Machine
from vm_bridge.machine_io import CommandCompletion, FileChange, FileEntry, ScreenTexts, TerminalFrame, TerminalState

EVENT_STREAM = "text/event-stream"
OCTET_STREAM = "application/octet-stream"
RAW_BODY = {
    "requestBody": {"content": {OCTET_STREAM: {"schema": {"type": "string", "format": "binary"}}}, "required": True}
}
E = TypeVar("E", bound=BaseModel)

PathQuery = Annotated[
    FilePath, Query(description="A path inside the sandbox; a relative one begins at the home folder.")
]
TerminalName = Annotated[SessionName, Path(description="What the terminal is called.")]


def machine_io_routes(leased: Callable[[str, int, int | None], Awaitable[Machine]]) -> APIRouter:
    """The routes, for authorised callers. `leased` raises MachineGone and StaleLease."""

    async def machine(
        machine_id: Name,
        token: Annotated[int, Header(alias=FENCING_HEADER, ge=1)],
        driver: Annotated[int | None, Header(alias=DRIVER_HEADER, ge=1)] = None,
    ) -> Machine:
        return await leased(machine_id, token, driver)

    router = APIRouter(prefix="/v1/machines/{machine_id}")
    held = Depends(machine)
    _file_routes(router, held)
    _terminal_routes(router, held)
    _tool_routes(router, held)
    return router


def _file_routes(router: APIRouter, held: Machine) -> None:
    @router.get("/files")
    async def list_files(path: PathQuery = ".", machine: Machine = held) -> tuple[FileEntry, ...]:
        """A folder's entries."""
        return await machine.files.list(path)

    @router.get("/files/stat")
    async def stat_file(path: PathQuery, machine: Machine = held) -> FileEntry:
        """One file or folder."""
        return await machine.files.stat(path)

    @router.get("/files/content", response_class=Response, responses={200: {"content": {OCTET_STREAM: {}}}})
    async def read_file(path: PathQuery, machine: Machine = held) -> Response:
        """A whole file."""
        return Response(await machine.files.read(path), media_type=OCTET_STREAM)

    @router.put("/files/content", status_code=204, openapi_extra=RAW_BODY)
    async def write_file(path: PathQuery, request: Request, machine: Machine = held) -> None:
        """Create or replace a file."""
        await machine.files.write(path, await _read_body(request))

    @router.delete("/files", status_code=204)
    async def delete_file(path: PathQuery, recursive: bool = False, machine: Machine = held) -> None:
        """Remove a file or an empty folder; with `recursive` a folder with all that is in it."""
        await machine.files.delete(path, recursive=recursive)

    @router.get("/files/watch", response_class=StreamingResponse, responses={200: {"content": {EVENT_STREAM: {}}}})
    async def watch_files(path: PathQuery = ".", machine: Machine = held) -> StreamingResponse:
        """Changes of a folder's entries from the start of the response, as server-sent events: `FileChange`."""
        stack = AsyncExitStack()
        changes: AsyncIterator[FileChange] = await stack.enter_async_context(machine.files.watch(path))
        return StreamingResponse(_event_stream(changes, stack), media_type=EVENT_STREAM)


def _terminal_routes(router: APIRouter, held: Machine) -> None:
    @router.get("/terminals")
    async def list_terminals(machine: Machine = held) -> tuple[TerminalState, ...]:
        """Every interactive terminal."""
        return await machine.terminals.list()

    @router.get("/terminals/watch", response_class=StreamingResponse, responses={200: {"content": {EVENT_STREAM: {}}}})
    async def watch_terminals(machine: Machine = held) -> StreamingResponse:
        """The output of all terminals, beginning with what they show, as server-sent events: `TerminalFrame`."""
        stack = AsyncExitStack()
        frames: AsyncIterator[TerminalFrame] = await stack.enter_async_context(machine.terminals.watch())
        return StreamingResponse(_event_stream(frames, stack), media_type=EVENT_STREAM)

    @router.get("/terminals/{session}")
    async def read_terminal(session: TerminalName, machine: Machine = held) -> TerminalText:
        """What a terminal shows."""
        return TerminalText(text=await machine.terminals.read(session))

    @router.post("/completions")
    async def complete_command(body: CompletionRequest, machine: Machine = held) -> CommandCompletion:
        """The shell's completions for the end of a command line."""
        return await machine.terminals.complete(body.line, session=body.session)

    @router.post("/terminals/{session}/input", status_code=204)
    async def write_terminal(session: TerminalName, body: TerminalInput, machine: Machine = held) -> None:
        """Type text. Do not retry it after a lost response."""
        await machine.terminals.write(session, body.text)

    @router.put("/terminals/{session}/size", status_code=204)
    async def resize_terminal(session: TerminalName, body: TerminalSize, machine: Machine = held) -> None:
        """Resize a terminal."""
        await machine.terminals.resize(session, columns=body.columns, rows=body.rows)

    @router.delete("/terminals/{session}", status_code=204)
    async def close_terminal(session: TerminalName, machine: Machine = held) -> None:
        """Close a terminal and end its programs."""
        await machine.terminals.close(session)


def _tool_routes(router: APIRouter, held: Machine) -> None:
    @router.get("/tools")
    async def list_tools(machine: Machine = held) -> tuple[Tool, ...]:
        """The tools that `call_tool` may name. Starts their servers."""
        return await machine.tools()

    @router.get("/texts")
    async def read_texts(machine: Machine = held) -> ScreenTexts:
        """Titles of windows and words on the screen."""
        return await machine.screen_texts()

    @router.post("/stage", openapi_extra=RAW_BODY)
    async def stage_upload(
        request: Request, content_type: Annotated[str, Header(max_length=127)] = OCTET_STREAM, machine: Machine = held
    ) -> BlobRef:
        """Upload the bytes for a later `upload_file`."""
        return await machine.stage_upload(await _read_body(request), content_type)


async def _read_body(request: Request) -> bytes:
    """A request's body. The server rejects one that is too long while reading it."""
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
    return bytes(data)


async def _event_stream(values: AsyncIterator[E], stack: AsyncExitStack) -> AsyncIterator[str]:
    """Values as server-sent events; the last event gives the reason for the end."""
    async with stack:
        yield ": watching\n\n"
        try:
            async for value in values:
                yield f"data: {value.model_dump_json()}\n\n"
        except BridgeError as error:
            yield f"event: failure\ndata: {ErrorResponse(code=error.code, message=str(error)).model_dump_json()}\n\n"
