"""Restores an earlier state of a prepared desktop: replays the actions and compares the result."""

import asyncio
import time

from vm_bridge.drivers.command_log import ReplayPath, StateFingerprint
from vm_bridge.drivers.computer.driver import ComputerDriver
from vm_bridge.errors import CannotRestore
from vm_bridge.image_similarity import MAX_DIFFERENT_SHARE, picture_difference

REPLAY_SETTLE_SECONDS, REPLAY_POLL_SECONDS = 3.0, 0.1
"""Timeout, and polling interval, for a replayed state: the machine may be busier this time."""


async def replay(computer: ComputerDriver, fence: int, replay_path: ReplayPath) -> None:
    """Replay the actions. Raises CannotRestore if the final state differs."""
    patience = REPLAY_SETTLE_SECONDS
    for number, (recorded, state) in enumerate(zip(replay_path.recorded_actions, replay_path.states, strict=True)):
        if state is not None and await _wait_until_matching(computer, fence, state, patience):
            patience = 0.0  # no more waiting before actions: the states may match again at the end
        done = await computer.perform(fence, f"replay-{number:06}", recorded.action, settle=recorded.settle)
        if (None if done.error is None else done.error.code) != recorded.failed:
            raise CannotRestore(f"act {number + 1} ({recorded.action.kind}) went otherwise this time")
    difference = await _wait_until_matching(computer, fence, replay_path.end, REPLAY_SETTLE_SECONDS)
    if difference is not None:
        raise CannotRestore(difference)


async def _wait_until_matching(
    computer: ComputerDriver, fence: int, state: StateFingerprint, patience: float
) -> str | None:
    """The difference from a state once the time is over, or None as soon as there is none."""
    ends = time.monotonic() + patience
    while True:
        difference = _difference(await computer.fingerprint(fence, digest=state.digest is not None), state)
        if difference is None or time.monotonic() >= ends:
            return difference
        await asyncio.sleep(REPLAY_POLL_SECONDS)


def _difference(now: StateFingerprint, state: StateFingerprint) -> str | None:
    if now.picture is not None and state.picture is not None:
        share = picture_difference(now.picture, state.picture)
        if share > MAX_DIFFERENT_SHARE:
            return f"the screen came out differently: {share:.1%} of it"
    if state.digest is not None and now.digest != state.digest:
        return "the files came out differently"
    return None
