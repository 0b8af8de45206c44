"""A desktop as a whole: acts, crashes, resets, pictures, streams."""

import asyncio
import itertools
import os
import signal
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
import simplejpeg
from pydantic import JsonValue

from protocol.actions.types import (
    Action,
    Click,
    DoubleClick,
    Drag,
    DragPath,
    EditFile,
    Gesture,
    MouseDown,
    MouseUp,
    MoveTo,
    OpenApp,
    Point,
    PressKeys,
    ReadFile,
    RightClick,
    RunCommand,
    Scroll,
    TimedInput,
    TypeText,
    Wait,
    WriteFile,
)
from protocol.trajectory.observations import Observation, Transition
from protocol.trajectory.tasks import Task
from tests.processes import first_process
from tests.waiting import eventually
from vm_bridge.errors import InvalidAction, MachineGone, OutcomeUnknown
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.hosts.local.sandbox import LocalSandbox
from vm_bridge.isolation.resource_usage import measure_usage
from vm_bridge.machine import Machine
from vm_bridge.sandbox import Frame

numbers = itertools.count()


async def do(machine: Machine, action: Action, *, settle: bool = True) -> Transition:
    return await machine.perform(f"desktop-{next(numbers):04}", action, settle=settle)


async def picture(machine: Machine, seen: Observation) -> bytes:
    assert seen.screenshot is not None
    return await machine.blob(seen.screenshot)


def second_has_passed(second: int) -> bool:
    return int(time.time()) > second


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def guest_pid(desktop: LocalSandbox) -> int:
    """The guest's process as this machine numbers it: the first that the sandbox's first process started."""
    return min(children(first_process(desktop).pid))


def alive(pid: int) -> bool:
    try:
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def test_the_first_picture_is_the_desktop(machine: Machine) -> None:
    seen = await machine.observe(settle=True)
    image = simplejpeg.decode_jpeg(await picture(machine, seen))
    assert image.shape == (720, 1280, 3)
    assert len({tuple(pixel) for pixel in image[::20, ::20].reshape(-1, 3)}) > 20  # icons, not one colour
    assert seen.rest == "rested"


async def test_an_unchanged_screen_keeps_its_bytes(machine: Machine) -> None:
    first = await machine.observe(settle=True)
    second = await machine.observe()
    assert first.screenshot == second.screenshot


async def test_png_by_the_task(machine: Machine) -> None:
    seen = await machine.prepare(Task(id="task-1", instruction="x", parameters={"screenshot": "png"}))
    assert seen.screenshot is not None
    assert seen.screenshot.media_type == "image/png"
    assert (await picture(machine, seen)).startswith(b"\x89PNG")


async def test_the_screen_is_as_large_as_the_task_wants(desktop: LocalSandbox, machine: Machine) -> None:
    wide = await machine.prepare(Task(id="task-1", instruction="x", parameters={"screen": "1920x1080"}))
    assert (wide.width, wide.height) == (machine.capabilities.width, machine.capabilities.height) == (1920, 1080)
    assert simplejpeg.decode_jpeg(await picture(machine, wide)).shape == (1080, 1920, 3)
    assert (await do(machine, Click(x=1900, y=1060))).error is None
    counted = await do(machine, RunCommand(command="pgrep -c Xtigervnc; pgrep -c openbox"))
    assert counted.after.text == "1\n1\n", "those of the image's size have ended"
    assert desktop.frames is not None
    async with desktop.frames.subscribe(fps=30) as frames:
        frame = await asyncio.wait_for(anext(frames), 10)
        assert (frame.width, frame.height, len(frame.pixels)) == (1920, 1080, 1920 * 1080 * 4)
    await desktop.reset()
    assert desktop.capabilities.width == 1280


@pytest.mark.parametrize("size", ["10x10", "99999x100", "1280x720 ", "1280", 7, "-1x1"])
async def test_a_senseless_size_changes_nothing(machine: Machine, size: JsonValue) -> None:
    await do(machine, WriteFile(path="note.txt", text="kept"))
    with pytest.raises(InvalidAction):
        await machine.prepare(Task(id="task-1", instruction="x", parameters={"screen": size}))
    assert (await do(machine, ReadFile(path="note.txt"))).after.text == "kept"


async def test_icons_open_programs_and_menus_open(desktop: LocalSandbox, machine: Machine) -> None:
    before = await machine.observe(settle=True)
    menu = await do(machine, RightClick(x=900, y=300))
    assert menu.after.screenshot != before.screenshot
    closed = await do(machine, PressKeys(keys=("esc",)))
    assert closed.after.screenshot == before.screenshot
    await do(machine, DoubleClick(x=60, y=432))
    assert await desktop.environment(1).wait_for_window("Mousepad")


async def test_windows_are_dragged(desktop: LocalSandbox, machine: Machine) -> None:
    environment = desktop.environment(1)
    await do(machine, OpenApp(name="terminal"))

    ran = await environment.run(["xwininfo", "-name", "xterm"])
    values = [int(line.split()[-1]) for line in ran.output.splitlines() if "Absolute" in line]
    x, y = values[0] + 200, values[1] - 12
    await do(machine, Drag(start=Point(x=x, y=y), end=Point(x=x + 60, y=y + 40)))
    ran = await environment.run(["xwininfo", "-name", "xterm"])
    moved = [int(line.split()[-1]) for line in ran.output.splitlines() if "Absolute" in line]
    assert (moved[0] - values[0], moved[1] - values[1]) == (60, 40)


async def test_a_key_held_during_a_drag_moves_a_window_by_its_inside(desktop: LocalSandbox, machine: Machine) -> None:
    environment = desktop.environment(1)
    await do(machine, OpenApp(name="terminal"))

    async def place() -> tuple[int, int]:
        ran = await environment.run(["xwininfo", "-name", "xterm"])
        x, y = (int(line.split()[-1]) for line in ran.output.splitlines() if "Absolute" in line)
        return x, y

    x, y = await place()
    path = (Point(x=x + 90, y=y + 90), Point(x=x + 200, y=y + 100), Point(x=x + 150, y=y + 130))
    await do(machine, DragPath(points=path))
    assert await place() == (x, y), "without the key the drag is the program's"
    await do(machine, DragPath(points=path, keys=("alt",)))
    assert await place() == (x + 60, y + 40)


async def test_a_takeover_gesture_is_one_act(desktop: LocalSandbox, machine: Machine) -> None:
    inputs = (
        TimedInput(at_ms=0, input=MouseDown(point=Point(x=700, y=500))),
        TimedInput(at_ms=30, input=MoveTo(x=760, y=560)),
        TimedInput(at_ms=60, input=MouseUp(point=Point(x=800, y=600))),
    )
    done = await do(machine, Gesture(inputs=inputs))
    assert done.error is None
    assert done.ended_at - done.started_at >= timedelta(milliseconds=60)


async def test_files_and_commands_share_the_desktop(desktop: LocalSandbox, machine: Machine) -> None:
    assert (await do(machine, WriteFile(path="Desktop/a.txt", text="one two"))).error is None
    assert (await do(machine, EditFile(path="Desktop/a.txt", old="two", new="three"))).error is None
    assert (await do(machine, ReadFile(path="Desktop/a.txt"))).after.text == "one three"
    listed = await do(machine, RunCommand(command="cat ~/Desktop/a.txt; echo $DISPLAY"))
    assert listed.after.text == "one three:0\n"


async def test_a_command_out_of_time_says_so(machine: Machine) -> None:
    done = await do(machine, RunCommand(command="echo begun; sleep 50", timeout=0.5))
    assert done.error is not None
    assert (done.error.code, done.after.text) == ("timed_out", "begun\n")


async def test_what_goes_on_for_ever_is_told(machine: Machine) -> None:
    await do(machine, OpenApp(name="terminal"))
    done = await do(machine, TypeText(text="while true; do echo $RANDOM; sleep 0.05; done\n"))
    assert (done.after.rest, done.after.settled) == ("timeout", False)
    assert done.after.settle_ms >= 2900


async def test_hurry_cuts_a_settle_short(machine: Machine) -> None:
    await do(machine, OpenApp(name="terminal"))
    act = asyncio.create_task(do(machine, TypeText(text="sleep 2.5; echo done\n")))
    while not act.done():
        await machine.skip_settle()
        await asyncio.sleep(0.02)
    assert (await act).after.rest == "hurried"


async def test_hurry_ends_a_wait(machine: Machine) -> None:
    act = asyncio.create_task(do(machine, Wait(seconds=60)))
    while not act.done():
        await machine.skip_settle()
        await asyncio.sleep(0.02)
    assert (await act).error is None


async def test_a_child_that_works_later_is_waited_for(desktop: LocalSandbox, machine: Machine) -> None:
    await do(machine, OpenApp(name="terminal"))
    done = await do(machine, TypeText(text="sleep 1.5; echo late > late.txt\n"))
    assert done.after.rest == "rested"
    assert await desktop.environment(1).read("late.txt") == "late\n"


async def test_a_guest_killed_during_an_act(desktop: LocalSandbox, machine: Machine) -> None:
    programs = measure_usage(first_process(desktop).pid).processes
    act = asyncio.create_task(machine.perform("desktop-killed", RunCommand(command="sleep 30")))
    guest = guest_pid(desktop)
    await eventually(lambda: measure_usage(first_process(desktop).pid).processes > programs)
    os.kill(guest, signal.SIGKILL)
    with pytest.raises(OutcomeUnknown):
        await act
    with pytest.raises(OutcomeUnknown):
        await machine.perform("desktop-killed", RunCommand(command="sleep 30"))
    with pytest.raises(MachineGone):
        await machine.observe()
    assert not await desktop.healthy()
    await desktop.reset()
    assert (await do(desktop.bind(2), RunCommand(command="echo back"))).after.text == "back\n"


async def test_a_reset_gives_the_first_state(desktop: LocalSandbox, machine: Machine) -> None:
    first = await machine.observe(settle=True)
    await do(machine, OpenApp(name="terminal"))
    await do(machine, TypeText(text="touch ~/Desktop/new.txt\n"))
    old = [first_process(desktop).pid, *children(first_process(desktop).pid)]
    await desktop.reset()
    assert not any(alive(pid) for pid in old)
    again = await desktop.bind(2).observe(settle=True)
    assert again.screenshot == first.screenshot


async def test_icons_lie_in_one_order_however_long_a_task_took_to_write_its_files(
    desktop: LocalSandbox, machine: Machine
) -> None:
    pictures = []
    for fence, names in ((1, ("old-draft", "draft")), (2, ("draft", "old-draft"))):
        for name in names:
            await desktop.environment(fence).write(f"Desktop/{name}.txt", "text\n")
            await eventually(partial(second_has_passed, int(time.time())))
        pictures.append((await desktop.bind(fence).observe(settle=True)).screenshot)
        await desktop.reset()
    assert pictures[0] == pictures[1]


async def test_resets_at_once_leave_one_desktop(desktop: LocalSandbox, machine: Machine) -> None:
    task = Task(id="task-1", instruction="Do something.")
    await asyncio.gather(machine.prepare(task), desktop.reset(), desktop.reset(), return_exceptions=True)
    assert await desktop.healthy()
    started = {path.parent for path in desktop.tree.folder.parent.glob("*/display/rfb.sock")}
    assert started == {desktop.tree.folder / "display"}


async def test_an_open_stream_goes_on_over_a_reset(desktop: LocalSandbox) -> None:
    assert desktop.frames is not None
    async with desktop.frames.subscribe(fps=30) as frames:
        first = await asyncio.wait_for(anext(frames), 10)
        await desktop.reset()
        second = await asyncio.wait_for(anext(frames), 20)
        assert second.serial > first.serial


async def test_a_still_picture_costs_nothing(desktop: LocalSandbox, machine: Machine) -> None:
    assert desktop.frames is not None
    async with desktop.frames.subscribe(fps=30) as frames:
        await asyncio.wait_for(anext(frames), 10)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(frames), 1)


async def test_scrolling_moves_text(machine: Machine) -> None:
    await do(machine, OpenApp(name="terminal"))
    full = await do(machine, TypeText(text="seq 200\n"))
    up = await do(machine, Scroll(point=Point(x=640, y=400), direction="up", amount=5))
    assert up.after.screenshot != full.after.screenshot
    down = await do(machine, Scroll(point=Point(x=640, y=400), direction="down", amount=5))
    assert down.after.screenshot == full.after.screenshot


async def test_two_desktops_do_not_mix(host: LocalHost, desktop: LocalSandbox, machine: Machine) -> None:
    other = (await host.create("desktop")).bind(1)
    still = await machine.observe(settle=True)
    await do(other, OpenApp(name="terminal"))
    await do(other, Click(x=640, y=360))
    assert (await machine.observe(settle=True)).screenshot == still.screenshot


async def test_a_still_picture_is_there_at_once_for_whoever_comes(desktop: LocalSandbox) -> None:
    """Neither a viewer who waits for a change nor one who has left keeps another from the present picture."""

    async def first(frames: AsyncIterator[Frame]) -> int:
        async with asyncio.timeout(5):
            return (await anext(frames)).serial

    assert desktop.frames is not None
    await desktop.bind(1).observe(settle=True)
    async with desktop.frames.subscribe(fps=30) as stays:
        await first(stays)
        waits = asyncio.ensure_future(anext(stays))
        async with desktop.frames.subscribe(fps=30) as leaves:
            await first(leaves)
            abandoned = asyncio.ensure_future(anext(leaves))
            await asyncio.sleep(0)
            abandoned.cancel()
            await asyncio.wait({abandoned})
        async with desktop.frames.subscribe(fps=30) as comes:
            await first(comes)
        assert not waits.done()
        await desktop.bind(1).perform("still-picture-change", RightClick(x=900, y=600))
        async with asyncio.timeout(5):
            await waits
