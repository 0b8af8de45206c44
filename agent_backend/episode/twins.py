"""Twins: a second machine of an episode that repeats each action of the first, and may be one action ahead."""

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from agent_backend.episode.machine_session import ActionResult, MachineSession, PictureCache
from agent_backend.episode.prepared_uses import PreparedUse
from agent_backend.interfaces import EpisodeStore, Policy
from protocol.actions.types import CONTROL_KINDS, Action, CallTool, NoAction
from protocol.messages.events import EpisodeState
from protocol.trajectory.observations import MachineSnapshot, Observation
from protocol.trajectory.steps import Step, drop_undone_steps
from protocol.trajectory.tasks import Task
from vm_bridge.errors import BridgeError, MachineGone
from vm_bridge.machine import Machine

REACHES_OUTSIDE = "reaches_outside"
"""The parameter that marks a task whose actions change something outside its machine."""
MAX_REPLAYED_STEPS = 40
"""Maximum steps that a twin replays at a time."""
MAX_TWIN_PICTURES = 8
TWIN_TIMEOUT_SECONDS = 10.0
"""How long an unreachable bridge is retried for a twin (seconds)."""


@dataclass(frozen=True, slots=True)
class TwinLease:
    """A machine leased as a twin.

    Attributes:
        machine: The machine.
        policy_for: Returns the policy that proposes for the twin, given the episode's policy.
        release: Releases the machine. Never raises BridgeError.
    """

    machine: Machine
    policy_for: Callable[[Policy], Policy]
    release: Callable[[], Awaitable[None]]


class TwinSource(Protocol):
    """Provides an episode's twins."""

    @property
    def wanted(self) -> bool:
        """Whether the episode may have one."""
        ...

    async def open(self, state: EpisodeState) -> TwinLease | None:
        """Lease a twin; None if there is no room for one, or none is wanted. Raises BridgeError."""
        ...

    async def record_use(self, use: PreparedUse) -> None:
        """Store the cost and the fate of a prepared request, in place of the earlier entry with its id."""
        ...


class TwinDiverged(Exception):
    """The twin differs from the episode's machine, or cannot follow it; the message says why."""


def may_speculate(task: Task) -> bool:
    """Whether the actions of a task stay inside its machine, so that doing them twice changes nothing elsewhere."""
    return not task.network and task.parameters.get(REACHES_OUTSIDE) is not True


def can_be_guessed(action: Action) -> bool:
    """Whether an action may be done ahead on a twin: it stays inside the machine, and has an effect."""
    return action.kind not in CONTROL_KINDS and not isinstance(action, CallTool | NoAction)


def shows_same(first: Observation | None, second: Observation | None) -> bool:
    """Whether two machines show the same: picture, text and page. Times and a browser's page ids are not compared."""
    return first is not None and second is not None and _contents(first) == _contents(second)


def reads_same(first: Observation | None, second: Observation | None) -> bool:
    """Whether a policy's prompt is the same for two observations: it contains page ids if there are several pages."""
    return shows_same(first, second) and _told_pages(first) == _told_pages(second)


def _told_pages(observation: Observation | None) -> tuple[str, ...]:
    tabs = observation.page.tabs if observation is not None and observation.page is not None else ()
    return tuple(tab.id for tab in tabs) if len(tabs) > 1 else ()


def _contents(observation: Observation) -> Observation:
    page = observation.page
    if page is not None:
        tabs = tuple(tab.model_copy(update={"id": ""}) for tab in page.tabs)
        page = page.model_copy(update={"time_ms": 0.0, "pace": 0.0, "tabs": tabs})
    when = {"captured_at": None, "settle_ms": 0.0, "settled": True, "rest": "rested"}
    return observation.model_copy(update={**when, "page": page})


def _shown_after(past: tuple[Step, ...], now: Observation | None) -> list[tuple[Observation | None, ...]]:
    """What a machine showed before the first step and after each step: the frame of the step, and the frame before the
    next step, which a program's timer may have changed."""
    if not past:
        return []
    found = (*(step.before for step in past[1:]), now)
    return [
        (past[0].before,),
        *(
            (step.after, _with_text_of(step.after, later) if step.after and later else None)
            for step, later in zip(past, found, strict=True)
        ),
    ]


def _with_text_of(after: Observation, later: Observation) -> Observation:
    """A later picture, with the text output of the action."""
    return later.model_copy(update={"text": after.text, "attachment": after.attachment})


class Twin:
    """Follows an episode's machine. Calls must not overlap."""

    def __init__(self, lease: TwinLease, store: EpisodeStore) -> None:
        self.lease = lease
        self.pictures = PictureCache(store, max_entries=MAX_TWIN_PICTURES)
        self._session = MachineSession(lease.machine, self.pictures, within=TWIN_TIMEOUT_SECONDS)
        self._done: list[Action] = []
        """The actions it has done since its task was prepared."""
        self._shown: list[Observation] = []
        """What it showed at first, and after each action."""
        self._agreed = 0
        """How many of these are known to match the episode's machine."""
        self._way_back: MachineSnapshot | None = None
        """The snapshot from before its last action."""

    async def follow(self, state: EpisodeState, steps: tuple[Step, ...]) -> None:
        """Catch up with the episode's machine after these steps.

        Raises TwinDiverged and BridgeError; the twin is then unusable.
        """
        past = drop_undone_steps(steps)
        if not await self._is_on_the_way(past):
            await self._start_over(state.task, past)
        self._compare(past, state.observation)
        for step in past[len(self._done) :]:
            await self._repeat(step)
            self._compare(past, state.observation)
        if not shows_same(self._shown[-1], state.observation):
            raise TwinDiverged("it shows something else than the machine does now")

    async def guess(self, action: Action) -> ActionResult:
        """Do an action ahead of the episode's machine. Raises TwinDiverged if its outcome is unknown."""
        return await self._do(action)

    async def _is_on_the_way(self, past: tuple[Step, ...]) -> bool:
        """Whether its actions are a prefix of the episode's, if necessary after undoing the last one."""
        if not self._shown:
            return False
        actions = [step.action for step in past]
        if self._done == actions[: len(self._done)]:
            return True
        if self._way_back is None or self._done[:-1] != actions[: len(self._done) - 1]:
            return False
        way_back, self._way_back = self._way_back, None
        try:
            shown = await self._session.restore(way_back)
        except BridgeError:
            return False
        self._done.pop()
        self._shown[-2:] = [_with_text_of(self._shown[-2], shown)]
        self._agreed = min(self._agreed, len(self._done))
        return True

    async def _start_over(self, task: Task, past: tuple[Step, ...]) -> None:
        if len(past) > MAX_REPLAYED_STEPS:
            raise TwinDiverged("there are too many steps to do again")
        self._done, self._agreed, self._way_back = [], 0, None
        self._shown = [await self._session.prepare(task)]

    def _compare(self, past: tuple[Step, ...], now: Observation | None) -> None:
        """Compare what both machines showed since the last comparison; `now` is the current frame of the episode's
        machine. Raises TwinDiverged."""
        there = _shown_after(past, now)
        for number in range(self._agreed, min(len(self._shown), len(there))):
            if not any(shows_same(self._shown[number], shown) for shown in there[number]):
                raise TwinDiverged(f"it shows something else after {number} steps")
            self._agreed = number + 1

    async def _repeat(self, step: Step) -> None:
        if isinstance(step.action, CallTool) or step.after is None:
            raise TwinDiverged(f"step {step.index + 1} cannot be done again")
        if isinstance(step.action, NoAction):
            self._done.append(step.action)
            self._shown.append(self._shown[-1])
            return
        await self._do(step.action)

    async def _do(self, action: Action) -> ActionResult:
        result = await self._session.act(f"twin-{uuid.uuid4().hex}", action, self._shown[-1], snapshot=True)
        if result.machine_lost:
            raise MachineGone(result.machine_lost)
        if result.after is None:
            raise TwinDiverged(result.error.message if result.error else "its outcome is unknown")
        self._done.append(action)
        self._shown.append(result.after)
        self._way_back = result.snapshot
        return result

    async def close(self) -> None:
        """Release the machine."""
        await self._session.close()
        await self.lease.release()
