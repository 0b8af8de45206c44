"""Code, interactive programs, MCP servers and files in a real sandbox, hostile ones too."""

import asyncio

import pytest

from protocol.actions.types import (
    Action,
    CallTool,
    DownloadFile,
    ListFiles,
    ReadFile,
    RunCode,
    RunCommand,
    TypeTerminal,
    UploadFile,
    WriteFile,
)
from protocol.trajectory.observations import Transition
from protocol.trajectory.tasks import Task
from tests.integration.machine_io.conftest import Do
from tests.waiting import eventually
from vm_bridge.errors import InvalidAction
from vm_bridge.hosts.local.sandbox import LocalSandbox
from vm_bridge.machine import Machine

pytestmark = pytest.mark.asyncio(loop_scope="module")

SERVER = {"command": "/image/tools/bin/python", "args": ["/image/servers/notes.py"]}
PNG = b"\x89PNG\r\n\x1a\n"


def failed(transition: Transition) -> str:
    assert transition.error is not None, transition.after.text
    return transition.error.code


async def type_until_shown(do: Do, text: str, wanted: str, session: str = "main") -> str:
    """Type, and look until this is shown."""
    seen = (await do(TypeTerminal(text=text, session=session))).after.text or ""
    for _ in range(20):
        if wanted in seen:
            return seen
        seen = (await do(TypeTerminal(text="", session=session))).after.text or ""
    raise AssertionError(seen)


# --- code


async def test_a_kernel_keeps_what_it_was_told(do: Do) -> None:
    assert (await do(RunCode(code="x = 41\nprint('told')\nx + 1"))).after.text == "told\n42\n"
    assert (await do(RunCode(code="x"))).after.text == "41\n"
    assert (await do(RunCode(code="import os; os.getcwd()"))).after.text == "'/home/user'\n"


async def test_a_drawing_comes_out_as_a_picture(machine: Machine, do: Do) -> None:
    drawn = await do(RunCode(code="import matplotlib.pyplot as plt\nplt.plot([1, 3, 2]);"))
    assert drawn.after.attachment is not None
    assert drawn.after.attachment.media_type == "image/png"
    assert (await machine.blob(drawn.after.attachment)).startswith(PNG)


async def test_code_that_raises_says_where(do: Do) -> None:
    done = await do(RunCode(code="1 / 0"))
    assert failed(done) == "raised"
    assert "ZeroDivisionError" in (done.after.text or "")
    assert "\x1b" not in (done.after.text or "")


async def test_code_out_of_time_is_interrupted_and_its_state_kept(do: Do) -> None:
    await do(RunCode(code="kept = 'here'"))
    done = await do(RunCode(code="import time\nprint('begun')\ntime.sleep(600)", timeout=1))
    assert failed(done) == "timed_out"
    assert "begun" in (done.after.text or "")
    assert (await do(RunCode(code="kept"))).after.text == "'here'\n"


async def test_code_that_will_not_stop_loses_its_kernel_and_says_so(do: Do) -> None:
    stubborn = "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: time.sleep(1)"
    assert failed(await do(RunCode(code=stubborn, timeout=1))) == "kernel_lost"
    assert (await do(RunCode(code="print('new')"))).after.text == "new\n"


async def test_a_kernel_that_dies_says_so_and_begins_anew(do: Do) -> None:
    assert failed(await do(RunCode(code="import os; os._exit(1)"))) == "kernel_died"
    assert failed(await do(RunCode(code="x"))) == "raised"


async def test_output_of_code_is_bounded(do: Do) -> None:
    done = await do(RunCode(code="for _ in range(3000): print('y' * 1000)"))
    assert done.error is None
    assert len(done.after.text or "") < 70_000


@pytest.mark.parametrize(
    "action",
    [RunCode(code="import time\ntime.sleep(600)"), RunCommand(command="sleep 600", timeout=600)],
    ids=lambda action: action.kind,
)
async def test_whoever_hurries_need_not_wait(machine: Machine, do: Do, action: Action) -> None:
    running = asyncio.ensure_future(do(action))
    await asyncio.wait({running}, timeout=2)
    assert not running.done()
    await machine.skip_settle()
    assert failed(await asyncio.wait_for(running, 30)) == "cut_short"


# --- interactive programs


async def test_an_interactive_program_is_talked_to(do: Do) -> None:
    await type_until_shown(do, "python3 -q\n", ">>>")
    await type_until_shown(do, "6 * 7\n", "42")
    await type_until_shown(do, "import time; time.sleep(600)\n", "sleep")
    await type_until_shown(do, "\x03", "KeyboardInterrupt")
    await type_until_shown(do, "\x04", "$")


async def test_a_full_screen_program_writes_a_file(do: Do) -> None:
    await type_until_shown(do, "vi story.txt\n", "story.txt", "editor")
    await do(TypeTerminal(text="iOnce upon a time\x1b", session="editor"))
    await do(TypeTerminal(text=":wq\n", session="editor"))
    assert (await do(ReadFile(path="story.txt"))).after.text == "Once upon a time\n"


# --- tools


async def test_the_images_own_tools_are_listed_and_called(machine: Machine, do: Do) -> None:
    names = {tool.name: tool for tool in await machine.tools()}
    assert {"notes.add", "notes.read", "notes.search"} <= names.keys()
    assert "title" in names["notes.add"].parameters["properties"]  # type: ignore[operator]
    kept = await do(CallTool(name="notes.add", arguments={"title": "Tea", "text": "绿茶"}))
    assert kept.after.text == "Kept the note 'Tea'."
    assert (await do(CallTool(name="notes.read", arguments={"title": "Tea"}))).after.text == "绿茶"
    missing = await do(CallTool(name="notes.read", arguments={"title": "Coffee"}))
    assert failed(missing) == "tool_failed"
    assert "there is no note 'Coffee'" in (missing.after.text or "")
    assert failed(await do(CallTool(name="notes.add", arguments={"title": 5}))) == "tool_failed"


async def test_a_server_that_dies_says_so_and_is_started_again(do: Do) -> None:
    await do(CallTool(name="notes.titles"))
    await do(RunCommand(command="pkill -f servers/notes.py"))
    assert failed(await do(CallTool(name="notes.titles"))) == "server_ended"
    assert (await do(CallTool(name="notes.titles"))).error is None


async def test_a_task_brings_servers_of_its_own(machine: Machine, do: Do) -> None:
    servers = {"mine": SERVER, "broken": {"command": "/no/such/program"}}
    await machine.prepare(Task(id="t", instruction="x", parameters={"mcp_servers": servers}))
    names = {tool.name for tool in await machine.tools()}
    assert {"mine.add", "notes.add"} <= names
    assert (await do(CallTool(name="mine.titles"))).error is None
    assert failed(await do(CallTool(name="broken.x"))) == "server_failed"
    await machine.prepare(Task(id="t", instruction="x"))
    assert "mine.add" not in {tool.name for tool in await machine.tools()}


async def test_what_a_lease_holder_puts_into_the_home_folder_reaches_no_other_machine(
    sandbox: LocalSandbox, machine: Machine, do: Do
) -> None:
    await machine.prepare(Task(id="t", instruction="x"))
    known = await machine.tools()
    await do(WriteFile(path="mcp/__init__.py", text="raise SystemExit('invented')"))
    assert "notes.add" in {tool.name for tool in await machine.tools()}
    await machine.prepare(Task(id="t", instruction="x"))
    assert await machine.tools() == known


HTTP_SERVER = """
from mcp.server import MCPServer

server = MCPServer("calc")


@server.tool()
def double(number: int) -> str:
    return str(2 * number)


server.run("streamable-http", port=8765)
"""


async def test_a_server_is_spoken_to_over_streamable_http(machine: Machine, do: Do) -> None:
    servers = {"calc": {"url": "http://127.0.0.1:8765/mcp"}}
    await machine.prepare(Task(id="t", instruction="x", parameters={"mcp_servers": servers}))
    assert failed(await do(CallTool(name="calc.double", arguments={"number": 1}))) == "server_failed"
    await do(WriteFile(path="calc.py", text=HTTP_SERVER))
    await do(RunCommand(command="nohup /image/tools/bin/python calc.py > calc.log 2>&1 &"))
    await do(RunCommand(command="until curl -s -o /dev/null http://127.0.0.1:8765/; do sleep 0.1; done", timeout=60))
    assert (await do(CallTool(name="calc.double", arguments={"number": 21}))).after.text == "42"
    assert "calc.double" in {tool.name for tool in await machine.tools()}


@pytest.mark.parametrize(
    "servers",
    [
        "notes",
        {"a": {"url": "file:///x"}},
        {"../x": SERVER},
        {"a": {"args": []}},
        {"a": {"command": ""}},
        {"a": {**SERVER, "uid": 0}},
    ],
)
async def test_servers_that_make_no_sense_change_nothing(machine: Machine, do: Do, servers: object) -> None:
    task = Task.model_validate({"id": "t", "instruction": "x", "parameters": {"mcp_servers": servers}})
    await do(WriteFile(path="kept.txt", text="kept"))
    with pytest.raises(InvalidAction, match="mcp_servers"):
        await machine.prepare(task)
    assert (await do(ReadFile(path="kept.txt"))).after.text == "kept"


# --- the sandbox against who is inside


async def test_large_files_cross_whole_and_larger_ones_are_refused(machine: Machine, do: Do) -> None:
    data = b"".join(number.to_bytes(4, "big") for number in range(3_000_000))
    put = await do(
        UploadFile(path="deep/er/large.bin", blob=await machine.stage_upload(data, "application/octet-stream"))
    )
    assert put.error is None
    got = (await do(DownloadFile(path="deep/er/large.bin"))).after.attachment
    assert got is not None
    assert await machine.blob(got) == data
    await do(RunCommand(command="truncate -s 40M too-large"))
    assert failed(await do(DownloadFile(path="too-large"))) == "too_long"
    with pytest.raises(InvalidAction):
        await machine.files.read("too-large")
    with pytest.raises(InvalidAction):
        await machine.stage_upload(bytes(2**25 + 1), "application/octet-stream")


@pytest.mark.parametrize("path", ["/dev/zero", "/proc/self/mem", "/proc/kmsg", "pipe", "~nobody-here/x", "a\nb"])
async def test_paths_made_to_harm_only_fail(machine: Machine, do: Do, path: str) -> None:
    await do(RunCommand(command="test -e pipe || mkfifo pipe"))
    assert failed(await do(DownloadFile(path=path))) in ("cannot_read", "no_such_user")
    with pytest.raises(InvalidAction):
        await machine.files.read(path)


async def test_nothing_of_the_host_is_listed(do: Do) -> None:
    root = (await do(ListFiles(path="/"))).after.text or ""
    assert "work" not in [line.split("\t")[0] for line in root.split("\n")]
    assert failed(await do(ListFiles(path="/root"))) == "cannot_list"


async def test_a_folder_without_end_is_cut(machine: Machine, do: Do) -> None:
    await do(RunCommand(command="mkdir -p many && cd many && seq 1 5000 | xargs touch"))
    assert "cut after" in ((await do(ListFiles(path="many"))).after.text or "")
    assert len(await machine.files.list("many")) <= 1_001


async def test_a_terminal_that_prints_without_end_keeps_nobody_waiting(machine: Machine, do: Do) -> None:
    assert len((await do(TypeTerminal(text="yes\n", session="loud"))).after.text or "") <= 4_000
    assert (await do(RunCommand(command="echo still here"))).after.text == "still here\n"
    async with machine.terminals.watch() as frames:
        async for frame in frames:
            if frame.session == "loud":
                break
    await machine.terminals.close("loud")


async def test_helpers_that_are_killed_are_started_again(do: Do) -> None:
    await do(TypeTerminal(text="", session="main"))
    await do(RunCode(code="x = 1"))
    await do(RunCommand(command="pkill -9 -f guest.linux.toolbox; pkill -9 -f guest.linux.terminals.server; true"))
    lost = await do(RunCode(code="x"))
    assert failed(lost) in ("ended", "raised")
    assert (await do(RunCode(code="print('again')"))).after.text == "again\n"
    await type_until_shown(do, "echo ba''ck\n", "back")


async def test_programs_inside_hold_nothing_of_the_guests(do: Do) -> None:
    for action in (
        RunCommand(command="ls /proc/self/fd"),
        RunCode(code="import subprocess; print(subprocess.check_output(['ls', '/proc/self/fd'], text=True))"),
    ):
        numbers = [int(word) for word in ((await do(action)).after.text or "").split()]
        assert max(numbers) <= 3, "its own three, and the folder it lists"


async def test_what_nobody_uses_costs_nothing(sandbox: LocalSandbox, machine: Machine, do: Do) -> None:
    await machine.prepare(Task(id="t", instruction="x"))
    processes = (await do(RunCommand(command="cat /proc/[0-9]*/cmdline | tr '\\0' ' '"))).after.text or ""
    assert "vm_bridge.guest.linux.toolbox.server" not in processes
    assert "ipykernel" not in processes
    await do(RunCode(code="1"))
    await machine.prepare(Task(id="t", instruction="x"))
    usage = await sandbox.usage()
    assert usage.pss < 100 * 2**20


async def test_changes_are_told_while_they_happen(machine: Machine, do: Do) -> None:
    told: list[tuple[str, str]] = []

    async def listen() -> None:
        async with machine.files.watch("Documents") as changes:
            told.append(("", "watching"))
            async for change in changes:
                told.append((change.name, change.change))

    await do(RunCommand(command="mkdir -p Documents"))
    listening = asyncio.create_task(listen())
    await eventually(lambda: bool(told))
    await do(RunCommand(command="cd Documents; echo 1 > a; mv a b; rm b"))
    await eventually(lambda: ("b", "deleted") in told)
    assert told[1:] == [("a", "created"), ("a", "changed"), ("a", "deleted"), ("b", "created"), ("b", "deleted")]
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
