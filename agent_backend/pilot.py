"""Who works an episode when nobody does: starts the autopilot, takes its finish, gives up where it cannot go on."""

import asyncio
import itertools
from dataclasses import replace
from typing import Literal

from agent_backend.errors import CommandRefused, PolicyError, PolicyUnavailable
from agent_backend.limits import Limits
from agent_backend.memory_store import MemoryStore
from agent_backend.offers import CurrentPolicy
from agent_backend.opening import OpenMachine
from agent_backend.ports import EpisodeCommand
from agent_backend.refusals import check_steering, lapse_of, lapses, no_room, page_of
from agent_backend.runner import EpisodeRunner
from vocabulary.actions import ENDS
from vocabulary.messages import (
    Accept,
    Acknowledged,
    Autopilot,
    EpisodeState,
    Event,
    FinishEpisode,
    LeaveEpisode,
    Rejected,
    Resample,
    Thinking,
)

PAGE_DONE, TIME_OVER = "the page has ended by itself", "the time of the page's task is over"
RESAMPLES = 3
"""How often in a row a server may refuse to answer."""
LAPSES = 3
"""How often in a row it may say what is no action; each is a step that did nothing, and the policy reads why."""


async def fly(start: EpisodeState, open_machine: OpenMachine, policy: CurrentPolicy, limits: Limits) -> MemoryStore:
    """Run one episode to its end without a person. Returns its store; a lost machine leaves it `left` with an error.

    Where nobody is there to take the wheel back, a reply that is no action is a step that did nothing. Raises
    PolicyUnavailable when the policy's server stays away for longer than `limits` have patience: that says nothing of
    the policy.
    """
    stirred = asyncio.Event()
    pilot = Pilot()

    async def hear(event: Event) -> None:
        if isinstance(event, Acknowledged | Rejected):
            pilot.waits_for_fate = False
            pilot.refusals = pilot.refusals + 1 if isinstance(event, Rejected) else 0
        stirred.set()

    store = MemoryStore(start, hear)
    runner = EpisodeRunner(store, open_machine, policy, hear, replace(limits, lapses=LAPSES))
    running = asyncio.create_task(runner.run())
    running.add_done_callback(lambda _: stirred.set())
    try:
        while not running.done():
            stirred.clear()
            command = pilot.next(store.state, getattr(runner, "state", start).thinking, runner.failure)
            if command is None and isinstance(runner.failure, PolicyUnavailable) and runner.given_up:
                raise runner.failure
            if command is not None:
                await runner.submit(command, hear)
            await stirred.wait()
        await running
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    return store


class Pilot:
    """Decides wherever the policy has given the wheel back; one command at a time."""

    def __init__(self) -> None:
        self.waits_for_fate = False
        """Whether a command was sent whose fate is not known yet."""
        self.refusals = 0
        """How many of its commands in a row were refused."""
        self._numbers = itertools.count(1)
        self._vain = 0
        self._steps = 0

    def next(
        self, state: EpisodeState, thinking: Thinking, failure: PolicyError | None = None
    ) -> EpisodeCommand | None:
        """What to send now; None while the episode goes on by itself. `thinking` is the runner's word on it, `failure`
        why the policy was silent."""
        at_rest = state.status == "running" and state.pending is None and not state.autopilot
        given_back = at_rest and thinking in ("ready", "failed", "off")
        if self.waits_for_fate or not (given_back or state.status == "failed"):
            return None
        if len(state.steps) > self._steps:
            self._steps, self._vain = len(state.steps), 0
        if thinking == "failed" and isinstance(failure, PolicyUnavailable) and not _is_over(state):
            return None
        self.waits_for_fate = True
        return self._decide(state, thinking, f"pilot-{next(self._numbers):06d}")

    def _decide(self, state: EpisodeState, thinking: Thinking, command_id: str) -> EpisodeCommand:
        if state.status == "failed":
            return LeaveEpisode(command_id=command_id, how="release", reason=state.error)
        page = page_of(state)
        if page is not None and page.verifier_error is not None:
            return LeaveEpisode(command_id=command_id, how="broken", reason=page.verifier_error)
        if page is not None and page.over:
            outcome: Literal["success", "failure"] = "success" if page.success else "failure"
            reason = PAGE_DONE if page.done else TIME_OVER
            return FinishEpisode(command_id=command_id, outcome=outcome, reason=reason)
        if thinking == "off" or self.refusals > RESAMPLES:
            reason = "there is no policy" if thinking == "off" else "what it said was refused"
            return FinishEpisode(command_id=command_id, outcome="failure", reason=reason)
        if thinking == "failed" or not state.proposals:
            return self._again(command_id, "the policy stays silent")
        best = min(state.proposals, key=lambda proposal: proposal.rank)
        if isinstance(best.action, ENDS):
            return Accept(command_id=command_id, proposal_id=best.id, base_version=len(state.steps))
        if no_room(state):
            return FinishEpisode(command_id=command_id, outcome="failure", reason="out of steps")
        try:
            check_steering(state, best)
        except CommandRefused as error:
            if lapses(state) >= LAPSES or lapse_of(state, best) is None:
                return FinishEpisode(command_id=command_id, outcome="failure", reason=str(error))
        return Autopilot(command_id=command_id, on=True)

    def _again(self, command_id: str, why: str) -> EpisodeCommand:
        self._vain += 1
        if self._vain > RESAMPLES:
            return FinishEpisode(command_id=command_id, outcome="failure", reason=why)
        return Resample(command_id=command_id)


def _is_over(state: EpisodeState) -> bool:
    """Whether the attempt ends here, whatever the policy would say."""
    page = page_of(state)
    return state.status == "failed" or (page is not None and (page.over or page.verifier_error is not None))
