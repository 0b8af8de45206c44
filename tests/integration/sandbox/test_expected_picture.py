"""The wait after an act ends at a picture that was expected, and only there."""

import asyncio

import pytest

from protocol.actions.types import RunCommand
from tests.integration.sandbox.test_settle import do, numbers, open_window
from vm_bridge.hosts.local.sandbox import LocalSandbox

NEVER, SOON = "100000", "1500"
"""How long after a click the window redraws (ms): beyond the longest wait, and within it."""
REDRAW_TIMEOUT_SECONDS = 30.0


@pytest.mark.slow
async def test_an_act_ends_at_the_expected_picture(desktop: LocalSandbox) -> None:
    machine, click = await open_window(desktop, "loop", NEVER, "1", "still")
    feedback = (await do(machine, click)).after
    assert feedback.screenshot is not None
    await do(machine, RunCommand(command="pkill -f redrawing.py"))

    machine, click = await open_window(desktop, "loop", SOON, "1", "still")
    done = await machine.perform(f"settle-{next(numbers):04}", click, expected=feedback.screenshot)
    assert (done.after.screenshot, done.after.rest) == (feedback.screenshot, "rested")
    later = done.after
    async with asyncio.timeout(REDRAW_TIMEOUT_SECONDS):
        while later.screenshot == feedback.screenshot:  # the redraw comes after the act has ended
            later = await machine.observe(settle=True)

    before = later.screenshot
    done = await machine.perform(f"settle-{next(numbers):04}", click, expected=before)
    assert done.before.screenshot == before
    assert done.after.screenshot != before, "a picture that was there before says nothing"
    assert done.after.rest == "rested"
