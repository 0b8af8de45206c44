"""What the inside of every machine keeps, whatever drives it: files, terminals, tools, and the acts that use them."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from protocol.actions.types import (
    CallTool,
    DownloadFile,
    EditFile,
    ListFiles,
    ReadFile,
    RunCommand,
    TypeTerminal,
    UploadFile,
    WriteFile,
)
from protocol.blobs import BlobRef
from protocol.trajectory.tasks import Task
from tests.integration.windows.wine import MARKS as WINE
from tests.integration.windows.wine import SECRET, Provided, wine_need
from vm_bridge.errors import InvalidAction, StaleLease
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.hosts.windows import WindowsHost
from vm_bridge.machine import Machine
from vm_bridge.machine_io import TerminalFrame
from vm_bridge.sandbox import Host, Sandbox
from vm_bridge.simulators.fake.sandbox import FakeHost

TASK = Task(id="task-1", instruction="Do something.")
DATA = bytes(range(256)) * 5_000
BOUND = 30.0
commands = (f"command-{number:04}" for number in itertools.count())


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(params=["fake", "desktop", "terminal", pytest.param("windows", marks=WINE)])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest_asyncio.fixture
async def sandbox(request: pytest.FixtureRequest, kind: str, data: Path) -> AsyncIterator[Sandbox]:
    host: Host
    if kind == "windows":
        wine_need()
        provided: Provided = request.getfixturevalue("provided")
        host = WindowsHost(data, [provided.address], SECRET, provided.revert)
    else:
        host = FakeHost() if kind == "fake" else LocalHost(data)
    yield await host.create("desktop" if kind == "fake" else kind)
    await host.close()


@pytest_asyncio.fixture
async def machine(sandbox: Sandbox) -> Machine:
    machine = sandbox.bind(7)
    await machine.prepare(TASK)
    return machine


async def test_a_file_goes_in_and_comes_out_as_it_was(machine: Machine) -> None:
    ref = await machine.stage_upload(DATA, "application/octet-stream")
    assert ref == BlobRef.of(DATA, "application/octet-stream")
    put = await machine.perform(next(commands), UploadFile(path="a.bin", blob=ref))
    assert put.error is None
    got = await machine.perform(next(commands), DownloadFile(path="a.bin"))
    assert got.after.attachment == ref
    assert await machine.blob(ref) == DATA
    assert await machine.files.read("a.bin") == DATA


async def test_a_file_nobody_staged_changes_nothing(machine: Machine) -> None:
    unknown = BlobRef.of(b"never staged", "application/octet-stream")
    with pytest.raises(InvalidAction, match="staged"):
        await machine.perform(next(commands), UploadFile(path="a.bin", blob=unknown))
    assert "a.bin" not in [entry.name for entry in await machine.files.list()]


async def test_a_resend_brings_out_what_the_act_brought_out(machine: Machine) -> None:
    await machine.files.write("a.bin", b"one")
    command = next(commands)
    first = await machine.perform(command, DownloadFile(path="a.bin"))
    await machine.files.write("a.bin", b"two")
    assert await machine.perform(command, DownloadFile(path="a.bin")) == first
    assert first.after.attachment is not None
    assert await machine.blob(first.after.attachment) == b"one"


async def test_acts_and_programs_see_the_same_files(machine: Machine) -> None:
    await machine.perform(next(commands), WriteFile(path="note.txt", text="one two"))
    assert await machine.files.read("note.txt") == b"one two"
    assert (await machine.files.stat("note.txt")).size == 7
    await machine.files.write("note.txt", b"three four")
    await machine.perform(next(commands), EditFile(path="note.txt", old="four", new="five"))
    assert (await machine.perform(next(commands), ReadFile(path="note.txt"))).after.text == "three five"
    listed = await machine.perform(next(commands), ListFiles())
    assert "note.txt" in (listed.after.text or "")
    await machine.files.delete("note.txt")
    with pytest.raises(InvalidAction):
        await machine.files.stat("note.txt")
    with pytest.raises(InvalidAction):
        await machine.files.read("note.txt")


async def test_an_edit_that_does_not_match_once_fails(machine: Machine) -> None:
    await machine.files.write("note.txt", b"twice twice")
    done = await machine.perform(next(commands), EditFile(path="note.txt", old="twice", new="once"))
    assert done.error is not None
    assert done.error.code == "no_single_match"
    assert await machine.files.read("note.txt") == b"twice twice"


async def test_a_watch_tells_what_happens_from_its_beginning_on(machine: Machine) -> None:
    await machine.files.write("before.txt", b"")
    async with machine.files.watch() as changes:
        await machine.files.write("during.txt", b"")
        change = await asyncio.wait_for(anext(changes), BOUND)
    assert (change.name, change.change) == ("during.txt", "created")


async def test_what_is_typed_shows_and_is_watched(machine: Machine) -> None:
    shown = await machine.perform(next(commands), TypeTerminal(text="echo hello", session="work"))
    assert "echo hello" in (shown.after.text or "")
    assert "echo hello" in await machine.terminals.read("work")
    assert "work" in [terminal.name for terminal in await machine.terminals.list()]
    async with machine.terminals.watch() as frames:
        seen = await _output(frames, "work", b"echo hello")
        await machine.terminals.write("work", " again")
        assert b"again" in await _output(frames, "work", b"again")
    assert seen
    await machine.terminals.close("work")
    assert "work" not in [terminal.name for terminal in await machine.terminals.list()]
    with pytest.raises(InvalidAction):
        await machine.terminals.read("work")


async def test_a_command_line_is_completed_where_a_shell_can_be_asked(machine: Machine, kind: str) -> None:
    await machine.files.write("note of work.txt", b"")
    offered = await machine.terminals.complete("cat note", session="work")
    expected = (False, 0, 0) if kind == "windows" else (True, 4, 1)
    assert (offered.offered, offered.start, len(offered.options)) == expected


async def test_terminals_of_a_size(machine: Machine) -> None:
    await machine.terminals.resize("wide", columns=150, rows=40)
    sizes = {terminal.name: (terminal.columns, terminal.rows) for terminal in await machine.terminals.list()}
    assert sizes["wide"] == (150, 40)


async def test_a_tool_that_is_not_there_fails_the_act(machine: Machine) -> None:
    done = await machine.perform(next(commands), CallTool(name="nobody.nothing"))
    assert done.error is not None
    assert done.error.code == "no_such_tool"


async def test_an_ended_lease_reaches_nothing_inside(sandbox: Sandbox, machine: Machine) -> None:
    await sandbox.bind(8).observe()
    with pytest.raises(StaleLease):
        await machine.files.list()
    with pytest.raises(StaleLease):
        await machine.terminals.write("main", "x")
    with pytest.raises(StaleLease):
        await machine.tools()


async def test_prepare_leaves_nothing_inside(machine: Machine) -> None:
    await machine.files.write("left.txt", b"")
    await machine.terminals.write("left", "x")
    await machine.prepare(TASK)
    assert "left.txt" not in [entry.name for entry in await machine.files.list()]
    assert "left" not in [terminal.name for terminal in await machine.terminals.list()]


async def test_a_command_answers(machine: Machine) -> None:
    done = await machine.perform(next(commands), RunCommand(command="true"))
    assert done.error is None
    assert done.after.text is not None


async def _output(frames: AsyncIterator[TerminalFrame], session: str, wanted: bytes) -> bytes:
    """What one terminal printed until this came."""
    seen = b""
    while wanted not in seen:
        frame = await asyncio.wait_for(anext(frames), BOUND)
        if frame.session == session:
            seen += frame.data
    return seen
