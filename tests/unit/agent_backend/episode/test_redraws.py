"""A program's timer changes the screen after it was shown: what was offered for it is void, and asked for again."""

import asyncio
import itertools
from collections.abc import AsyncIterator

import pytest

from protocol.actions.types import Click, Finish, Press, TypeText
from protocol.messages.events import Act, FinishEpisode, ProposalsWithdrawn, Takeover, TakeoverInput, Undo
from tests.unit.agent_backend.conftest import EpisodeHarness, accept, act
from tests.unit.agent_backend.episode.test_autopilot import ON
from tests.unit.agent_backend.episode.test_crash import Client
from tests.unit.agent_backend.policy.fake_policy import FakePolicy


class TimedHarness(EpisodeHarness):
    """An episode whose every act sets a timer, after which the screen changes."""

    def __init__(self) -> None:
        super().__init__()
        self.timer = self.sandbox.timer = asyncio.Event()

    async def offered_after(self, steps: int) -> None:
        """Wait until there are proposals after so many steps."""
        await self.until(lambda: len(self.runner.state.steps) == steps and bool(self.runner.state.proposals))

    async def redrawn(self) -> None:
        """Let the timer come, and wait until the other screen is taken."""
        step = self.runner.state.steps[-1]
        self.timer.set()
        await self.until(lambda: self.runner.state.observation != step.after)

    @property
    def withdrawn(self) -> list[str]:
        """Why proposals were withdrawn."""
        return [event.reason for event in self.events if isinstance(event, ProposalsWithdrawn)]


@pytest.fixture
async def harness() -> AsyncIterator[TimedHarness]:
    made = TimedHarness()
    yield made
    await made.kill()


async def test_the_screen_is_shown_before_the_timer_and_proposals_are_asked_for_again_after_it(
    harness: TimedHarness,
) -> None:
    await harness.started()
    await harness.send(act(1))
    await harness.offered_after(1)
    first, old = harness.runner.state.steps[0], accept(harness, 2)
    assert first.after is not None
    assert first.after == harness.runner.state.observation
    await harness.redrawn()
    await harness.offered_after(1)
    state = harness.store.state
    assert harness.withdrawn == ["screen_changed"]
    assert state.observation is not None
    assert state.observation.screenshot is not None
    assert state.observation.screenshot.sha256 in harness.store.blobs
    assert harness.policy.frames[1:] == [first.after.screenshot, state.observation.screenshot]
    assert state.steps == (first,), "the step keeps the screen that the policy was asked about first"
    assert await harness.code(old) == "unknown_proposal"
    assert len(harness.sandbox.acts) == 1
    await harness.send(accept(harness, 3))
    await harness.steps(2)
    assert harness.store.state.steps[1].before.screenshot == state.observation.screenshot


async def test_a_question_that_is_out_is_asked_again(harness: TimedHarness) -> None:
    await harness.started()
    harness.policy.gate.clear()
    await harness.send(act(1))
    await harness.until(lambda: len(harness.policy.frames) == 2)
    await harness.redrawn()
    await harness.until(lambda: len(harness.policy.frames) == 3)
    assert harness.withdrawn == [], "nothing was offered yet"
    assert harness.policy.cancelled == 1
    harness.policy.gate.set()
    await harness.offered_after(1)
    observation = harness.runner.state.observation
    assert observation is not None
    assert harness.policy.frames[2] == observation.screenshot


async def test_a_timer_that_changes_nothing_leaves_the_proposals(harness: TimedHarness) -> None:
    harness.sandbox.redrawn_pixels = 0
    await harness.started()
    await harness.send(act(1))
    await harness.offered_after(1)
    offered = harness.runner.state.proposals
    harness.timer.set()
    await harness.until(lambda: harness.sandbox.redraws == 1)
    await harness.send(accept(harness, 2))
    await harness.offered_after(2)
    assert harness.runner.state.steps[1].proposal_id == offered[0].id
    assert harness.withdrawn == []


async def test_an_act_before_the_timer_ends_the_wait(harness: TimedHarness) -> None:
    await harness.started()
    for number in range(1, 4):
        await harness.send(accept(harness, number))
        await harness.offered_after(number)
    assert len(harness.sandbox.acts) == 3
    assert harness.withdrawn == []


async def test_a_takeover_and_an_undo_do_not_wait_for_the_timer(harness: TimedHarness) -> None:
    await harness.started()
    await harness.send(act(1))
    await harness.offered_after(1)
    assert await harness.code(Takeover(command_id="takeover-1", on=True, thought="I do it")) == ""
    key = TakeoverInput(command_id="takeover-2", inputs=(Press(key="a"),))
    assert await harness.code(key) == ""
    assert await harness.code(Takeover(command_id="takeover-3", on=False)) == ""
    await harness.send(act(2, "more"))
    await harness.steps(3)
    assert await harness.code(Undo(command_id="takeover-4")) == ""


@pytest.mark.parametrize("how", ["command", "proposal"])
async def test_a_verdict_waits_for_the_timer(harness: TimedHarness, how: str) -> None:
    harness.policy = harness.current = FakePolicy([(("I click.", Click(x=1, y=1)),), (("Done.", Finish()),)])
    await harness.started()
    await harness.send(accept(harness, 1))
    await harness.offered_after(1)
    before = harness.sandbox.screen.pixels.copy()
    end = FinishEpisode(command_id="finish-1", outcome="success") if how == "command" else accept(harness, 2)
    await harness.send(end)
    await harness.until(lambda: not harness.runner._inbox)
    assert harness.store.state.verdict is None
    harness.timer.set()
    await harness.end()
    assert harness.store.state.verdict is not None
    assert (harness.sandbox.screen.pixels != before).any()


async def test_the_autopilot_waits_for_the_timer(harness: TimedHarness) -> None:
    await harness.started()
    await harness.answer(ON)
    await harness.until(lambda: bool(harness.sandbox.acts))
    assert not harness.store.state.steps
    harness.timer.set()
    await harness.steps(2)
    first, second = harness.store.state.steps[:2]
    assert first.after is not None
    assert first.after.screenshot == second.before.screenshot == harness.policy.frames[1]
    assert harness.withdrawn == []


async def test_the_actions_of_one_reply_wait_for_the_timer_in_between(harness: TimedHarness) -> None:
    both = (TypeText(text="a"), TypeText(text="b"))
    harness.policy = harness.current = FakePolicy([(("I type both.", both),)])
    await harness.started()
    await harness.send(accept(harness, 1))
    await harness.until(lambda: bool(harness.sandbox.acts))
    assert not harness.store.state.steps
    harness.timer.set()
    await harness.steps(2)
    first = harness.store.state.steps[0]
    assert first.after is not None
    assert first.after.screenshot == harness.store.state.steps[1].before.screenshot


@pytest.mark.parametrize("found_out", [False, True], ids=["by the wait", "before"])
async def test_a_machine_that_is_gone_while_its_timer_is_waited_for_ends_the_episode(
    harness: TimedHarness, found_out: bool
) -> None:
    await harness.started()
    await harness.send(act(1))
    await harness.offered_after(1)
    harness.sandbox.crash()
    if found_out:
        harness.runner.lose_machine("its host says so")
        await harness.until(lambda: harness.store.state.status == "failed")
    harness.timer.set()
    await harness.until(lambda: harness.store.state.status == "failed" and harness.runner._settles._rest is None)
    assert (harness.store.state.error == "its host says so") is found_out
    assert len(harness.store.state.steps) == 1


def asked_about_the_present(client: Client) -> bool:
    """Whether there are proposals, and the policy saw the screen of this moment for them."""
    observation = client.store.state.observation
    present = client.sandbox._picture()
    seen = observation is not None and observation.screenshot == present
    return (
        client.sandbox.redraws == 1
        and seen
        and bool(client.store.state.proposals)
        and client.policy.frames[-1] == present
    )


async def test_wherever_the_runner_dies_what_is_offered_is_about_the_screen_after_the_timer() -> None:
    for kill_at in itertools.count():
        client = Client(kill_at)
        client.sandbox.timer = asyncio.Event()
        client.sandbox.timer.set()
        await client.until(lambda client=client: client.store.state.status == "running")  # type: ignore[misc]
        await client.send(Act(command_id="command-1", action=TypeText(text="a"), thought="I type"))
        await client.until(lambda client=client: len(client.store.state.steps) == 1)  # type: ignore[misc]
        await client.until(lambda client=client: asked_about_the_present(client))  # type: ignore[misc]
        (step,) = client.store.state.steps
        assert client.sandbox.acts == [step.action], f"killed at suspension {kill_at}"
        await client.send(FinishEpisode(command_id="command-2", outcome="success"))
        await client.until(lambda client=client: client.task.done())  # type: ignore[misc]
        if not client.killed:
            break
    assert kill_at > 30, "the runner waits often enough for this to mean something"
