"""One episode over fakes: a memory store, a painted machine, a scripted policy, and ears for every event."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime

import pytest

from agent_backend.episode.executor import ExecutorLimits
from agent_backend.episode.in_memory_store import InMemoryEpisodeStore
from agent_backend.episode.limits import RunnerLimits
from agent_backend.episode.proposal_requests import RetryPolicy
from agent_backend.episode.runner import EpisodeRunner
from agent_backend.episode.secret_confirmation import NO_SECRETS, SecretRules
from agent_backend.interfaces import CommandRecord, EpisodeCommand, Intent, Policy
from protocol.actions.types import Action, TypeText
from protocol.blobs import NO_BLOBS, BlobRef
from protocol.messages.events import Accept, Act, DurableEvent, EpisodeState, Event
from protocol.trajectory.observations import MachineSnapshot, Observation, Transition
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task
from tests.unit.agent_backend.policy.fake_policy import FakePolicy
from tests.waiting import eventually
from vm_bridge.errors import BridgeUnavailable, NoMachine, UnknownBlob
from vm_bridge.machine import Machine
from vm_bridge.simulators.fake.machine import FakeMachine
from vm_bridge.simulators.fake.sandbox import FakeSandbox

BOUND = 10.0
"""Seconds a test waits for what must come."""


def new_episode(**fields: object) -> EpisodeState:
    """An episode nobody has touched yet."""
    task = Task(id="t1", instruction="Type hello", suite="fake", name="type", parameters={"text": "hello"})
    first = EpisodeState(id="e1", version=0, status="warming", task=task, pool="practice", created_at=datetime.now(UTC))
    return first.model_copy(update=fields)


class BreakableStore(InMemoryEpisodeStore):
    """A store whose named writers raise instead of writing."""

    broken: dict[str, Exception] = {}

    async def append_step(
        self,
        step: Step,
        next_intent: Intent | None = None,
        *,
        done: Intent | None = None,
        blobs: Mapping[BlobRef, bytes] = NO_BLOBS,
    ) -> DurableEvent:
        self._break("append_step" if next_intent is None else "append_step_and_next")
        return await super().append_step(step, next_intent, done=done, blobs=blobs)

    async def change(self, event_fields: dict[str, object], command: CommandRecord | None = None) -> DurableEvent:
        self._break("change")
        return await super().change(event_fields, command)

    def _break(self, name: str) -> None:
        if name in self.broken:
            raise self.broken[name]


class UnreliableMachine(FakeMachine):
    """A machine behind a bridge that loses the answers to the next `lost` acts and `lost_restores` ways back, and the
    next `forgotten` pictures."""

    lost = 0
    forgotten = 0
    lost_restores = 0

    async def blob(self, ref: BlobRef) -> bytes:
        if UnreliableMachine.forgotten:
            UnreliableMachine.forgotten -= 1
            raise UnknownBlob(f"blob {ref.sha256} is no longer kept")
        return await super().blob(ref)

    async def restore(self, snapshot: MachineSnapshot) -> Observation:
        observation = await super().restore(snapshot)
        if UnreliableMachine.lost_restores:
            UnreliableMachine.lost_restores -= 1
            raise BridgeUnavailable("no answer in time")
        return observation

    async def perform(
        self,
        command_id: str,
        action: Action,
        *,
        settle: bool = True,
        snapshot: bool = False,
        expected: BlobRef | None = None,
        wait_for_timers: bool = True,
    ) -> Transition:
        transition = await super().perform(
            command_id, action, settle=settle, snapshot=snapshot, expected=expected, wait_for_timers=wait_for_timers
        )
        if UnreliableMachine.lost:
            UnreliableMachine.lost -= 1
            raise BridgeUnavailable("no answer in time")
        return transition


class EpisodeHarness:
    """A runner and all around it, the way the web app wires them; it can be killed and started again."""

    def __init__(self) -> None:
        self.sandbox = FakeSandbox("desktop", width=320, height=240)
        self.policy = FakePolicy()
        self.current: Policy | None = self.policy
        self.store = BreakableStore(new_episode(), self.hear)
        self.events: list[Event] = []
        self.limits = RunnerLimits(
            machine_retry_seconds=0.01,
            executor=ExecutorLimits(gesture_pause=0.05, hold_silence=60.0, reach=0.5),
            retry_policy=RetryPolicy(first=0.01, longest=0.02, tries=3),
        )
        self.token = 0
        self.no_machine = ""
        """Why no machine can be had; empty when one can."""
        self.secrets: SecretRules = NO_SECRETS
        self._running: asyncio.Task[None] | None = None
        self.runner = self.new_runner()

    def new_runner(self) -> EpisodeRunner:
        return EpisodeRunner(self.store, self._open, lambda: self.current, self.hear, self.limits, self.secrets)

    async def _open(self, state: EpisodeState) -> Machine:
        if self.no_machine:
            raise NoMachine(self.no_machine)
        self.token += 1
        return UnreliableMachine(self.sandbox, self.token)

    async def hear(self, event: Event) -> None:
        self.events.append(event)

    def start(self) -> asyncio.Task[None]:
        self.runner = self.new_runner()
        self._running = asyncio.create_task(self.runner.run())
        return self._running

    async def started(self, until: str = "ready") -> "EpisodeHarness":
        """Start, and wait until the first proposals are there (or what `until` names)."""
        self.start()
        await self.until(lambda: getattr(self.runner, "state", new_episode()).thinking == until)
        return self

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait until something is so."""
        await eventually(true, BOUND)

    async def send(self, *commands: EpisodeCommand) -> None:
        for command in commands:
            await self.runner.submit(command, self.hear)

    async def answer(self, command: EpisodeCommand) -> Event:
        """Send a command and wait for its fate."""
        before = len(self.events)
        await self.send(command)

        def fates() -> list[Event]:
            return [e for e in self.events[before:] if getattr(e, "command_id", None) == command.command_id]

        await self.until(lambda: bool(fates()))
        return fates()[0]

    async def code(self, command: EpisodeCommand) -> str:
        """The code a command is refused with, or "" when it is acknowledged."""
        return getattr(await self.answer(command), "code", "")

    async def steps(self, count: int) -> None:
        await self.until(lambda: len(self.store.state.steps) >= count)

    async def ready(self) -> None:
        await self.until(lambda: self.runner.state.thinking == "ready")

    async def end(self) -> None:
        """Wait for the runner to end by itself."""
        assert self._running is not None
        async with asyncio.timeout(BOUND):
            await self._running

    async def kill(self) -> None:
        """End the runner as a dying process would, at whatever it awaits."""
        if self._running is not None and not self._running.done():
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)


@pytest.fixture
async def harness() -> AsyncIterator[EpisodeHarness]:
    made = EpisodeHarness()
    yield made
    await made.kill()


def act(number: int, text: str = "hello", thought: str = "because") -> Act:
    """An override that types."""
    return Act(command_id=f"command-{number}", action=TypeText(text=text), thought=thought)


def accept(harness: EpisodeHarness, number: int, **fields: object) -> Accept:
    """The acceptance of what is offered first, seen with all steps."""
    first = harness.store.state.proposals[0]
    given = {"proposal_id": first.id, "base_version": len(harness.store.state.steps), **fields}
    return Accept.model_validate({"command_id": f"command-{number}", **given})
