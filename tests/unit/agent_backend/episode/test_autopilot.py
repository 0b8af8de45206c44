"""The policy acts by itself until somebody, or something, stops it."""

import pytest

from agent_backend.errors import PolicyUnavailable
from protocol.actions.types import CallUser, Click, Finish, LongPress, TypeText
from protocol.messages.events import Act, Autopilot, EpisodeChanged, Pause, StepAdded, Takeover
from tests.unit.agent_backend.conftest import EpisodeHarness, new_episode
from tests.unit.agent_backend.policy.fake_policy import Answer, FakePolicy

ON = Autopilot(command_id="autopilot-on", on=True)


async def off(harness: EpisodeHarness) -> None:
    await harness.until(lambda: any(isinstance(e, EpisodeChanged) and e.autopilot is False for e in harness.events))


async def test_it_acts_until_the_step_limit(harness: EpisodeHarness) -> None:
    harness.store.state = new_episode(task=harness.store.state.task.model_copy(update={"max_steps": 4}))
    await harness.started()
    await harness.answer(ON)
    await off(harness)
    steps = harness.store.state.steps
    assert [(step.decision, step.actor) for step in steps] == [("auto", "policy")] * 4
    assert [step.action for step in steps] == harness.sandbox.acts
    assert harness.store.state.status == "running"


async def test_it_takes_the_first_rank(harness: EpisodeHarness) -> None:
    harness.policy = harness.current = FakePolicy([(("best", Click(x=1, y=1)), ("next", Click(x=2, y=2)))])
    await harness.started()
    await harness.answer(ON)
    await harness.steps(1)
    assert harness.store.state.steps[0].action == Click(x=1, y=1)


@pytest.mark.parametrize(
    "answer",
    [
        (("cannot be read", None),),
        (("done", Finish()),),
        (("help", CallUser()),),
        (("too far", Click(x=5000, y=1)),),
        (("a phone's", LongPress(x=1, y=1)),),
    ],
)
async def test_it_gives_the_wheel_back(harness: EpisodeHarness, answer: Answer) -> None:
    harness.policy = harness.current = FakePolicy([(("go", Click(x=1, y=1)),), answer])
    await harness.started()
    await harness.answer(ON)
    await off(harness)
    assert len(harness.store.state.steps) == 1
    assert harness.store.state.status == "running"
    assert len(harness.store.state.proposals) == 1, "the person sees what it stopped at"


@pytest.mark.parametrize(
    "command",
    [
        Autopilot(command_id="stop-command", on=False),
        Act(command_id="stop-command", action=TypeText(text="mine"), thought="I know better"),
        Pause(command_id="stop-command", on=True),
        Takeover(command_id="stop-command", on=True),
    ],
)
async def test_one_command_stops_it(harness: EpisodeHarness, command: Autopilot | Act | Pause | Takeover) -> None:
    harness.store.state = new_episode(task=harness.store.state.task.model_copy(update={"max_steps": 500}))
    await harness.started()
    await harness.answer(ON)
    await harness.steps(2)
    assert await harness.code(command) == ""
    await off(harness)
    turned_off = next(n for n, e in enumerate(harness.events) if isinstance(e, EpisodeChanged) and e.autopilot is False)
    later = [e.step.decision for e in harness.events[turned_off:] if isinstance(e, StepAdded)]
    assert "auto" not in later


async def test_it_stops_when_the_model_stays_silent(harness: EpisodeHarness) -> None:
    await harness.started()
    harness.policy.broken = PolicyUnavailable("nobody answers")
    await harness.answer(ON)
    await off(harness)
    assert len(harness.store.state.steps) == 1


async def test_after_a_crash_nobody_steers(harness: EpisodeHarness) -> None:
    await harness.started()
    harness.policy.gate.clear()
    await harness.answer(ON)
    await harness.steps(1)
    await harness.kill()
    harness.policy.gate.set()
    await harness.started()
    assert not harness.store.state.autopilot
    assert len(harness.store.state.steps) == 1
