"""Episodes of a person who reads and decides, with a twin of the machine or without."""

import asyncio
import contextlib
import itertools
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Any

from agent_backend.episode.in_memory_store import InMemoryEpisodeStore
from agent_backend.episode.prepared_uses import PreparedUse
from agent_backend.episode.runner import EpisodeRunner
from agent_backend.episode.twins import TwinLease
from agent_backend.interfaces import EpisodeCommand
from benchmarks.parts.speculation.policies import TimedExpert, TimedPolicy
from protocol.actions.types import CONTROL_KINDS, FINAL_ACTIONS, Click
from protocol.messages.events import Accept, Act, EpisodeState, Event, Rejected
from protocol.trajectory.proposals import Proposal
from protocol.trajectory.steps import drop_undone_steps
from protocol.trajectory.tasks import Task
from vm_bridge.machine import Machine
from vm_bridge.sandbox import Sandbox

WAIT_SECONDS = 120.0
GUESS_SECONDS = 2.0
"""How long a person who reads waits for a guess at most."""
TOKENS = itertools.count(1)
Decide = Callable[[EpisodeState, int], EpisodeCommand | None]
"""What the person does at a decision point, given the episode and the number of the decision; None ends it."""


@dataclass(slots=True)
class Played:
    """What became of an episode: for each accepted first candidate the wait until the next ones (ms) and whether no
    further question was needed, and what is stored of its steps apart from times and ids. Where no further question was
    needed, the policy is asked all the same, apart from the episode: `checked` counts that, `wrong` other answers."""

    waits: list[float] = field(default_factory=list)
    held: list[bool] = field(default_factory=list)
    steps: list[Any] = field(default_factory=list)
    acts: list[float] = field(default_factory=list)
    """How much of each wait the act on the episode's machine took, its settling included (ms)."""
    checked: int = 0
    wrong: int = 0


class Episode:
    """One episode on a machine, with another machine for its twin where there is one."""

    wanted = True

    def __init__(self, task: Task, machine: Sandbox, twin: Sandbox | None, policy: TimedPolicy | TimedExpert) -> None:
        state = EpisodeState(
            id="bench", version=0, status="warming", task=task, pool="bench", created_at=datetime.now(UTC)
        )
        self.policy = policy
        self._changed = asyncio.Event()
        self._rejected: list[Rejected] = []
        self.store = InMemoryEpisodeStore(state, self._hear)
        self._machine, self._twin = machine, twin
        self.machine = machine.bind(next(TOKENS))
        """The machine as the episode has it."""
        self.runner = EpisodeRunner(
            self.store, self._open, lambda: self.policy, self._hear, twins=self if twin else None
        )

    async def _hear(self, event: Event) -> None:
        if isinstance(event, Rejected):
            self._rejected.append(event)
        self._changed.set()

    async def _open(self, state: EpisodeState) -> Machine:
        self.machine = self._machine.bind(next(TOKENS))
        return self.machine

    async def open(self, state: EpisodeState) -> TwinLease:
        assert self._twin is not None
        machine = self._twin.bind(next(TOKENS))
        policy = self.policy
        like = policy.for_twin(machine) if isinstance(policy, TimedExpert) else policy
        return TwinLease(machine, lambda _: like, _nothing)

    async def record_use(self, use: PreparedUse) -> None:
        """Nothing here counts prepared requests."""

    async def _until_ready(self, steps: int, running: "asyncio.Task[None]") -> None:
        """Wait until candidates are offered after so many steps, or the episode has ended."""
        running.add_done_callback(lambda _: self._changed.set())
        async with asyncio.timeout(WAIT_SECONDS):
            while not self._is_ready(steps) and not running.done():
                self._changed.clear()
                await self._changed.wait()
        assert not self._rejected, self._rejected

    async def read_until_guessed(self, steps: int) -> None:
        """Read after so many steps until the policy has been asked ahead, at most `GUESS_SECONDS`."""
        if self._twin is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.policy.questions.asked_about(steps + 1).wait(), GUESS_SECONDS)

    async def play(self, decide: Decide, read: Callable[[int], Awaitable[object] | None]) -> Played:
        """Read (`read`, by the number of the decision; at no time where it is None), decide, until there is nothing to
        do."""
        played = Played()
        running = asyncio.create_task(self.runner.run())
        try:
            for number in itertools.count():
                await self._until_ready(number, running)
                if (reading := read(number)) is not None:
                    await reading
                command = decide(self.runner.state, number) if not running.done() else None
                if command is None:
                    break
                await self._decide(command, number, running, played)
        finally:
            self.runner.stop()
            await asyncio.wait((running,), timeout=WAIT_SECONDS)
        played.steps = [_comparable(step.model_dump()) for step in self.store.state.steps]
        return played

    def _is_ready(self, steps: int) -> bool:
        state = getattr(self.runner, "state", None)
        return state is not None and len(state.steps) == steps and bool(state.proposals)

    async def _decide(
        self, command: EpisodeCommand, number: int, running: "asyncio.Task[None]", played: Played
    ) -> None:
        before, began = len(self.policy.questions), time.monotonic()
        await self.runner.submit(command, self._hear)
        await self._until_ready(number + 1, running)
        first = self._first_of(command)
        if first and not running.done():
            played.waits.append((time.monotonic() - began) * 1000)
            step = self.store.state.steps[-1]
            played.acts.append((step.ended_at - step.started_at).total_seconds() * 1000)
            played.held.append(number + 1 not in self.policy.questions[before:])
            if played.held[-1]:
                played.checked += 1
                played.wrong += not await self._is_own_answer()

    async def _is_own_answer(self) -> bool:
        """Whether the policy says of the episode as it stands what was prepared."""
        state = self.runner.state
        assert state.observation is not None
        answer = await self.policy.answer(state.task, drop_undone_steps(state.steps), state.observation)
        return answer == [(one.thought, one.action) for one in state.proposals]

    def _first_of(self, command: EpisodeCommand) -> bool:
        step = self.store.state.steps[-1] if self.store.state.steps else None
        return isinstance(command, Accept) and step is not None and not isinstance(step.action, FINAL_ACTIONS)


async def _nothing() -> None:
    """These machines are the benchmark's own."""


def _comparable(step: dict[str, Any]) -> dict[str, Any]:
    """A step apart from times and ids."""
    for name in ("command_id", "proposal_id", "acceptable_ids", "wrong_ids", "started_at", "ended_at", "decide_ms"):
        step.pop(name)
    for name in ("before", "after"):
        for when in ("captured_at", "settle_ms"):
            if step[name] is not None:
                step[name].pop(when)
        if step[name] is not None and step[name]["page"] is not None:
            step[name]["page"]["tabs"] = [tab["title"] for tab in step[name]["page"]["tabs"]]
    return step


def first_difference(one: list[Any], other: list[Any]) -> str | None:
    """Where two records of steps differ first, and how; None where they are equal."""
    if len(one) != len(other):
        return f"{len(one)} and {len(other)} steps"
    for number, (step, twin) in enumerate(zip(one, other, strict=True), 1):
        for path, value, counterpart in _leaves(step, twin):
            if value != counterpart:
                return f"step {number}, {path}: {value!r} and {counterpart!r}"
    return None


def _leaves(one: Any, other: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The values of two records side by side, with their places."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for name in one:
            yield from _leaves(one[name], other[name], f"{path}.{name}".lstrip("."))
    else:
        yield path, one, other


def _command_id() -> str:
    """A machine answers a command of an id it knows with what it did then, in an earlier episode too."""
    return f"bench-{next(TOKENS):06}"


def accept(proposal: Proposal, steps: int) -> Accept:
    """The acceptance of a candidate."""
    return Accept(command_id=_command_id(), proposal_id=proposal.id, base_version=steps)


def first_candidate(most: int) -> Decide:
    """A person who accepts the first candidate until it ends the task or asks for a person, at most so many times."""

    def decide(state: EpisodeState, number: int) -> EpisodeCommand | None:
        best = min(state.proposals, key=lambda each: each.rank)
        ends = best.action is None or best.action.kind in CONTROL_KINDS
        return None if ends or number >= most else accept(best, number)

    return decide


def first_or_second(seed: int, most: int) -> Decide:
    """A person who accepts the first candidate, or now and then the second, by a seed, until one ends the task."""
    draw = Random(seed)

    def decide(state: EpisodeState, number: int) -> EpisodeCommand | None:
        ranked = sorted(state.proposals, key=lambda each: each.rank)
        chosen = ranked[1 if draw.random() < 0.25 and len(ranked) > 1 else 0]
        ends = chosen.action is None or chosen.action.kind in CONTROL_KINDS
        return None if ends or number >= most else accept(chosen, number)

    return decide


def anyhow(seed: int, most: int) -> Decide:
    """A person who accepts the first or the second candidate or clicks elsewhere, by a seed."""
    draw = Random(seed)

    def decide(state: EpisodeState, number: int) -> EpisodeCommand | None:
        if number >= most:
            return None
        choice = draw.choice(("first", "first", "second", "own"))
        if choice == "own":
            click = Click(x=draw.randrange(100), y=draw.randrange(100))
            return Act(command_id=_command_id(), action=click, thought="I click elsewhere.")
        return accept(state.proposals[1 if choice == "second" else 0], number)

    return decide
