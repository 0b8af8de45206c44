"""A second machine of an episode that follows the first one act by act, and may go one act ahead of it."""

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
"""The parameter that marks a task whose acts change something outside of its machine."""
MAX_REPLAYED_STEPS = 40
"""Most steps that a twin does again in one go (steps)."""
MAX_TWIN_PICTURES = 8
TWIN_TIMEOUT_SECONDS = 10.0
"""How long an unreachable bridge is tried for a twin (seconds)."""


@dataclass(frozen=True, slots=True)
class TwinLease:
    """A machine leased as a twin.

    Attributes:
        machine: The machine.
        policy_for: Returns the policy that proposes for the twin, given the episode's policy.
        release: Gives the machine up. Never raises BridgeError.
    """

    machine: Machine
    policy_for: Callable[[Policy], Policy]
    release: Callable[[], Awaitable[None]]


class TwinSource(Protocol):
    """Where an episode gets its twins."""

    @property
    def wanted(self) -> bool:
        """Whether the episode may have one."""
        ...

    async def open(self, state: EpisodeState) -> TwinLease | None:
        """Lease a twin; None where there is no room for one, or none is wanted. Raises BridgeError."""
        ...

    async def record_use(self, use: PreparedUse) -> None:
        """Store what a prepared request cost and what became of it, in place of what was stored under its id."""
        ...


class TwinDiverged(Exception):
    """The twin shows something else than the episode's machine, or cannot follow it; the message says why."""


def may_speculate(task: Task) -> bool:
    """Whether acts of a task stay inside of its machine, so that doing them twice changes nothing elsewhere."""
    return not task.network and task.parameters.get(REACHES_OUTSIDE) is not True


def can_be_guessed(action: Action) -> bool:
    """Whether an action may be done ahead on a twin: it stays inside, and does something."""
    return action.kind not in CONTROL_KINDS and not isinstance(action, CallTool | NoAction)


def shows_same(first: Observation | None, second: Observation | None) -> bool:
    """Whether two machines show the same: picture, text and page. Times, and the ids a browser gives its pages, are not
    compared."""
    return first is not None and second is not None and _contents(first) == _contents(second)


def reads_same(first: Observation | None, second: Observation | None) -> bool:
    """Whether a policy is told the same of two observations: ids of pages are told where there are several."""
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
    """What a machine showed before the first step and after each: the frame of the step, and the one that the next step
    found, which a program's timer may have changed."""
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
    """A later picture, with what the act gave out."""
    return later.model_copy(update={"text": after.text, "attachment": after.attachment})


class Twin:
    """Follows an episode's machine. Its calls come one after the other."""

    def __init__(self, lease: TwinLease, store: EpisodeStore) -> None:
        self.lease = lease
        self.pictures = PictureCache(store, max_entries=MAX_TWIN_PICTURES)
        self._session = MachineSession(lease.machine, self.pictures, within=TWIN_TIMEOUT_SECONDS)
        self._done: list[Action] = []
        """What it has done since its task was prepared."""
        self._shown: list[Observation] = []
        """What it showed at first, and after each act."""
        self._agreed = 0
        """How many of these are known to be what the episode's machine showed."""
        self._way_back: MachineSnapshot | None = None
        """To before its last act."""

    async def follow(self, state: EpisodeState, steps: tuple[Step, ...]) -> None:
        """Come to where the episode's machine stands after these steps.

        Raises TwinDiverged and BridgeError: then it is of no use any more.
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
        """Do an action ahead of the episode's machine. Raises TwinDiverged where its outcome is unknown."""
        return await self._do(action)

    async def _is_on_the_way(self, past: tuple[Step, ...]) -> bool:
        """Whether it has done nothing that the episode has not, or could take its last act back."""
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
        """Compare what both machines showed, as far as that was not done before; `now` is what the episode's machine
        shows. Raises TwinDiverged."""
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
        """Give the machine up."""
        await self._session.close()
        await self.lease.release()
