"""OSWorld task files and acts on a simulated guest: PyAutoGUI and a real X desktop."""

import asyncio
import itertools
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from protocol.actions.types import (
    Action,
    Click,
    GetClipboard,
    Press,
    PressKeys,
    ReadFile,
    Release,
    RunCommand,
    SetClipboard,
    TypeText,
    WriteFile,
)
from protocol.trajectory.tasks import Task
from tests.integration.osworld.evaluator_settings import means_ensured
from vm_bridge.errors import MachineGone, NoMachine, UnsupportedTask
from vm_bridge.hosts.osworld.host import GuestHost, GuestSandbox
from vm_bridge.simulators.osworld.process import REVERT, simulated_guest

pytestmark = [
    pytest.mark.skipif(shutil.which("Xtigervnc") is None, reason="needs Xtigervnc"),
    pytest.mark.timeout(900),  # the first one installs OSWorld's package
]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with simulated_guest(tmp_path_factory.mktemp("guest")) as address:
        yield address


@pytest_asyncio.fixture
async def guest(address: str, tmp_path: Path) -> AsyncIterator[GuestSandbox]:
    host = GuestHost(tmp_path, [address], REVERT, settings=means_ensured())
    sandbox = await host.create("osworld")
    assert isinstance(sandbox, GuestSandbox)
    yield sandbox
    await host.close()


def task(**given: Any) -> Task:
    return Task(id="one", instruction="Do.", parameters={"osworld": given})


def note_task() -> Task:
    """A file is to hold two lines, whoever writes it."""
    return task(
        config=[
            {"type": "execute", "parameters": {"command": ["bash", "-c", "echo one > ~/list.txt"]}},
            {"type": "launch", "parameters": {"command": ["xterm", "-T", "Second", "-geometry", "60x10+600+400"]}},
            {
                "type": "execute",
                "parameters": {
                    "command": "test -f ~/list.txt && echo there",
                    "shell": True,
                    "until": {"stdout": "there"},
                },
            },
            {"type": "activate_window", "parameters": {"window_name": "Second"}},
        ],
        evaluator={
            "func": ["check_list", "exact_match"],
            "result": [
                {"type": "vm_file", "path": "list.txt", "dest": "list.txt"},
                {"type": "vm_command_line", "command": "wc -l < ~/list.txt", "shell": True},
            ],
            "expected": [
                {"type": "rule", "rules": {"expect": ["^one$", "^two$"], "unexpect": ["three"]}},
                {"type": "rule", "rules": {"expected": "2\n"}},
            ],
        },
    )


async def test_a_task_file_is_set_up_and_judged(guest: GuestSandbox) -> None:
    machine = guest.bind(1)
    await machine.prepare(note_task())
    assert "Second" in (await machine.screen_texts()).titles
    assert (await machine.evaluate()).success is False
    await machine.perform("append-command", RunCommand(command="echo two >> list.txt"))
    verdict = await machine.evaluate()
    assert (verdict.success, verdict.score) == (True, 1.0)
    assert (await machine.evaluate(answer="FAIL")).success is False


async def test_who_says_that_a_task_cannot_be_done_is_right_where_it_cannot(guest: GuestSandbox) -> None:
    machine = guest.bind(1)
    await machine.prepare(task(evaluator={"func": "infeasible"}))
    assert (await machine.evaluate(answer="done")).success is False
    assert (await machine.evaluate(answer="FAIL")).success is True


async def test_what_a_file_asks_in_vain_is_refused_before_anything_changes(guest: GuestSandbox) -> None:
    machine = guest.bind(1)
    await machine.perform("note-command", WriteFile(path="note.txt", text="kept"))
    with pytest.raises(UnsupportedTask, match="guess_well"):
        await machine.prepare(task(evaluator={"func": "guess_well", "result": {"type": "vm_file"}}))
    assert (await machine.perform("read-command", ReadFile(path="note.txt"))).after.text == "kept"


async def test_a_step_that_fails_is_told(guest: GuestSandbox) -> None:
    config = [{"type": "open", "parameters": {"path": "/nowhere/at/all"}}]
    with pytest.raises(MachineGone, match="Setup step 1 failed: _open_setup"):
        await guest.bind(1).prepare(task(config=config, evaluator={"func": "infeasible"}))


async def test_keys_and_pointer_reach_the_window_in_front(guest: GuestSandbox) -> None:
    machine = guest.bind(1)
    await machine.perform("click-command", Click(x=200, y=200))
    line = "echo '<a> & $HOME \"b\"' > typed.txt\n"
    typed = await machine.perform("type-command", TypeText(text=line))
    assert typed.error is None
    assert await _read(guest, "typed.txt") == '<a> & $HOME "b"\n'


async def test_text_is_typed_as_it_stands_beside_held_keys_and_caps_lock(guest: GuestSandbox) -> None:
    machine, numbers = guest.bind(1), itertools.count()

    async def do(*actions: Action) -> None:
        for action in actions:
            done = await machine.perform(f"typing-{next(numbers):04}", action)
            assert done.error is None

    text = '_aB<c>Z ~"[@]|\\\n'
    await do(Click(x=200, y=200), TypeText(text="cat > typed.txt\n"))
    for held in ("shift", "ctrl", "alt"):
        await do(Press(key=held), TypeText(text=text))
        if held == "shift":
            await do(PressKeys(keys=("a",)))  # is held again after it
        await do(Release(key=held))
    await do(PressKeys(keys=("capslock",)), TypeText(text=text), PressKeys(keys=("b",)))
    await do(PressKeys(keys=("capslock",)), PressKeys(keys=("enter",)), PressKeys(keys=("ctrl", "d")))
    assert await _read(guest, "typed.txt") == f"{text}A{text}{text}{text}B\n"


async def test_text_beyond_the_keyboard_is_pasted_once_whatever_is_held(guest: GuestSandbox) -> None:
    machine, numbers = guest.bind(1), itertools.count()

    async def do(*actions: Action) -> None:
        for action in actions:
            done = await machine.perform(f"pasting-{next(numbers):04}", action)
            assert done.error is None

    await do(WriteFile(path="typed.txt", text=""), RunCommand(command="setsid -f mousepad typed.txt >/dev/null 2>&1"))
    await eventually_shown(guest, "typed.txt")
    await do(SetClipboard(text="kept"), Press(key="shift"), TypeText(text="żółw, 中文 <_>\n"), Release(key="shift"))
    await do(TypeText(text="<b>ß"), PressKeys(keys=("ctrl", "s")))
    assert await _read(guest, "typed.txt") == "żółw, 中文 <_>\n<b>ß"
    assert (await machine.perform("get-command", GetClipboard())).after.text == "kept"


async def test_names_are_taken_as_they_stand(guest: GuestSandbox) -> None:
    """Their own upload would expand the variable."""
    machine = guest.bind(1)
    await machine.perform("write-command", WriteFile(path="new/$HOME ~ 'x'.txt", text="żółw\n"))
    assert (await machine.perform("read-command", ReadFile(path="new/$HOME ~ 'x'.txt"))).after.text == "żółw\n"


async def test_a_command_is_ended_with_what_it_started(guest: GuestSandbox) -> None:
    done = await guest.bind(1).perform("slow-command", RunCommand(command="echo begun; sleep 600 & wait", timeout=2))
    assert done.error is not None
    assert (done.error.code, done.after.text) == ("timed_out", "begun\n")


async def test_the_clipboard_outlives_the_act_that_filled_it(guest: GuestSandbox) -> None:
    machine = guest.bind(1)
    await machine.perform("set-command", SetClipboard(text="中文"))
    await machine.perform("keys-command", PressKeys(keys=("shift",)))
    assert (await machine.perform("get-command", GetClipboard())).after.text == "中文"


async def test_a_guest_is_lent_to_one_and_a_silent_one_to_nobody(address: str, tmp_path: Path) -> None:
    host = GuestHost(tmp_path, ["127.0.0.1:9", address], REVERT)
    sandbox = await host.create("osworld")
    assert sandbox.id.endswith(address.rpartition(":")[2])
    with pytest.raises(NoMachine):
        await host.create("osworld")
    await host.close()


async def test_without_a_command_nothing_is_put_back(address: str, tmp_path: Path) -> None:
    host = GuestHost(tmp_path, [address])
    machine = (await host.create("osworld")).bind(1)
    await machine.perform("left-command", WriteFile(path="left.txt", text="left"))
    await machine.prepare(Task(id="two", instruction="Do."))
    assert (await machine.perform("find-command", ReadFile(path="left.txt"))).after.text == "left"
    await host.close()


async def eventually_shown(guest: GuestSandbox, title: str) -> None:
    """Wait for a window that a program is about to open."""
    async with asyncio.timeout(60):
        for _ in range(10_000):
            if any(title in shown for shown in (await guest.bind(1).screen_texts()).titles):
                return
            await asyncio.sleep(0.2)
    raise AssertionError("never")


async def _read(guest: GuestSandbox, path: str) -> str:
    """A file that a program in the guest is about to write."""
    async with asyncio.timeout(60):
        for number in range(10_000):
            done = await guest.bind(1).perform(f"look-{number:06}", ReadFile(path=path), settle=False)
            if done.error is None and done.after.text:
                return done.after.text
            await asyncio.sleep(0.2)
    raise AssertionError("never")
