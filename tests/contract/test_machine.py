"""What every machine keeps, whatever drives it: one suite, every driver."""

import asyncio
import itertools

import pytest

from protocol.actions.types import (
    Action,
    Click,
    DragPath,
    GetClipboard,
    LongPress,
    MouseClick,
    MoveTo,
    OpenApp,
    Point,
    RightClick,
    ScrollBy,
    SetClipboard,
    TypeText,
    Wait,
)
from protocol.blobs import BlobRef
from protocol.trajectory.tasks import Task
from tests.contract.notes import Notes
from tests.integration.cluster.cluster_helpers import placed as placed
from vm_bridge.errors import (
    CannotRestore,
    CommandConflict,
    InvalidAction,
    MachineGone,
    StaleLease,
    UnknownTask,
    UnsupportedAction,
)
from vm_bridge.machine import Machine
from vm_bridge.sandbox import Sandbox

TASK = Task(id="task-1", instruction="Do something.")
BEYOND: tuple[Action, ...] = (
    MouseClick(point=Point(x=200, y=200), keys=("ctrl",)),
    MouseClick(button="right", clicks=2),
    MouseClick(button="back"),
    DragPath(points=(Point(x=200, y=200), Point(x=240, y=230), Point(x=220, y=260)), keys=("shift",)),
    DragPath(points=(Point(x=210, y=210),)),
    ScrollBy(point=Point(x=200, y=200), dx=-20, dy=375),
    ScrollBy(dy=-2, unit="notches", keys=("ctrl",)),
)
commands = (f"command-{number:04}" for number in itertools.count())


async def test_prepare_gives_a_picture_of_the_promised_size(machine: Machine) -> None:
    seen = await machine.prepare(TASK)
    assert (seen.width, seen.height) == (machine.capabilities.width, machine.capabilities.height)
    assert seen.screenshot is not None
    assert BlobRef.of(await machine.blob(seen.screenshot), seen.screenshot.media_type) == seen.screenshot


async def test_the_frame_before_an_act_is_the_one_after_the_last(machine: Machine) -> None:
    await machine.observe(settle=True)
    first = await machine.perform(next(commands), Click(x=300, y=500))
    second = await machine.perform(next(commands), Wait(seconds=0.01))
    assert second.before.screenshot == first.after.screenshot
    assert first.after.rest == "rested"
    assert first.after.settled


async def test_an_act_without_settling_says_so(machine: Machine) -> None:
    done = await machine.perform(next(commands), Wait(seconds=0.01), settle=False)
    assert (done.after.rest, done.after.settled) == ("skipped", False)


async def test_a_resend_gives_the_stored_result(machine: Machine, notes: Notes) -> None:
    command = next(commands)
    first = await machine.perform(command, notes.write("one"))
    await machine.perform(next(commands), notes.write("two"))
    assert await machine.perform(command, notes.write("one")) == first
    assert await notes.read(machine, next(commands)) == "two"


async def test_two_resends_at_once_act_once(machine: Machine, notes: Notes) -> None:
    command = next(commands)
    results = await asyncio.gather(*(machine.perform(command, notes.write("x")) for _ in range(5)))
    assert len({result.started_at for result in results}) == 1


async def test_a_command_id_with_another_body_is_refused(machine: Machine, notes: Notes) -> None:
    command = next(commands)
    await machine.perform(command, notes.write("one"))
    with pytest.raises(CommandConflict):
        await machine.perform(command, notes.write("two"))
    assert await notes.read(machine, next(commands)) == "one"


async def test_a_caller_that_goes_away_leaves_the_act_to_its_resend(machine: Machine, notes: Notes) -> None:
    command, action = next(commands), notes.write("kept")
    caller = asyncio.create_task(machine.perform(command, action))
    await asyncio.sleep(0)
    caller.cancel()
    await asyncio.gather(caller, return_exceptions=True)
    assert (await machine.perform(command, action)).error is None


async def test_a_higher_token_ends_a_lower_one(sandbox: Sandbox, notes: Notes) -> None:
    old, new = sandbox.bind(7), sandbox.bind(8)
    await new.observe()
    with pytest.raises(StaleLease):
        await old.perform(next(commands), notes.write("old"))
    with pytest.raises(StaleLease):
        await old.observe()
    with pytest.raises(StaleLease):
        await old.prepare(TASK)
    with pytest.raises(StaleLease):
        await old.skip_settle()
    assert await notes.read(new, next(commands)) is None


async def test_the_token_outlives_a_reset(sandbox: Sandbox) -> None:
    await sandbox.bind(8).observe()
    await sandbox.reset()
    with pytest.raises(StaleLease):
        await sandbox.bind(7).observe()


async def test_a_reset_ends_the_lease_before_it_even_while_that_prepares(sandbox: Sandbox, notes: Notes) -> None:
    old, new = sandbox.bind(7), sandbox.bind(8)
    await old.perform(next(commands), notes.write("old"))
    _, reset, queued = await asyncio.gather(
        old.prepare(TASK), sandbox.reset(), old.prepare(TASK), return_exceptions=True
    )
    assert reset is None
    assert isinstance(queued, StaleLease)
    with pytest.raises(StaleLease):
        await old.observe()
    assert (await new.prepare(TASK)).rest == "rested"
    assert await notes.read(new, next(commands)) is None


async def test_a_reset_without_a_lease_before_it_ends_none_to_come(sandbox: Sandbox) -> None:
    await sandbox.reset()
    await sandbox.bind(1).observe()
    await sandbox.reset()
    await sandbox.reset()
    await sandbox.bind(2).observe()


async def test_points_off_the_screen_change_nothing(machine: Machine) -> None:
    seen = await machine.observe(settle=True)
    with pytest.raises(InvalidAction):
        await machine.perform(next(commands), Click(x=machine.capabilities.width, y=0))
    assert (await machine.observe()).screenshot == seen.screenshot


async def test_what_it_cannot_do_is_refused(machine: Machine) -> None:
    cannot = LongPress(x=1, y=1) if "right_click" in machine.capabilities.kinds else RightClick(x=1, y=1)
    with pytest.raises(UnsupportedAction):
        await machine.perform(next(commands), cannot)


async def test_clicks_drags_and_scrolls_beyond_the_plain_ones_are_done_or_refused(machine: Machine) -> None:
    for number, action in enumerate(BEYOND):
        if action.kind in machine.capabilities.kinds:
            done = await machine.perform(f"beyond-{number}", action)
            side = isinstance(action, MouseClick) and action.button == "back"
            assert done.error is None or (side and done.error.code == "unsupported_button"), action
        else:
            with pytest.raises(UnsupportedAction):
                await machine.perform(f"beyond-{number}", action)


async def test_a_failed_act_is_no_exception(machine: Machine, notes: Notes) -> None:
    done = await machine.perform(next(commands), notes.failing)
    assert done.error is not None
    assert done.after.text is None


async def test_text_crosses_the_clipboard(machine: Machine) -> None:
    if "set_clipboard" not in machine.capabilities.kinds:
        pytest.skip("has no clipboard")
    await machine.perform(next(commands), SetClipboard(text="żółw 中文\n<tag>"))
    assert (await machine.perform(next(commands), GetClipboard())).after.text == "żółw 中文\n<tag>"


async def test_hurry_without_a_settle_does_nothing(machine: Machine) -> None:
    await machine.skip_settle()
    assert (await machine.perform(next(commands), TypeText(text="a"))).after.rest == "rested"


async def test_prepare_starts_fresh(machine: Machine, notes: Notes) -> None:
    await machine.perform(next(commands), notes.write("left over"))
    await machine.prepare(TASK)
    assert await notes.read(machine, next(commands)) is None


async def test_an_unknown_task_changes_nothing(machine: Machine, notes: Notes) -> None:
    await machine.perform(next(commands), notes.write("kept"))
    with pytest.raises(UnknownTask):
        await machine.prepare(Task(id="task-2", instruction="x", suite="no-such-suite", name="x"))
    assert await notes.read(machine, next(commands)) == "kept"


async def test_without_a_suite_nothing_judges(machine: Machine) -> None:
    await machine.prepare(TASK)
    assert (await machine.evaluate()).success is None


@pytest.fixture
def restorable(machine: Machine) -> Machine:
    if not machine.capabilities.snapshots:
        pytest.skip("goes back to no earlier state")
    return machine


async def test_what_goes_back_to_no_earlier_state_says_so(machine: Machine) -> None:
    if machine.capabilities.snapshots:
        pytest.skip("goes back to earlier states")
    with pytest.raises(UnsupportedAction):
        await machine.snapshot()


async def test_a_machine_goes_back_to_a_snapshot(restorable: Machine, notes: Notes) -> None:
    await restorable.prepare(TASK)
    await restorable.perform(next(commands), notes.write("one"))
    kept = await restorable.snapshot()
    seen = await restorable.observe(settle=True)
    await restorable.perform(next(commands), notes.write("two"))
    await restorable.perform(next(commands), MoveTo(x=500, y=300))
    again = await restorable.restore(kept)
    assert kept.acts == 1
    assert again.screenshot == seen.screenshot
    assert await notes.read(restorable, next(commands)) == "one"


async def test_an_act_names_the_state_before_it(restorable: Machine, notes: Notes) -> None:
    await restorable.prepare(TASK)
    await restorable.perform(next(commands), notes.write("one"))
    command, second = next(commands), notes.write("two")
    done = await restorable.perform(command, second, snapshot=True)
    assert done.snapshot is not None
    assert done.snapshot.acts == 1
    assert await restorable.perform(command, second, snapshot=True) == done
    await restorable.restore(done.snapshot)
    assert await notes.read(restorable, next(commands)) == "one"


async def test_an_act_names_no_state_unasked(machine: Machine, notes: Notes) -> None:
    assert (await machine.perform(next(commands), notes.write("one"))).snapshot is None
    if not machine.capabilities.snapshots:
        assert (await machine.perform(next(commands), notes.write("two"), snapshot=True)).snapshot is None


async def test_a_snapshot_may_be_returned_to_more_than_once(restorable: Machine, notes: Notes) -> None:
    start = await restorable.snapshot()
    for text in ("one", "two"):
        await restorable.perform(next(commands), notes.write(text))
        await restorable.restore(start)
        assert await notes.read(restorable, next(commands)) is None
        await restorable.restore(start)


async def test_a_snapshot_ends_with_the_next_set_up(restorable: Machine, notes: Notes) -> None:
    kept = await restorable.snapshot()
    await restorable.prepare(TASK)
    await restorable.perform(next(commands), notes.write("kept"))
    with pytest.raises(CannotRestore):
        await restorable.restore(kept)
    assert await notes.read(restorable, next(commands)) == "kept"


@pytest.mark.usefixtures("restorable")
async def test_an_ended_lease_restores_nothing(sandbox: Sandbox, notes: Notes) -> None:
    old, new = sandbox.bind(7), sandbox.bind(8)
    kept = await old.snapshot()
    await new.perform(next(commands), notes.write("new"))
    with pytest.raises(StaleLease):
        await old.restore(kept)
    with pytest.raises(StaleLease):
        await old.snapshot()
    assert await notes.read(new, next(commands)) == "new"


async def test_a_destroyed_machine_is_gone(sandbox: Sandbox) -> None:
    machine = sandbox.bind(7)
    await sandbox.destroy()
    await sandbox.destroy()
    assert not await sandbox.healthy()
    with pytest.raises(MachineGone):
        await machine.observe()
    with pytest.raises(MachineGone):
        await machine.perform(next(commands), Wait(seconds=0.1))


async def test_frames_come_first_at_once_and_then_as_they_change(sandbox: Sandbox, machine: Machine) -> None:
    assert sandbox.frames is not None
    async with sandbox.frames.subscribe(fps=30) as frames:
        first = await asyncio.wait_for(anext(frames), 10)
        assert len(first.pixels) == first.width * first.height * 4
        waiting = asyncio.ensure_future(anext(frames))
        for action in _changes(machine):
            await machine.perform(next(commands), action)
        second = await asyncio.wait_for(waiting, 10)
        assert second.serial > first.serial
        assert second.captured_at >= first.captured_at


async def test_frames_end_with_the_sandbox(sandbox: Sandbox) -> None:
    assert sandbox.frames is not None
    async with sandbox.frames.subscribe(fps=30) as frames:
        await asyncio.wait_for(anext(frames), 10)

        async def rest() -> None:
            async for _ in frames:
                pass

        reading = asyncio.create_task(rest())
        await sandbox.destroy()
        await asyncio.wait_for(reading, 10)


def _changes(machine: Machine) -> tuple[Action, ...]:
    """Acts after which the screen of a fresh machine looks otherwise."""
    if machine.capabilities.apps:
        return (OpenApp(name=machine.capabilities.apps[0]),)
    return (Click(x=640, y=500), TypeText(text="x"), MoveTo(x=60, y=60))
