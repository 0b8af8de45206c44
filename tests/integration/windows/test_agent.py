"""Our agent on CPython for Windows, over the bridge's host: pointer, keys, pictures, commands and files."""

import asyncio
import io
import itertools
from hashlib import sha256

import numpy as np
import pytest
from PIL import Image

from protocol.actions.types import (
    Action,
    CallTool,
    Click,
    DoubleClick,
    DownloadFile,
    Drag,
    EditFile,
    GetClipboard,
    ListFiles,
    OpenApp,
    Point,
    PressKeys,
    ReadFile,
    RunCode,
    RunCommand,
    SetClipboard,
    TypeTerminal,
    TypeText,
    UploadFile,
    Wait,
    WriteFile,
)
from protocol.trajectory.observations import Observation, Transition
from protocol.trajectory.tasks import Task
from tests.integration.windows.interpreter import interpreter
from tests.integration.windows.wine import MARKS, SECRET, SIZE, Provided
from vm_bridge.drivers.computer.guest_link import GuestLink
from vm_bridge.errors import InvalidAction, MachineGone, StaleLease
from vm_bridge.hosts.windows import WindowsSandbox
from vm_bridge.machine import Machine

pytestmark = list(MARKS)
commands = (f"command-{number:04}" for number in itertools.count())
SERVER = """
from mcp.server import MCPServer

server = MCPServer("sums")


@server.tool()
def add(a: int, b: int) -> int:
    return a + b


server.run("stdio")
"""
"""An MCP server with one tool."""
INTO = Click(x=300, y=200)
"""Notepad's first window lies there."""


async def do(machine: Machine, action: Action) -> Transition:
    return await machine.perform(next(commands), action)


async def action_output(machine: Machine, action: Action) -> str | None:
    """What an act that works says."""
    done = await do(machine, action)
    assert done.error is None, done.error
    return done.after.text


async def picture(machine: Machine, seen: Observation) -> "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]":
    assert seen.screenshot is not None
    return np.asarray(Image.open(io.BytesIO(await machine.blob(seen.screenshot))).convert("RGB"))


async def notepad(machine: Machine) -> None:
    await action_output(machine, OpenApp(name="notepad"))
    await action_output(machine, INTO)


async def selected(machine: Machine) -> str | None:
    """What a program says is selected."""
    await action_output(machine, PressKeys(keys=("ctrl", "c")))
    return await action_output(machine, GetClipboard())


async def test_a_program_opens_and_shows_what_is_typed(machine: Machine) -> None:
    before = await machine.observe(settle=True)
    await notepad(machine)
    done = await do(machine, TypeText(text="seen"))
    assert (before.width, before.height) == SIZE
    assert (await picture(machine, before) != await picture(machine, done.before)).any()
    assert (await picture(machine, done.before) != await picture(machine, done.after)).any()


async def test_every_character_is_typed_as_it_is(machine: Machine) -> None:
    text = "".join(map(chr, range(0x20, 0x7F))) + "\n\tżółw Ünïcode 中文 😀"
    await notepad(machine)
    await action_output(machine, TypeText(text=text))
    await action_output(machine, PressKeys(keys=("ctrl", "a")))
    assert await selected(machine) == text


async def test_shift_selects_with_the_arrows(machine: Machine) -> None:
    await notepad(machine)
    await action_output(machine, TypeText(text="one two"))
    await action_output(machine, PressKeys(keys=("shift", "left")))
    await action_output(machine, PressKeys(keys=("shift", "ctrl", "left")))
    assert await selected(machine) == "two"


async def test_two_clicks_are_one_act(machine: Machine) -> None:
    await notepad(machine)
    await action_output(machine, TypeText(text="firstword second"))
    await action_output(machine, DoubleClick(x=30, y=52))
    assert str(await selected(machine)).strip() == "firstword"


async def test_a_drag_selects(machine: Machine) -> None:
    await notepad(machine)
    await action_output(machine, TypeText(text="dragged over"))
    await action_output(machine, Drag(start=Point(x=9, y=52), end=Point(x=300, y=52)))
    assert await selected(machine) == "dragged over"


async def test_the_clipboard_has_any_text(machine: Machine) -> None:
    await action_output(machine, SetClipboard(text="żółw 中文\n<tag>"))
    assert await action_output(machine, GetClipboard()) == "żółw 中文\n<tag>"


async def test_a_command_says_what_it_printed_and_how_it_ended(machine: Machine) -> None:
    assert await action_output(machine, RunCommand(command="echo one\necho two>&2")) == "one\ntwo\n"
    assert await action_output(machine, RunCommand(command="echo no& exit 3")) == "no\n\n[exit status 3]"


async def test_a_command_that_takes_too_long_ends_with_all_it_started(machine: Machine, provided: Provided) -> None:
    late = 'start /b cmd /c "ping -n 600 127.0.0.1 >nul"\necho begun\nping -n 600 127.0.0.1 >nul'
    done = await do(machine, RunCommand(command=late, timeout=3))
    assert done.error is not None
    assert (done.error.code, done.after.text) == ("timed_out", "begun\n")
    assert "ping" not in provided.programs()
    assert await action_output(machine, RunCommand(command="echo next")) == "next\n"


async def test_what_a_command_leaves_behind_lives_on(machine: Machine, provided: Provided) -> None:
    behind = 'start /b cmd /c "ping -n 600 127.0.0.1 >nul"\necho begun'
    assert await action_output(machine, RunCommand(command=behind)) == "begun\n"
    assert "ping" in provided.programs()


async def test_hurry_cuts_a_command_short(machine: Machine) -> None:
    running = asyncio.create_task(do(machine, RunCommand(command="echo begun& ping -n 600 127.0.0.1 >nul")))
    while not running.done():
        await machine.skip_settle()
        await asyncio.sleep(0.1)
    error = (await running).error
    assert error is not None
    assert error.code == "cut_short"


async def test_files_come_and_go(machine: Machine) -> None:
    data = bytes(range(256)) * 20_000
    ref = await machine.stage_upload(data, "application/octet-stream")
    await action_output(machine, UploadFile(path="new\\folder\\data.bin", blob=ref))
    brought = (await do(machine, DownloadFile(path="new/folder/data.bin"))).after.attachment
    assert brought is not None
    assert sha256(await machine.blob(brought)).digest() == sha256(data).digest()
    assert "data.bin\tfile\t5120000" in str(await action_output(machine, ListFiles(path="new/folder")))
    await action_output(machine, WriteFile(path="new/text.txt", text="żółw\nold"))
    await action_output(machine, EditFile(path="new/text.txt", old="old", new="中文"))
    assert await action_output(machine, ReadFile(path="new/text.txt")) == "żółw\n中文"
    assert {entry.name for entry in await machine.files.list("new")} == {"folder", "text.txt"}
    await machine.files.delete("new", recursive=True)
    assert (await do(machine, ReadFile(path="new/text.txt"))).error is not None


async def test_a_folder_is_no_file(machine: Machine) -> None:
    done = await do(machine, ReadFile(path="."))
    assert done.error is not None
    assert done.error.code == "cannot_read"


async def test_a_viewer_sees_what_an_observer_sees(machine: Machine, sandbox: WindowsSandbox) -> None:
    assert sandbox.frames is not None
    async with sandbox.frames.subscribe(fps=30) as frames:
        first = await asyncio.wait_for(anext(frames), 20)
        await notepad(machine)
        last = await machine.observe(settle=True)
        wanted = (await picture(machine, last)).astype(int)
        async with asyncio.timeout(30):
            async for frame in frames:
                assert frame.serial > first.serial
                bgrx = np.frombuffer(frame.pixels, np.uint8).reshape(frame.height, frame.width, 4)
                if np.abs(bgrx[:, :, 2::-1].astype(int) - wanted).mean() < 1:  # JPEG is not exact
                    break


async def test_who_does_not_know_the_secret_is_told_nothing(provided: Provided) -> None:
    host, _, port = provided.address.rpartition(":")
    with pytest.raises(MachineGone):
        await GuestLink.dial(host, int(port), SECRET + "?", timeout=10)


async def test_the_agent_keeps_the_fence_for_every_host(machine: Machine, sandbox: WindowsSandbox) -> None:
    await machine.observe()
    host, _, port = sandbox.address.rpartition(":")
    link = await GuestLink.dial(host, int(port), SECRET, timeout=10)
    try:
        assert (await link.ready(10)).fence == 7
        with pytest.raises(StaleLease):
            await link.call("observe", Observation, timeout=10, fence=6, settle=False)
        with pytest.raises(MachineGone):  # the latest host is the one
            await machine.observe()
    finally:
        link.close()


async def test_what_it_cannot_be_given_is_refused(machine: Machine) -> None:
    await action_output(machine, WriteFile(path="kept.txt", text="kept"))
    with pytest.raises(InvalidAction):
        await machine.prepare(Task(id="task-1", instruction="x", parameters={"screen": "800x600"}))
    assert await action_output(machine, ReadFile(path="kept.txt")) == "kept"


async def test_code_keeps_its_state_and_says_what_it_raised(machine: Machine) -> None:
    assert await action_output(machine, RunCode(code="x = 6 * 7\nprint('hi')\nx", timeout=60)) == "hi\n42\n"
    assert await action_output(machine, RunCode(code="x + 1", timeout=60)) == "43\n"
    done = await do(machine, RunCode(code="1 / 0", timeout=60))
    assert done.error is not None
    assert (done.error.code, "ZeroDivisionError" in done.error.message) == ("raised", True)
    long = await do(machine, RunCode(code="import time; time.sleep(600)", timeout=2))
    assert long.error is not None
    assert long.error.code in {"timed_out", "kernel_lost"}, "Wine does not interrupt a sleep"
    assert await action_output(machine, RunCode(code="1 + 1", timeout=60)) == "2\n"


async def test_a_tasks_tools_are_listed_and_called(machine: Machine) -> None:
    server = {"command": f"Z:{interpreter()}", "args": ["-c", SERVER]}
    await machine.prepare(Task(id="task-1", instruction="x", parameters={"mcp_servers": {"sums": server}}))
    assert [tool.name for tool in await machine.tools()] == ["sums.add"]
    assert await action_output(machine, CallTool(name="sums.add", arguments={"a": 2, "b": 3})) == "5"
    done = await do(machine, CallTool(name="sums.nothing"))
    assert done.error is not None
    assert done.error.code == "tool_failed"


async def test_a_terminal_runs_programs_and_ends_with_its_shell(machine: Machine) -> None:
    shown = str(await action_output(machine, TypeTerminal(text="set X=42\n", session="work")))
    assert ">" in shown
    assert "[42]" in str(await action_output(machine, TypeTerminal(text="echo [%X%]\n", session="work")))
    await machine.terminals.resize("work", columns=60, rows=20)
    (state,) = await machine.terminals.list()
    assert (state.columns, state.rows, state.running) == (60, 20, True)
    ended = str(await action_output(machine, TypeTerminal(text="exit 3\n", session="work")))
    assert "[the shell ended with status 3]" in ended
    assert ">" in str(await action_output(machine, TypeTerminal(text="", session="work")))


async def test_ctrl_c_interrupts_what_runs_in_a_terminal(machine: Machine, provided: Provided) -> None:
    await action_output(machine, TypeTerminal(text="ping -n 600 127.0.0.1\n"))
    assert "ping" in provided.programs()
    await action_output(machine, TypeTerminal(text="\x03"))
    assert "[back]" in str(await action_output(machine, TypeTerminal(text="echo [back]\n")))
    assert "ping" not in provided.programs()


async def test_a_closed_terminal_ends_its_programs(machine: Machine, provided: Provided) -> None:
    await action_output(machine, TypeTerminal(text="ping -n 600 127.0.0.1\n"))
    await machine.terminals.close("main")
    assert "ping" not in provided.programs()
    assert await machine.terminals.list() == ()


async def test_windows_are_named(machine: Machine) -> None:
    await notepad(machine)
    assert any("Notepad" in title for title in (await machine.screen_texts()).titles)


async def test_a_machine_put_back_has_nothing_of_the_lease_before(
    machine: Machine, sandbox: WindowsSandbox, provided: Provided
) -> None:
    await action_output(machine, WriteFile(path="left.txt", text="left"))
    await notepad(machine)
    assert "notepad" in provided.programs()
    await sandbox.reset()
    fresh = sandbox.bind(8)
    assert (await do(fresh, ReadFile(path="left.txt"))).error is not None
    assert "notepad" not in provided.programs()
    with pytest.raises(StaleLease):
        await do(machine, Wait(seconds=0.01))
