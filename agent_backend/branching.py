"""Doing the steps of an earlier attempt again, so that an episode begins at the state they led to."""

import asyncio
from datetime import UTC, datetime
from uuid import uuid4

from agent_backend.deeds import Deed
from agent_backend.hand import Hand
from agent_backend.ports import EpisodeStore
from vocabulary.actions import NoAction
from vocabulary.observations import Observation
from vocabulary.steps import Step


class Missed(Exception):
    """The earlier state was not come by; the message says what came out differently."""


async def repeated(hand: Hand, store: EpisodeStore, start: Observation) -> tuple[Step, ...]:
    """The steps of the earlier attempt, done again on a machine that shows the task's start, each with the frames of
    now. Every frame must show what it showed then, and acts that failed must fail alike.

    No step is stored: where this is broken off, it begins anew. Raises Missed and BridgeError.
    """
    done: list[Step] = []
    seen = start
    for earlier in await store.branch_steps():
        place = f"step {earlier.index + 1}"
        await _alike(hand, store, earlier.before, seen, f"the screen before {place}")
        step = await _again(hand, earlier, seen, len(done))
        if (step.error and step.error.code) != (earlier.error and earlier.error.code):
            raise Missed(f"{place}: {step.error.message if step.error else 'what failed then was done now'}")
        if step.after is None or earlier.after is None:
            raise Missed(f"{place}: nobody knows what came of it")
        await _alike(hand, store, earlier.after, step.after, f"the screen after {place}")
        await hand.keep(step.before)
        await hand.keep(step.after)
        done.append(step)
        seen = step.after
    if not done:
        raise Missed("the earlier episode has no such step any more")
    return tuple(done)


async def _again(hand: Hand, earlier: Step, seen: Observation, index: int) -> Step:
    """One act done anew; its id is new as well, or a machine would answer from memory."""
    command_id = f"again-{uuid4().hex}"
    if isinstance(earlier.action, NoAction):  # nothing was done, for the same reason
        now = datetime.now(UTC)
        deed = Deed(seen, seen, now, now, earlier.error)
    else:
        deed = await hand.act(command_id, earlier.action, seen)
    return Step(
        index=index,
        command_id=command_id,
        actor=earlier.actor,
        decision="again",
        thought=earlier.thought,
        action=earlier.action,
        before=deed.before,
        after=deed.after,
        error=deed.error,
        started_at=deed.started_at,
        ended_at=deed.ended_at,
    )


async def _alike(hand: Hand, store: EpisodeStore, then: Observation, now: Observation, what: str) -> None:
    """Raises Missed where two looks show another thing; where there is no picture, their text is compared."""
    if then.screenshot is None or now.screenshot is None:
        if (then.screenshot, then.text) != (now.screenshot, now.text):
            raise Missed(f"{what} says something else")
        return
    if then.screenshot == now.screenshot:
        return
    # Loaded here: decoding pictures is a weight on every web process, and seldom needed.
    from vm_bridge.image_similarity import MAX_DIFFERENT_SHARE, picture_difference

    try:
        before = await store.branch_blob(then.screenshot)
    except KeyError:
        raise Missed(f"{what} is not kept any more") from None
    share = await asyncio.to_thread(picture_difference, before, await hand.picture(now.screenshot))
    if share > MAX_DIFFERENT_SHARE:
        raise Missed(f"{what} is another: {share:.1%} of it differs")
