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
from tests.contract.conftest import has, tokens
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
pytestmark = pytest.mark.asyncio(loop_scope="module")
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


@pytest.mark.needs("sandbox")
async def test_a_higher_token_ends_a_lower_one(fresh_sandbox: Sandbox, notes: Notes) -> None:
    old, new = fresh_sandbox.bind(next(tokens)), fresh_sandbox.bind(next(tokens))
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


@pytest.mark.needs("sandbox")
async def test_the_token_outlives_a_reset(sandbox: Sandbox) -> None:
    lower, higher = next(tokens), next(tokens)
    await sandbox.bind(higher).observe()
    await sandbox.reset()
    with pytest.raises(StaleLease):
        await sandbox.bind(lower).observe()


@pytest.mark.needs("sandbox")
async def test_a_reset_ends_the_lease_before_it_even_while_that_prepares(sandbox: Sandbox, notes: Notes) -> None:
    old, new = sandbox.bind(next(tokens)), sandbox.bind(next(tokens))
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


@pytest.mark.needs("sandbox")
async def test_a_reset_without_a_lease_before_it_ends_none_to_come(new_sandbox: Sandbox) -> None:
    await new_sandbox.reset()
    await new_sandbox.bind(next(tokens)).observe()
    await new_sandbox.reset()
    await new_sandbox.reset()
    await new_sandbox.bind(next(tokens)).observe()


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


async def test_a_failed_act_is_no_exception(fresh_machine: Machine, notes: Notes) -> None:
    done = await fresh_machine.perform(next(commands), notes.failing)
    assert done.error is not None
    assert done.after.text is None


async def test_a_machine_says_what_it_can(machine: Machine, driver: str) -> None:
    assert ("set_clipboard" in machine.capabilities.kinds) is has("clipboard", driver)
    assert machine.capabilities.snapshots is has("snapshots", driver)


@pytest.mark.needs("clipboard")
async def test_text_crosses_the_clipboard(machine: Machine) -> None:
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


@pytest.mark.lacks("snapshots")
async def test_what_goes_back_to_no_earlier_state_says_so(machine: Machine) -> None:
    with pytest.raises(UnsupportedAction):
        await machine.snapshot()


@pytest.mark.needs("snapshots")
async def test_a_machine_goes_back_to_a_snapshot(machine: Machine, notes: Notes) -> None:
    await machine.prepare(TASK)
    await machine.perform(next(commands), notes.write("one"))
    kept = await machine.snapshot()
    seen = await machine.observe(settle=True)
    await machine.perform(next(commands), notes.write("two"))
    await machine.perform(next(commands), MoveTo(x=500, y=300))
    again = await machine.restore(kept)
    assert kept.acts == 1
    assert again.screenshot == seen.screenshot
    assert await notes.read(machine, next(commands)) == "one"


@pytest.mark.needs("snapshots")
async def test_an_act_names_the_state_before_it(machine: Machine, notes: Notes) -> None:
    await machine.prepare(TASK)
    await machine.perform(next(commands), notes.write("one"))
    command, second = next(commands), notes.write("two")
    done = await machine.perform(command, second, snapshot=True)
    assert done.snapshot is not None
    assert done.snapshot.acts == 1
    assert await machine.perform(command, second, snapshot=True) == done
    await machine.restore(done.snapshot)
    assert await notes.read(machine, next(commands)) == "one"


async def test_an_act_names_no_state_unasked(machine: Machine, notes: Notes) -> None:
    assert (await machine.perform(next(commands), notes.write("one"))).snapshot is None
    if not machine.capabilities.snapshots:
        assert (await machine.perform(next(commands), notes.write("two"), snapshot=True)).snapshot is None


@pytest.mark.needs("snapshots")
async def test_a_snapshot_may_be_returned_to_more_than_once(fresh_machine: Machine, notes: Notes) -> None:
    start = await fresh_machine.snapshot()
    for text in ("one", "two"):
        await fresh_machine.perform(next(commands), notes.write(text))
        await fresh_machine.restore(start)
        assert await notes.read(fresh_machine, next(commands)) is None
        await fresh_machine.restore(start)


@pytest.mark.needs("snapshots")
async def test_a_snapshot_ends_with_the_next_set_up(machine: Machine, notes: Notes) -> None:
    kept = await machine.snapshot()
    await machine.prepare(TASK)
    await machine.perform(next(commands), notes.write("kept"))
    with pytest.raises(CannotRestore):
        await machine.restore(kept)
    assert await notes.read(machine, next(commands)) == "kept"


@pytest.mark.needs("snapshots", "sandbox")
async def test_an_ended_lease_restores_nothing(sandbox: Sandbox, notes: Notes) -> None:
    old, new = sandbox.bind(next(tokens)), sandbox.bind(next(tokens))
    kept = await old.snapshot()
    await new.perform(next(commands), notes.write("new"))
    with pytest.raises(StaleLease):
        await old.restore(kept)
    with pytest.raises(StaleLease):
        await old.snapshot()
    assert await notes.read(new, next(commands)) == "new"


@pytest.mark.needs("sandbox")
async def test_a_destroyed_machine_is_gone(new_sandbox: Sandbox) -> None:
    machine = new_sandbox.bind(next(tokens))
    await new_sandbox.destroy()
    await new_sandbox.destroy()
    assert not await new_sandbox.healthy()
    with pytest.raises(MachineGone):
        await machine.observe()
    with pytest.raises(MachineGone):
        await machine.perform(next(commands), Wait(seconds=0.1))


@pytest.mark.needs("sandbox")
async def test_frames_come_first_at_once_and_then_as_they_change(fresh_sandbox: Sandbox) -> None:
    machine = fresh_sandbox.bind(next(tokens))
    assert fresh_sandbox.frames is not None
    async with fresh_sandbox.frames.subscribe(fps=30) as frames:
        first = await asyncio.wait_for(anext(frames), 10)
        assert len(first.pixels) == first.width * first.height * 4
        waiting = asyncio.ensure_future(anext(frames))
        for action in _changes(machine):
            await machine.perform(next(commands), action)
        second = await asyncio.wait_for(waiting, 10)
        assert second.serial > first.serial
        assert second.captured_at >= first.captured_at


@pytest.mark.needs("sandbox")
async def test_frames_end_with_the_sandbox(new_sandbox: Sandbox) -> None:
    assert new_sandbox.frames is not None
    async with new_sandbox.frames.subscribe(fps=30) as frames:
        await asyncio.wait_for(anext(frames), 10)

        async def rest() -> None:
            async for _ in frames:
                pass

        reading = asyncio.create_task(rest())
        await new_sandbox.destroy()
        await asyncio.wait_for(reading, 10)


def _changes(machine: Machine) -> tuple[Action, ...]:
    """Acts after which the screen of a fresh machine looks otherwise."""
    if machine.capabilities.apps:
        return (OpenApp(name=machine.capabilities.apps[0]),)
    acts: tuple[Action, ...] = (Click(x=640, y=500), TypeText(text="x"), MoveTo(x=60, y=60))
    return tuple(one for one in acts if one.kind in machine.capabilities.kinds)
