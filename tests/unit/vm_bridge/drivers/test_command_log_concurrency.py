"""Every command once."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest

from protocol.actions.types import PressBack, PressHome
from protocol.trajectory.observations import Observation, Transition
from vm_bridge.drivers.command_log import CommandLog
from vm_bridge.errors import BridgeError, CommandConflict, MachineGone, OutcomeUnknown

NOW = datetime.now(UTC)
SEEN = Observation(screenshot=None, width=0, height=0, captured_at=NOW, settled=True, rest="rested", settle_ms=0)
DONE = Transition(before=SEEN, after=SEEN, started_at=NOW, ended_at=NOW)
Act = Callable[[], Awaitable[Transition]]


class CountingAction:
    """Counts how often it was done."""

    def __init__(self, *failures: BridgeError) -> None:
        self.count, self._failures = 0, list(failures)

    async def __call__(self) -> Transition:
        self.count += 1
        await asyncio.sleep(0)
        if self._failures:
            raise self._failures.pop(0)
        return DONE


async def once(command_log: CommandLog, act: Act, *, settle: bool = True) -> Transition:
    return await command_log.once("command-1", PressHome(), settle=settle, act=act)


async def test_a_resend_is_given_the_result() -> None:
    command_log, counting_action = CommandLog(), CountingAction()
    assert await asyncio.gather(*(once(command_log, counting_action) for _ in range(3))) == [DONE] * 3
    assert await once(command_log, counting_action) == DONE
    assert counting_action.count == 1


async def test_another_action_under_the_same_id_is_refused() -> None:
    command_log, counting_action = CommandLog(), CountingAction()
    await once(command_log, counting_action)
    with pytest.raises(CommandConflict):
        await command_log.once("command-1", PressBack(), settle=True, act=counting_action)
    with pytest.raises(CommandConflict):
        await once(command_log, counting_action, settle=False)
    assert counting_action.count == 1


async def test_what_changed_nothing_may_be_sent_again() -> None:
    command_log, counting_action = CommandLog(), CountingAction(MachineGone("not yet there"))
    with pytest.raises(MachineGone):
        await once(command_log, counting_action)
    assert await once(command_log, counting_action) == DONE


async def test_what_may_have_happened_stays_unknown() -> None:
    command_log, counting_action = CommandLog(), CountingAction(OutcomeUnknown("perhaps"))
    for _ in range(2):
        with pytest.raises(OutcomeUnknown):
            await once(command_log, counting_action)
    assert counting_action.count == 1
