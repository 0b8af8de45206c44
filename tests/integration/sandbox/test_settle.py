"""The frame after an act holds what the act did, also where a program takes its time."""

import asyncio
import itertools
from pathlib import Path

import pytest
import simplejpeg

from protocol.actions.types import Click, PressKeys, RightClick, RunCommand, TypeText
from protocol.trajectory.observations import Observation, Transition
from vm_bridge.hosts.local.sandbox import LocalSandbox
from vm_bridge.machine import Machine

PROGRAM = (Path(__file__).parent / "redrawing.py").read_text()
STEP = 4
ACTS = {50: 6, 300: 3, 1500: 1}
numbers = itertools.count()


async def do(machine: Machine, action: Click | PressKeys | RightClick | TypeText | RunCommand) -> Transition:
    return await machine.perform(f"settle-{next(numbers):04}", action)


async def grey(machine: Machine, seen: Observation, x: int, y: int) -> int:
    assert seen.screenshot is not None
    image = simplejpeg.decode_jpeg(await machine.blob(seen.screenshot), colorspace="GRAY")
    return int(image[y, x, 0])


async def open_window(desktop: LocalSandbox, *arguments: str) -> tuple[Machine, Click]:
    """Start the program and give a click on it; its left half lies left of the click."""
    machine = desktop.bind(1)
    environment = desktop.environment(1)
    await environment.write("redrawing.py", PROGRAM)
    await environment.start(["python3", "redrawing.py", *arguments])
    assert await environment.wait_for_window("redrawing")
    await machine.observe(settle=True)
    found = await environment.run(["xwininfo", "-name", "redrawing"])
    place = {
        key.strip(): value.strip() for key, _, value in (line.partition(":") for line in found.output.splitlines())
    }
    x, y = int(place["Absolute upper-left X"]), int(place["Absolute upper-left Y"])
    return machine, Click(x=x + 100, y=y + 150)


@pytest.mark.slow
@pytest.mark.parametrize("at_once", ["0", "1"], ids=["late", "feedback"])
@pytest.mark.parametrize("how", ["loop", "timer", "child"])
async def test_a_late_redraw_is_in_the_frame(desktop: LocalSandbox, how: str, at_once: str) -> None:
    for delay, acts in ACTS.items():
        machine, click = await open_window(desktop, how, str(delay), at_once, "still")
        for count in range(1, acts + 1):
            done = await do(machine, click)
            assert done.after.rest == "rested"
            assert abs(await grey(machine, done.after, click.x, click.y) - STEP * count) <= 1
        await do(machine, RunCommand(command="pkill -f redrawing.py"))


@pytest.mark.slow
async def test_a_late_redraw_may_be_waited_for_after_the_act(desktop: LocalSandbox) -> None:
    machine, click = await open_window(desktop, "loop", "1500", "1", "still")
    done = await machine.perform(f"settle-{next(numbers):04}", click, wait_for_timers=False)
    assert (done.timer_pending, done.after.rest) == (True, "rested")
    assert await grey(machine, done.after, click.x, click.y) <= 1
    assert await grey(machine, done.after, click.x + 150, click.y - 100) == pytest.approx(STEP, abs=1), "its feedback"
    later = await machine.observe(settle=True)
    assert later.rest == "rested"
    assert await grey(machine, later, click.x, click.y) == pytest.approx(STEP, abs=1)

    done = await machine.perform(f"settle-{next(numbers):04}", click, wait_for_timers=False)
    waiting = asyncio.create_task(machine.observe(settle=True))
    await machine.skip_settle()
    assert (await waiting).rest == "hurried"


@pytest.mark.slow
async def test_an_act_that_sets_no_late_timer_leaves_nothing_to_wait_for(desktop: LocalSandbox) -> None:
    machine, click = await open_window(desktop, "loop", "50", "1", "still")
    done = await machine.perform(f"settle-{next(numbers):04}", click, wait_for_timers=False)
    assert (done.timer_pending, done.after.rest) == (False, "rested")
    assert await grey(machine, done.after, click.x, click.y) == pytest.approx(STEP, abs=1)


@pytest.mark.slow
@pytest.mark.parametrize("besides", ["caret", "animation"])
async def test_what_never_stops_does_not_hold_up(desktop: LocalSandbox, besides: str) -> None:
    machine, click = await open_window(desktop, "loop", "0", "0", besides)
    rests = []
    for count in range(1, 11):
        done = await do(machine, click)
        assert abs(await grey(machine, done.after, click.x, click.y) - STEP * count) <= 1
        rests.append(done.after.rest)
    assert set(rests) == {"rested"}
