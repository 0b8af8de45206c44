"""A runner killed at every point where it waits: what it did is done once, and what it recorded is whole."""

import asyncio
import contextlib
import itertools
import types
from collections.abc import Callable, Coroutine, Generator
from typing import Any

import pytest

from agent_backend.episode.executor import ExecutorLimits
from agent_backend.episode.in_memory_store import InMemoryEpisodeStore
from agent_backend.episode.limits import RunnerLimits
from agent_backend.episode.runner import EpisodeRunner
from agent_backend.episode.takeover import build_gesture
from agent_backend.interfaces import EpisodeCommand
from protocol.actions.types import Click, Finish, Press, Release, TypeText
from protocol.blobs import BlobRef
from protocol.messages.events import (
    Accept,
    Acknowledged,
    Act,
    EpisodeState,
    Event,
    FinishEpisode,
    MarkProposal,
    Pause,
    Rejected,
    Resample,
)
from tests.unit.agent_backend.conftest import BOUND, EpisodeHarness, UnreliableMachine, new_episode
from tests.unit.agent_backend.policy.fake_policy import FakePolicy
from vm_bridge.simulators.fake.sandbox import FakeSandbox


class Killed(Exception):
    """The process died here."""


@types.coroutine
def killed_at(run: Coroutine[Any, Any, None], last: int) -> Generator[Any, Any, None]:
    """Await `run`, but raise Killed inside it at its `last`-th suspension."""
    thrown: BaseException | None = None
    for number in itertools.count():
        try:
            waiting = run.throw(thrown) if thrown else run.send(None)
        except StopIteration:
            return
        thrown = Killed() if number == last else None
        if thrown is None:
            try:
                yield waiting
            except asyncio.CancelledError as error:
                thrown = error


class Suspending:
    """Calls of another object, each with a suspension before and one after: places to die between and around."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        if not asyncio.iscoroutinefunction(value):
            return value

        async def call(*given: Any, **named: Any) -> Any:
            await asyncio.sleep(0)
            result = await value(*given, **named)
            await asyncio.sleep(0)
            return result

        return call


class ConnectionEnded(Exception):
    """The connection to the store ended; what was asked of it may have been done."""


class EndingConnection(Suspending):
    """A store whose connection ends at one call, before or after it is done."""

    def __init__(self, inner: Any, last: int, *, done: bool) -> None:
        super().__init__(inner)
        self._calls = 0
        self._last, self._done = last, done

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        if not asyncio.iscoroutinefunction(value):
            return value

        async def call(*given: Any, **named: Any) -> Any:
            number, self._calls = self._calls, self._calls + 1
            if number != self._last:
                return await value(*given, **named)
            if self._done:
                await value(*given, **named)
            raise ConnectionEnded

        return call

    @property
    def ended(self) -> bool:
        """Whether the call at which it ends has come."""
        return self._calls > self._last


class Client:
    """A browser: sends each command until it is acknowledged, whatever happens to the runner in between.

    Args:
        kill_at: The runner dies at this suspension; None for never.
        ends: What the runner's store is seen through.
    """

    def __init__(self, kill_at: int | None = None, ends: Callable[[Any], Any] | None = None) -> None:
        self.sandbox = FakeSandbox("desktop", width=320, height=240)
        self.store = InMemoryEpisodeStore(new_episode())
        self.policy = FakePolicy()
        self.seen_store = ends(self.store) if ends else Suspending(self.store)
        self.kill_at = kill_at
        self.killed = kill_at is None
        self.token = 0
        self.changed = asyncio.Event()
        self.fates: dict[str, Event] = {}
        self.start()

    def start(self) -> None:
        self.runner = EpisodeRunner(
            self.seen_store,
            self.open,
            lambda: self.policy,
            self.hear,
            RunnerLimits(executor=ExecutorLimits(reach=0.5)),
        )
        run = self.runner.run()
        self.task = asyncio.ensure_future(self.run(run) if self.killed else self.die(run, self.kill_at or 0))

    async def run(self, run: Coroutine[Any, Any, None]) -> None:
        with contextlib.suppress(ConnectionEnded):
            await run

    async def die(self, run: Coroutine[Any, Any, None], kill_at: int) -> None:
        try:
            await killed_at(run, kill_at)
        except Killed:
            self.killed = True

    async def open(self, state: EpisodeState) -> Any:
        self.token += 1
        return Suspending(self.sandbox.bind(self.token))

    async def hear(self, event: Event) -> None:
        if isinstance(event, Acknowledged | Rejected) and event.command_id is not None:
            self.fates[event.command_id] = event
        self.changed.set()

    async def until(
        self, true: Callable[[], bool], again: Callable[[], Coroutine[Any, Any, None]] | None = None
    ) -> None:
        """Wait until something is so; when the runner dies meanwhile, start another and do `again`."""
        async with asyncio.timeout(BOUND):
            while not true():
                if self.task.done():
                    self.task.result()
                    if self.store.state.status in ("finished", "left"):
                        return
                    self.start()
                    if again:
                        await again()
                self.changed.clear()
                waits = [self.task, asyncio.ensure_future(self.changed.wait())]
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED, timeout=0.01)
                waits[1].cancel()

    async def send(self, command: EpisodeCommand) -> None:
        async def submit() -> None:
            self.fates.pop(command.command_id, None)
            await self.runner.submit(command, self.hear)

        def taken() -> bool:
            fate = self.fates.get(command.command_id)
            assert not isinstance(fate, Rejected) or fate.code == "not_running", fate
            return isinstance(fate, Acknowledged)

        await submit()
        await self.until(taken, submit)

    async def offered(self) -> None:
        await self.until(lambda: bool(self.store.state.proposals))


async def work(client: Client) -> None:
    """A short episode with one of everything."""
    await client.until(lambda: client.store.state.status == "running")
    await client.send(Act(command_id="command-1", action=Press(key="shift"), thought="I hold it"))
    await client.send(Act(command_id="command-2", action=TypeText(text="lo"), thought="I type"))
    await client.until(lambda: len(client.store.state.steps) == 2)
    await client.offered()
    first = client.store.state.proposals[0]
    await client.send(MarkProposal(command_id="command-3", proposal_id=first.id, mark="acceptable"))
    await client.send(Accept(command_id="command-4", proposal_id=first.id, base_version=2))
    await client.until(lambda: len(client.store.state.steps) == 3)
    await client.send(Pause(command_id="command-5", on=True))
    await client.send(Pause(command_id="command-6", on=False))
    await client.send(Resample(command_id="command-7"))
    await client.send(FinishEpisode(command_id="command-8", outcome="success"))
    await client.until(lambda: client.store.state.status == "finished" and client.task.done())


async def check_effects(client: Client, where: str) -> None:
    """Everything was done once, and is stored whole; a page that asks again is told of each command."""
    state = client.store.state
    commands = [await client.store.find_command(f"command-{number}") for number in range(1, 9)]
    assert None not in commands, where
    assert [s.command_id for s in state.steps] == ["command-1", "command-2", "command-4"], where
    released = build_gesture((Release(key="shift"),))
    assert [*(s.action for s in state.steps), released] == client.sandbox.acts, where
    assert [s.error for s in state.steps] == [None, None, None], where
    assert [s.index for s in state.steps] == [0, 1, 2], where
    assert state.steps[2].acceptable_ids == (state.steps[2].proposal_id,), where
    assert all(shot.sha256 in client.store.blobs for shot in screenshots(state)), where
    assert (state.status, state.pending, state.outcome) == ("finished", None, "success"), where
    assert state.verdict is not None, where


async def test_every_effect_happens_once_wherever_the_runner_dies() -> None:
    for kill_at in itertools.count():
        client = Client(kill_at)
        await work(client)
        await check_effects(client, f"killed at suspension {kill_at}")
        if not client.killed:
            break
    assert kill_at > 50, "the runner waits often enough for this to mean something"


@pytest.mark.parametrize("done", [False, True], ids=["not done", "done"])
async def test_every_effect_happens_once_whichever_call_the_connection_to_the_store_ends_at(done: bool) -> None:
    for last in itertools.count():
        client = Client(ends=lambda store, last=last: EndingConnection(store, last, done=done))  # type: ignore[misc]
        await work(client)
        await check_effects(client, f"ended at call {last}")
        if not client.seen_store.ended:
            break
    assert last > 20, "the store is called often enough for this to mean something"


def screenshots(state: EpisodeState) -> list[BlobRef]:
    seen = [look for step in state.steps for look in (step.before, step.after) if look is not None]
    return [look.screenshot for look in seen if look.screenshot is not None]


async def test_a_store_that_fails_after_the_act_ends_the_runner_and_the_resend_does_not_act_again(
    harness: EpisodeHarness,
) -> None:
    await harness.started()
    harness.store.broken = {"append_step": RuntimeError("disk full")}
    act = Act(command_id="command-1", action=TypeText(text="once"), thought="t")
    await harness.send(act)
    with pytest.raises(RuntimeError, match="disk full"):
        await harness.end()
    assert harness.sandbox.typed == "once"
    assert harness.store.state.pending is not None
    harness.store.broken = {}
    await harness.started()
    assert await harness.code(act) == ""
    assert harness.sandbox.typed == "once"
    assert [step.command_id for step in harness.store.state.steps] == ["command-1"]


async def test_an_unreachable_bridge_is_tried_again_with_the_same_command(harness: EpisodeHarness) -> None:
    await harness.started()
    UnreliableMachine.lost = 1
    await harness.send(Act(command_id="command-1", action=TypeText(text="once"), thought="t"))
    await harness.steps(1)
    assert harness.store.state.steps[0].error is None
    assert harness.sandbox.typed == "once"


async def test_an_act_whose_pictures_a_bridge_has_lost_does_not_lose_the_machine(harness: EpisodeHarness) -> None:
    await harness.started()
    UnreliableMachine.forgotten = 1
    await harness.send(Act(command_id="command-1", action=TypeText(text="once"), thought="t"))
    await harness.steps(1)
    step = harness.store.state.steps[0]
    assert (step.after, step.error and step.error.code) == (None, "outcome_unknown")
    await harness.send(Act(command_id="command-2", action=TypeText(text=", twice"), thought="t"))
    await harness.steps(2)
    assert harness.store.state.status == "running"
    assert harness.store.state.steps[1].error is None
    assert harness.sandbox.typed == "once, twice"


async def test_a_machine_that_is_gone_after_a_crash_leaves_an_honest_step(harness: EpisodeHarness) -> None:
    await harness.started()
    harness.sandbox.settle_seconds = 30.0
    await harness.send(Act(command_id="command-1", action=Click(x=1, y=1), thought="t"))
    await harness.until(lambda: harness.store.state.pending is not None)
    await harness.kill()
    harness.no_machine = "its host is down"
    harness.start()
    await harness.until(lambda: harness.store.state.status == "failed")
    step = harness.store.state.steps[0]
    assert (step.after, step.error and step.error.code) == (None, "outcome_unknown")
    assert harness.store.state.error == "its host is down"
    assert harness.store.state.pending is None


async def test_a_finish_that_a_crash_cut_off_is_completed(harness: EpisodeHarness) -> None:
    harness.policy = harness.current = FakePolicy([(("done", Finish(answer="7")),)])
    await harness.started()
    first = harness.store.state.proposals[0]
    harness.store.broken = {"change": RuntimeError("disk full")}
    await harness.send(Accept(command_id="command-1", proposal_id=first.id, base_version=0))
    with pytest.raises(RuntimeError, match="disk full"):
        await harness.end()
    harness.store.broken = {}
    harness.start()
    await harness.end()
    assert (harness.store.state.status, harness.store.state.answer) == ("finished", "7")
    assert len(harness.store.state.steps) == 1


async def test_offers_survive_a_restart(harness: EpisodeHarness) -> None:
    await harness.started()
    offered = harness.store.state.proposals
    await harness.kill()
    await harness.started()
    assert harness.store.state.proposals == offered
    assert len(harness.policy.asked) == 1


async def test_a_screen_that_changed_meanwhile_is_looked_at_again(harness: EpisodeHarness) -> None:
    await harness.started()
    before, offered = harness.store.state.observation, harness.store.state.proposals
    await harness.kill()
    harness.sandbox.screen.pixels[:100, :100] = 255
    await harness.started()
    after = harness.store.state.observation
    assert after is not None
    assert after != before
    assert after.screenshot is not None
    assert after.screenshot.sha256 in harness.store.blobs
    assert len(harness.policy.asked) == 2, "what was offered for another screen is void"
    assert harness.store.state.proposals
    assert not {one.id for one in harness.store.state.proposals} & {one.id for one in offered}
