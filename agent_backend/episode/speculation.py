"""Executes the first candidate ahead of time on a twin of the machine, so that the next proposals are ready when it is
accepted."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from agent_backend.episode.machine_session import ActionResult, build_step
from agent_backend.episode.twins import (
    Twin,
    TwinDiverged,
    TwinSource,
    can_be_guessed,
    may_speculate,
    reads_same,
)
from agent_backend.interfaces import EpisodeStore, Intent, Policy
from protocol.actions.types import Gesture, RunCode, RunCommand, Wait
from protocol.blobs import BlobRef
from protocol.messages.events import EpisodeState
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import Proposal
from protocol.trajectory.steps import Step, drop_undone_steps
from vm_bridge.errors import BridgeError

logger = logging.getLogger(__name__)

MAX_TWINS = 3
"""Most twins that an episode uses one after the other. A twin is replaced after it was released for a claim, or after
it diverged, for example because a screen was captured between two redraws."""
CLOSE_SECONDS = 5.0
LASTING_ACTIONS = (Wait, Gesture, RunCommand, RunCode)
"""Actions whose effect is not complete when the screen shows it."""


@dataclass(frozen=True, slots=True)
class Guess:
    """The episode as it would be after its first candidate: its steps, its screen, and the policy that sees it."""

    steps: tuple[Step, ...]
    observation: Observation
    policy: Policy
    """The episode's policy."""
    twin_policy: Policy
    """The policy to ask: the episode's own, or its counterpart for the twin."""
    twin: Twin


class Speculator:
    """Runs the twin of one episode in the background. Nothing waits for it, and it stores nothing.

    Args:
        on_guess: Called with each guess, to request proposals for it.
    """

    def __init__(self, store: EpisodeStore, twins: TwinSource, on_guess: Callable[[Guess], None]) -> None:
        self._store = store
        self._twins = twins
        self._on_guess = on_guess
        self._goal: tuple[EpisodeState, Policy] | None = None
        self._wakeup = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._twin: Twin | None = None
        self._left = MAX_TWINS
        self._given_up_after = -1
        """The number of steps at which a twin was last released: the next twin is leased after a later step."""

    def may_follow(self, state: EpisodeState) -> bool:
        """Whether a twin may execute the actions of this episode."""
        return self._twins.wanted and self._left > 0 and may_speculate(state.task)

    def follow(self, state: EpisodeState, policy: Policy) -> None:
        """Catch up with the episode, then execute its first candidate if there is one. Never blocks."""
        if state.autopilot or not self.may_follow(state):
            return
        self._goal = (state, policy)
        self._wakeup.set()
        if self._task is None:
            self._task = asyncio.create_task(self._run())

    def hold(self) -> None:
        """Pause until the next `follow`, and request nothing more about the last guess."""
        self._goal = None

    async def close(self) -> None:
        """Release the twin."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,), timeout=CLOSE_SECONDS)
        await self._drop()

    async def _run(self) -> None:
        while self._left > 0:
            await self._wakeup.wait()
            self._wakeup.clear()
            try:
                await self._reach_goal()
            except (TwinDiverged, BridgeError) as error:
                logger.info("a twin was dropped: %s", error)
                self._left -= 1
                self._given_up_after = len(self._goal[0].steps) if self._goal is not None else -1
                await self._drop()
            except Exception:
                logger.exception("a twin failed")
                self._left = 0
                await self._drop()

    async def _reach_goal(self) -> None:
        goal = self._goal
        if goal is None:
            return
        state, policy = goal
        if self._twin is None and len(state.steps) == self._given_up_after:
            return
        if self._twin is None:
            lease = await self._twins.open(state)
            if lease is None:
                return
            self._twin = Twin(lease, self._store)
        await self._twin.follow(state, state.steps)
        if not state.proposals:
            return
        best = min(state.proposals, key=lambda proposal: proposal.rank)
        if self._goal is not goal or best.action is None or best.further_actions or not can_be_guessed(best.action):
            return
        result = await self._twin.guess(best.action)
        if self._goal is goal and result.after is not None:
            steps = (*drop_undone_steps(state.steps), _guessed_step(state, best, result))
            self._on_guess(Guess(steps, result.after, policy, self._twin.lease.policy_for(policy), self._twin))

    async def _drop(self) -> None:
        twin, self._twin = self._twin, None
        if twin is not None:
            with contextlib.suppress(BridgeError):
                await twin.close()


def _guessed_step(state: EpisodeState, best: Proposal, result: ActionResult) -> Step:
    """The step that accepting a candidate would create in the guessed state."""
    assert best.action is not None
    intent = Intent(
        command_id="guess",
        index=len(state.steps),
        actor="human",
        decision="accept",
        proposal_id=best.id,
        thought=best.thought,
        action=best.action,
        started_at=datetime.now(UTC),
    )
    return build_step(intent, result, state.proposals, state.policy)


def picture_after(guess: Guess, intent: Intent) -> BlobRef | None:
    """What the screen probably shows after an action: the twin's screen if the guess did the same action. None for an
    action that runs for some time and must not be cut short."""
    step = guess.steps[-1]
    same = (step.index, step.proposal_id, step.action) == (intent.index, intent.proposal_id, intent.action)
    return guess.observation.screenshot if same and not isinstance(intent.action, LASTING_ACTIONS) else None


def matches_guess(guess: Guess, steps: tuple[Step, ...], observation: Observation) -> bool:
    """Whether the episode matches the guess in everything that the policy's request contains."""
    if len(steps) != len(guess.steps) or not reads_same(observation, guess.observation):
        return False
    earlier, guessed = guess.steps[:-1], guess.steps[-1]
    if any(_key(one) != _key(two) for one, two in zip(earlier, steps, strict=False)):
        return False
    return _is_same_step(steps[-1], guessed)


def _key(step: Step) -> tuple[str, str]:
    """The key of an earlier step. It includes the thought, which may have been written since the guess."""
    return step.command_id, step.thought


def _is_same_step(step: Step, guessed: Step) -> bool:
    if not (reads_same(step.before, guessed.before) and reads_same(step.after, guessed.after)):
        return False
    names = ("index", "actor", "decision", "proposal_id", "thought", "action", "batch", "not_done", "provider_calls")
    return all(getattr(step, name) == getattr(guessed, name) for name in (*names, "error"))
