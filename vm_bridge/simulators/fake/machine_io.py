"""The inside of a painted machine: files and terminals in memory, and one tool that repeats what it is told."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime

from protocol.actions.tools import Tool
from protocol.actions.types import (
    Action,
    CallTool,
    DownloadFile,
    EditFile,
    ListFiles,
    ReadFile,
    RunCode,
    RunCommand,
    TypeTerminal,
    UploadFile,
    WriteFile,
)
from protocol.blobs import BlobRef
from protocol.trajectory.observations import ActionError
from vm_bridge.drivers.file_staging import FileStaging
from vm_bridge.errors import InvalidAction
from vm_bridge.machine_io import CommandCompletion, FileChange, FileEntry, TerminalFrame, TerminalState

ACTION_KINDS = (
    *("run_command", "type_terminal", "list_files", "read_file", "write_file", "edit_file", "upload_file"),
    *("download_file", "run_code", "call_tool"),
)
TOOLS = (
    Tool(
        name="fake.echo",
        description="Says what it is told.",
        parameters={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    ),
)
COLUMNS, ROWS = 100, 30
ActionOutcome = tuple[str | None, ActionError | None, BlobRef | None]


class FakeMachineIO:
    """What is kept in it; `changed` wakes whoever watches."""

    def __init__(self) -> None:
        self.file_staging = FileStaging()
        self.files: dict[str, bytes] = {}
        self.terminals: dict[str, str] = {}
        self.sizes: dict[str, tuple[int, int]] = {}
        self.changes: list[FileChange] = []
        self.changed = asyncio.Event()

    def clear(self) -> None:
        """The image's first state."""
        for kept in (self.files, self.terminals, self.sizes):
            kept.clear()
        self.changes.clear()
        self.touch()

    def touch(self) -> None:
        """Wake whoever watches."""
        self.changed.set()
        self.changed = asyncio.Event()

    def put(self, path: str, data: bytes) -> None:
        """Create or replace a file."""
        change = "changed" if path in self.files else "created"
        self.files[path] = data
        self.changes.append(FileChange.model_validate({"name": path, "change": change}))
        self.touch()

    def type(self, session: str, text: str) -> str:
        """A terminal only shows what is typed."""
        shown = self.terminals[session] = self.terminals.get(session, "$ ") + text
        self.sizes.setdefault(session, (COLUMNS, ROWS))
        self.touch()
        return shown

    def do(self, action: Action) -> ActionOutcome:
        """What an act gives: text, why it failed, what it brings out."""
        match action:
            case RunCommand():
                return f"ran {action.command}", None, None
            case RunCode():
                return f"ran {action.code}", None, None
            case CallTool():
                return self._call(action)
            case TypeTerminal():
                return self.type(action.session, action.text), None, None
            case ListFiles():
                return "\n".join(sorted(self.files)), None, None
            case _:
                return self._do_file(action)

    def _do_file(self, action: Action) -> ActionOutcome:
        match action:
            case WriteFile():
                self.put(action.path, action.text.encode())
            case UploadFile():
                self.put(action.path, self.file_staging.need(action.blob))
            case ReadFile() | EditFile() | DownloadFile() if action.path not in self.files:
                return None, ActionError(code="cannot_read", message=f"there is no file {action.path}"), None
            case ReadFile():
                return self.files[action.path].decode("utf-8", "replace"), None, None
            case EditFile():
                return self._edit(action)
            case DownloadFile():
                data = self.files[action.path]
                return f"{len(data)} bytes", None, self.file_staging.keep(data, "application/octet-stream")
        return None, None, None

    def _edit(self, action: EditFile) -> ActionOutcome:
        text = self.files[action.path].decode("utf-8", "replace")
        if text.count(action.old) != 1:
            return None, ActionError(code="no_single_match", message="the old text does not occur once"), None
        self.put(action.path, text.replace(action.old, action.new).encode())
        return None, None, None

    def _call(self, action: CallTool) -> ActionOutcome:
        if action.name != TOOLS[0].name:
            return None, ActionError(code="no_such_tool", message=f"there is no tool {action.name}"), None
        return str(action.arguments.get("text", "")), None, None


class FakeFiles:
    """See `vm_bridge.machine_io.Files`."""

    def __init__(self, inside: FakeMachineIO) -> None:
        self._inside = inside

    async def list(self, path: str = ".") -> tuple[FileEntry, ...]:
        return tuple([await self.stat(name) for name in sorted(self._inside.files)])

    async def stat(self, path: str) -> FileEntry:
        size = len(await self.read(path))
        return FileEntry(name=path.rsplit("/", 1)[-1], kind="file", size=size, modified=datetime.now(UTC))

    async def read(self, path: str) -> bytes:
        if path not in self._inside.files:
            raise InvalidAction(f"there is no file {path}")
        return self._inside.files[path]

    async def write(self, path: str, data: bytes) -> None:
        self._inside.put(path, data)

    async def delete(self, path: str, *, recursive: bool = False) -> None:
        await self.read(path)
        del self._inside.files[path]
        self._inside.changes.append(FileChange(name=path, change="deleted"))
        self._inside.touch()

    @asynccontextmanager
    async def watch(self, path: str = ".") -> AsyncIterator[AsyncIterator[FileChange]]:
        async with aclosing(self._changes(len(self._inside.changes))) as changes:
            yield changes

    async def _changes(self, told: int) -> AsyncGenerator[FileChange, None]:
        while True:
            changed = self._inside.changed
            while told < len(self._inside.changes):
                told += 1
                yield self._inside.changes[told - 1]
            await changed.wait()


class FakeTerminals:
    """See `vm_bridge.machine_io.Terminals`."""

    def __init__(self, inside: FakeMachineIO) -> None:
        self._inside = inside

    async def list(self) -> tuple[TerminalState, ...]:
        return tuple(
            TerminalState(name=name, columns=columns, rows=rows, running=True)
            for name, (columns, rows) in self._inside.sizes.items()
        )

    async def write(self, session: str, text: str) -> None:
        self._inside.type(session, text)

    async def read(self, session: str) -> str:
        return self._inside.terminals[self._known(session)]

    async def complete(self, line: str, *, session: str | None = None) -> CommandCompletion:
        """Its files are all that it knows."""
        start = line.rfind(" ") + 1
        options = sorted(path for path in self._inside.files if start and path.startswith(line[start:]))
        return CommandCompletion(start=start, options=tuple(options[:100]), more=len(options) > 100)

    async def resize(self, session: str, *, columns: int, rows: int) -> None:
        self._inside.type(session, "")
        self._inside.sizes[session] = columns, rows

    async def close(self, session: str) -> None:
        del self._inside.terminals[self._known(session)], self._inside.sizes[session]
        self._inside.touch()

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[AsyncIterator[TerminalFrame]]:
        async with aclosing(self._frames()) as frames:
            yield frames

    async def _frames(self) -> AsyncGenerator[TerminalFrame, None]:
        shown: dict[str, str] = {}
        while True:
            changed = self._inside.changed
            for name, text in tuple(self._inside.terminals.items()):
                if shown.get(name) != text:
                    new, (columns, rows) = text.removeprefix(shown.get(name, "")), self._inside.sizes[name]
                    shown[name] = text
                    yield TerminalFrame.of(name, new.encode(), columns, rows)
            for name in shown.keys() - self._inside.terminals.keys():
                del shown[name]
                yield TerminalFrame.of(name, b"", 0, 0)
            await changed.wait()

    def _known(self, session: str) -> str:
        if session not in self._inside.terminals:
            raise InvalidAction(f"there is no terminal {session}")
        return session
