"""A person has the machine: what the policy says late is not done, and what it had begun is done once and told."""

import pytest

from protocol.actions.types import Click, Gesture
from protocol.messages.events import Act, Autopilot
from tests.unit.agent_backend.conftest import EpisodeHarness, accept, act
from tests.unit.agent_backend.episode.test_takeover import DOWN, UP, inputs, takeover


async def test_a_reply_that_comes_in_a_takeover_is_not_offered(harness: EpisodeHarness) -> None:
    harness.policy.gate.clear()
    harness.start()
    await harness.until(lambda: bool(harness.policy.asked))
    await harness.answer(takeover(1, True))
    harness.policy.gate.set()
    await harness.answer(inputs(1, DOWN, UP))
    assert harness.policy.cancelled == 1
    assert harness.store.state.proposals == ()


async def test_after_a_takeover_the_policy_sees_what_the_person_left(harness: EpisodeHarness) -> None:
    await harness.started()
    before = harness.policy.frames[-1]
    await harness.answer(takeover(1, True))
    await harness.answer(inputs(1, DOWN, UP))
    await harness.answer(takeover(2, False, "I draw a line."))
    await harness.ready()
    (step,) = harness.store.state.steps
    assert step.after is not None
    assert harness.policy.frames[-1] == step.after.screenshot != before
    assert harness.policy.asked[-1] == (step,)


async def test_an_accept_that_comes_in_a_takeover_is_refused_and_not_done_later(harness: EpisodeHarness) -> None:
    await harness.started()
    late = accept(harness, 1)
    await harness.answer(takeover(1, True))
    assert await harness.code(late) == "in_takeover"
    await harness.answer(takeover(2, False))
    assert await harness.code(act(2)) == ""
    await harness.steps(1)
    assert [step.command_id for step in harness.store.state.steps] == ["command-2"]


async def test_the_autopilots_act_is_finished_once_and_none_follows_the_takeover(harness: EpisodeHarness) -> None:
    await harness.started()
    harness.sandbox.settle_seconds = 0.2
    await harness.answer(Autopilot(command_id="autopilot-on", on=True))
    await harness.until(lambda: harness.store.state.pending is not None)
    assert await harness.code(takeover(1, True)) == ""
    begun = len(harness.sandbox.acts)
    await harness.answer(inputs(1, DOWN, UP))
    await harness.answer(takeover(2, False, "I draw a line."))
    await harness.ready()
    steps = harness.store.state.steps
    assert [step.decision for step in steps] == [*["auto"] * begun, "takeover"]
    assert all(step.after is not None and step.error is None for step in steps)
    assert all(isinstance(one, Gesture) for one in harness.sandbox.acts[begun:])
    assert not harness.store.state.autopilot


@pytest.mark.parametrize("taken_over", [True, False])
async def test_an_act_whose_outcome_is_unknown_is_not_sent_again(harness: EpisodeHarness, taken_over: bool) -> None:
    await harness.started()
    harness.sandbox.lose_next_result = True
    await harness.send(Act(command_id="command-1", action=Click(x=9, y=9), thought="t"))
    if taken_over:
        await harness.answer(takeover(1, True))
        await harness.answer(takeover(2, False))
    await harness.steps(1)
    await harness.ready()
    (step,) = harness.store.state.steps
    assert (step.after, step.error and step.error.code) == (None, "outcome_unknown")
    assert harness.sandbox.acts == [Click(x=9, y=9)]
    assert harness.policy.asked[-1] == (step,)
