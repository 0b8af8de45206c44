"""A simulated phone in its sandbox, through the driver: what a finger does lands, what is typed arrives."""

import itertools
import json
import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from protocol.actions.types import (
    Action,
    Click,
    DownloadFile,
    LongPress,
    OpenApp,
    Point,
    PressBack,
    PressHome,
    PressKeys,
    ReadFile,
    RunCommand,
    Scroll,
    Swipe,
    TypeText,
    UploadFile,
    WriteFile,
)
from protocol.trajectory.observations import Transition
from protocol.trajectory.tasks import Task
from vm_bridge.drivers.phone.frames import MAX_CAPTURE_BYTES, decode_screencap
from vm_bridge.errors import InvalidAction, OutcomeUnknown, StaleLease
from vm_bridge.hosts.phone.simulated import PhoneSandbox
from vm_bridge.machine import Machine
from vm_bridge.machine_io import WORD
from vm_bridge.simulators.phone.paths import STATE_FILE

TASK = Task(id="task-1", instruction="Do something.", platform="phone")
commands = (f"command-{number:04}" for number in itertools.count())


async def do(machine: Machine, action: Action) -> Transition:
    done = await machine.perform(next(commands), action)
    assert done.error is None, done.error
    return done


async def shell_output(machine: Machine, command: str) -> str:
    """What a command line says in the phone's shell."""
    return (await do(machine, RunCommand(command=command))).after.text or ""


async def front(machine: Machine) -> str:
    """The package whose app is in front."""
    return (await shell_output(machine, "dumpsys activity")).split(" u0 ")[1].split("/")[0]


async def middle(machine: Machine, words: str) -> Point:
    """The middle of the last thing that shows these words, where the phone's own description says it is."""
    described = ElementTree.fromstring(await shell_output(machine, "uiautomator dump /dev/tty"))
    found = [node for node in described if words in (node.get("text"), node.get("content-desc"))]
    assert found, f"nothing on the screen says {words!r}"
    left, top, right, bottom = map(int, re.findall(r"\d+", found[-1].get("bounds", "")))
    return Point(x=(left + right) // 2, y=(top + bottom) // 2)


async def tap(machine: Machine, words: str) -> Transition:
    at = await middle(machine, words)
    return await do(machine, Click(x=at.x, y=at.y))


async def state(machine: Machine) -> dict[str, Any]:
    """What the phone's apps hold."""
    held: dict[str, Any] = json.loads((await do(machine, ReadFile(path=str(STATE_FILE)))).after.text or "")
    return held


async def test_a_tap_opens_an_app_and_back_leaves_it(machine: Machine) -> None:
    assert await front(machine) == "org.pilothouse.launcher"
    await tap(machine, "Contacts")
    assert await front(machine) == "org.pilothouse.contacts"
    await do(machine, PressBack())
    assert await front(machine) == "org.pilothouse.launcher"


@pytest.mark.parametrize("name", ["Notes", "便签", "org.pilothouse.notes"])
async def test_an_app_opens_by_any_of_its_names(machine: Machine, name: str) -> None:
    await do(machine, OpenApp(name=name))
    assert await front(machine) == "org.pilothouse.notes"
    await do(machine, PressHome())
    assert await front(machine) == "org.pilothouse.launcher"


async def test_an_app_that_is_not_there_is_an_error(machine: Machine) -> None:
    done = await machine.perform(next(commands), OpenApp(name="Telegraph"))
    assert done.error is not None
    assert done.error.code == "no_such_app"
    assert done.before.screenshot == done.after.screenshot


@pytest.mark.parametrize("text", ["Milk & 100%sure 'eggs' \"$(id)\"", "买牛奶，żółw 🥛", "one\ntwo\t3"])
async def test_typed_text_arrives_whole(machine: Machine, text: str) -> None:
    method = await shell_output(machine, "settings get secure default_input_method")
    await do(machine, OpenApp(name="Notes"))
    await tap(machine, "New note")
    await tap(machine, "Note")
    assert "Save" in (await machine.screen_texts()).words
    await do(machine, TypeText(text=text.replace("\t", " ")))
    assert not set(WORD.findall(text)) & set((await machine.screen_texts()).words), "nothing of fields"
    await tap(machine, "Save")
    assert (await state(machine))["notes"]["notes"][0]["body"] == text.replace("\t", " ")
    assert await shell_output(machine, "settings get secure default_input_method") == method


async def test_keys_together_and_alone(machine: Machine) -> None:
    await do(machine, OpenApp(name="Notes"))
    await tap(machine, "New note")
    await tap(machine, "Title")
    await do(machine, TypeText(text="wrong"))
    await do(machine, PressKeys(keys=("ctrl", "a")))
    await do(machine, PressKeys(keys=("backspace",)))
    await do(machine, TypeText(text="rightx"))
    await do(machine, PressKeys(keys=("backspace",)))
    await tap(machine, "Save")
    assert (await state(machine))["notes"]["notes"][0]["title"] == "right"


async def test_a_long_press_is_no_tap(machine: Machine) -> None:
    await do(machine, OpenApp(name="Notes"))
    at = await middle(machine, "Plants")
    await do(machine, LongPress(x=at.x, y=at.y, seconds=0.8))
    await tap(machine, "Delete")
    assert "Plants" not in [note["title"] for note in (await state(machine))["notes"]["notes"]]


async def test_a_swipe_and_a_scroll_move_the_list(machine: Machine) -> None:
    await do(machine, OpenApp(name="Contacts"))
    first = (await middle(machine, "Chiara Rossi")).y
    await do(machine, Swipe(start=Point(x=200, y=600), end=Point(x=200, y=500)))
    second = (await middle(machine, "Chiara Rossi")).y
    assert second < first
    await do(machine, Scroll(direction="up", amount=5))
    assert (await middle(machine, "Chiara Rossi")).y == first


async def test_the_screen_turns_and_taps_still_land(phone: PhoneSandbox, machine: Machine) -> None:
    upright = await machine.observe(settle=True)
    assert (upright.width, upright.height) == (412, 915)
    await shell_output(machine, "settings put system user_rotation 1")
    turned = await machine.observe(settle=True)
    assert (turned.width, turned.height) == (915, 412)
    assert phone.frames is not None
    async with phone.frames.subscribe(fps=30) as frames:
        frame = await anext(frames)
        assert (frame.width, frame.height, len(frame.pixels)) == (915, 412, 915 * 412 * 4)
    with pytest.raises(InvalidAction):
        await machine.perform(next(commands), Click(x=200, y=600))
    await tap(machine, "Shop")
    assert await front(machine) == "org.pilothouse.shop"
    await shell_output(machine, "settings put system user_rotation 0")
    again = await machine.observe(settle=True)
    assert (again.width, again.height) == (412, 915)


async def test_the_apps_are_listed(phone: PhoneSandbox, machine: Machine) -> None:
    listed = (await shell_output(machine, "pm list packages -3")).split()
    assert {"package:org.pilothouse.messages", "package:org.pilothouse.clock"} < set(listed)
    assert {"Messages", "Clock"} < set(phone.capabilities.apps)


async def test_a_picture_of_its_own_is_the_picture_seen(phone: PhoneSandbox, machine: Machine) -> None:
    await machine.observe(settle=True)
    assert phone.frames is not None
    async with phone.frames.subscribe(fps=30) as frames:
        frame = await anext(frames)
        seen = bytes(frame.pixels)
    width, height, pixels = decode_screencap(await phone.device.raw("screencap", most=MAX_CAPTURE_BYTES))
    assert (width, height) == (frame.width, frame.height)
    assert np.array_equal(_colours(pixels), _colours(seen))


async def test_clearing_an_app_puts_its_data_back(machine: Machine) -> None:
    first = await state(machine)
    await do(machine, OpenApp(name="Notes"))
    await tap(machine, "Plants")
    await tap(machine, "Delete note")
    await tap(machine, "Delete")
    assert (await state(machine))["notes"] != first["notes"]
    assert "Success" in await shell_output(machine, "pm clear org.pilothouse.notes")
    assert await state(machine) == first
    assert await front(machine) == "org.pilothouse.launcher"


async def test_files_go_in_and_out(machine: Machine) -> None:
    content = bytes(range(256)) * 4
    blob = await machine.stage_upload(content, "application/octet-stream")
    await do(machine, UploadFile(path="Download/file.bin", blob=blob))
    assert await shell_output(machine, "stat -c %s Download/file.bin") == f"{len(content)}\n"
    brought = (await do(machine, DownloadFile(path="Download/file.bin"))).after.attachment
    assert brought is not None
    assert await machine.blob(brought) == content


async def test_a_reset_leaves_nothing(phone: PhoneSandbox, machine: Machine) -> None:
    first = await machine.prepare(TASK)
    await do(machine, WriteFile(path="left-over.txt", text="x"))
    await do(machine, OpenApp(name="Settings"))
    await shell_output(machine, "settings put system user_rotation 1")
    await phone.reset()
    with pytest.raises(StaleLease):
        await machine.observe()
    fresh = phone.bind(2)
    seen = await fresh.observe(settle=True)
    assert (seen.width, seen.height) == (first.width, first.height)
    assert await front(fresh) == "org.pilothouse.launcher"
    assert (await fresh.perform(next(commands), ReadFile(path="left-over.txt"))).error is not None


async def test_a_phone_whose_browser_died_is_not_well(phone: PhoneSandbox, machine: Machine) -> None:
    assert await phone.healthy()
    with pytest.raises(OutcomeUnknown):
        await machine.perform(
            next(commands), RunCommand(command="pkill -KILL -f vm_bridge.simulators.phone.main; sleep 60")
        )
    assert not await phone.healthy()


def _colours(pixels: bytes) -> "np.ndarray[Any, np.dtype[np.uint8]]":
    """Without the byte that says nothing."""
    return np.frombuffer(pixels, np.uint8).reshape(-1, 4)[:, :3]
