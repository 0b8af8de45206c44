"""Replays the steps of an earlier attempt, so that an episode begins at the state that they led to."""

import asyncio
import time
from datetime import UTC, datetime
from itertools import zip_longest
from uuid import uuid4

from agent_backend.episode.machine_session import ActionResult, MachineSession
from agent_backend.interfaces import EpisodeStore
from protocol.actions.types import MoveTo, NoAction, Point, Scroll, ScrollBy, Zoom, action_points
from protocol.blobs import BlobRef
from protocol.trajectory.observations import Observation
from protocol.trajectory.steps import Step

CLICKS_APART_SECONDS = 0.6
"""Programs treat two clicks at one place that are closer together as a double click (GTK 0.4 s, Windows 0.5 s)."""
CLICK_RADIUS_PIXELS = 8


class BranchNotReproduced(Exception):
    """The replay did not reach the earlier state; the message names the difference."""


async def replay_branch(session: MachineSession, store: EpisodeStore, start: Observation) -> tuple[Step, ...]:
    """Replay the steps of the earlier attempt on a machine that shows the task's start. Returns them with the new
    frames. Every frame must show what it showed in the earlier attempt, and actions that failed must fail in the same
    way.

    No step is stored, so an interrupted replay starts over. Raises BranchNotReproduced and BridgeError.
    """
    replayed: list[Step] = []
    last_observation = start
    clicks = ClickSpacing()
    steps = await store.branch_steps()
    for earlier, following in zip_longest(steps, steps[1:]):
        step_name = f"step {earlier.index + 1}"
        await _check_same_screen(session, store, earlier.before, last_observation, f"the screen before {step_name}")
        expected = _expected_picture(earlier, following)
        await asyncio.sleep(clicks.pause_before(earlier, time.monotonic()))
        step = await _replay_step(session, earlier, last_observation, len(replayed), expected)
        if (step.error and step.error.code) != (earlier.error and earlier.error.code):
            raise BranchNotReproduced(
                f"{step_name}: {step.error.message if step.error else 'what failed then was done now'}"
            )
        if step.after is None or earlier.after is None:
            raise BranchNotReproduced(f"{step_name}: its outcome is unknown")
        await _check_same_screen(session, store, earlier.after, step.after, f"the screen after {step_name}")
        await session.save_pictures(step.before)
        await session.save_pictures(step.after)
        replayed.append(step)
        last_observation = step.after
    if not replayed:
        raise BranchNotReproduced("the earlier episode has no such step any more")
    return tuple(replayed)


class ClickSpacing:
    """Keeps separate clicks separate: replayed actions follow each other faster than those of people and policies."""

    def __init__(self) -> None:
        self._last: tuple[Point, Step, float] | None = None

    def pause_before(self, step: Step, now: float) -> float:
        """Seconds to wait before a step is replayed; `now` is monotonic."""
        presses = not isinstance(step.action, MoveTo | Scroll | ScrollBy | Zoom)
        points = tuple(action_points(step.action)) if presses else ()
        if not points:
            return 0.0
        pause = self._pause(points[0], step, now)
        self._last = points[-1], step, now + pause
        return pause

    def _pause(self, point: Point, step: Step, now: float) -> float:
        if self._last is None:
            return 0.0
        place, earlier, at = self._last
        is_near = max(abs(point.x - place.x), abs(point.y - place.y)) <= CLICK_RADIUS_PIXELS
        was_apart = (step.started_at - earlier.started_at).total_seconds() >= CLICKS_APART_SECONDS
        return max(0.0, at + CLICKS_APART_SECONDS - now) if is_near and was_apart else 0.0


def _expected_picture(earlier: Step, following: Step | None) -> BlobRef | None:
    """The picture at which a replayed action may end: the settled screen of the original. None if a timer changed the
    screen before the next action, because the replay must wait for that timer. None also after the last action, whose
    screen people and the policy see."""
    if following is None or earlier.after is None or following.before.screenshot != earlier.after.screenshot:
        return None
    return earlier.after.screenshot


async def _replay_step(
    session: MachineSession, earlier: Step, last_observation: Observation, index: int, expected: BlobRef | None
) -> Step:
    """Replay one action under a new id, so that the machine does not return its stored result."""
    command_id = f"again-{uuid4().hex}"
    if isinstance(earlier.action, NoAction):  # the original did nothing either, for the same reason
        now = datetime.now(UTC)
        result = ActionResult(last_observation, last_observation, now, now, earlier.error)
    else:
        result = await session.act(command_id, earlier.action, last_observation, expected=expected)
    return Step(
        index=index,
        command_id=command_id,
        actor=earlier.actor,
        decision="again",
        thought=earlier.thought,
        action=earlier.action,
        before=result.before,
        after=result.after,
        error=result.error,
        started_at=result.started_at,
        ended_at=result.ended_at,
    )


async def _check_same_screen(
    session: MachineSession, store: EpisodeStore, then: Observation, now: Observation, what: str
) -> None:
    """Compare pictures, or texts if there is no picture. Raises BranchNotReproduced if they differ."""
    if then.screenshot is None or now.screenshot is None:
        if (then.screenshot, then.text) != (now.screenshot, now.text):
            raise BranchNotReproduced(f"{what} differs")
        return
    if then.screenshot == now.screenshot:
        return
    # Imported here: picture decoding costs every web process memory and is seldom needed.
    from vm_bridge.image_similarity import MAX_DIFFERENT_SHARE, picture_difference

    try:
        before = await store.branch_blob(then.screenshot)
    except KeyError:
        raise BranchNotReproduced(f"{what} is not kept any more") from None
    share = await asyncio.to_thread(picture_difference, before, await session.read_picture(now.screenshot))
    if share > MAX_DIFFERENT_SHARE:
        raise BranchNotReproduced(f"{what} is another: {share:.1%} of it differs")
