"""The policy acts by itself until somebody, or something, stops it."""

import pytest

from agent_backend.errors import PolicyUnavailable
from agent_backend.policy.fake import Answer, FakePolicy
from tests.unit.agent_backend.conftest import Desk, warming
from vocabulary.actions import CallUser, Click, Finish, LongPress, TypeText
from vocabulary.messages import Act, Autopilot, EpisodeChanged, Pause, StepAdded, Takeover

ON = Autopilot(command_id="autopilot-on", on=True)


async def off(desk: Desk) -> None:
    await desk.until(lambda: any(isinstance(e, EpisodeChanged) and e.autopilot is False for e in desk.events))


async def test_it_acts_until_the_step_limit(desk: Desk) -> None:
    desk.store.state = warming(task=desk.store.state.task.model_copy(update={"max_steps": 4}))
    await desk.started()
    await desk.answer(ON)
    await off(desk)
    steps = desk.store.state.steps
    assert [(step.decision, step.actor) for step in steps] == [("auto", "policy")] * 4
    assert [step.action for step in steps] == desk.sandbox.acts
    assert desk.store.state.status == "running"


async def test_it_takes_the_first_rank(desk: Desk) -> None:
    desk.policy = desk.current = FakePolicy([(("best", Click(x=1, y=1)), ("next", Click(x=2, y=2)))])
    await desk.started()
    await desk.answer(ON)
    await desk.steps(1)
    assert desk.store.state.steps[0].action == Click(x=1, y=1)


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
async def test_it_gives_the_wheel_back(desk: Desk, answer: Answer) -> None:
    desk.policy = desk.current = FakePolicy([(("go", Click(x=1, y=1)),), answer])
    await desk.started()
    await desk.answer(ON)
    await off(desk)
    assert len(desk.store.state.steps) == 1
    assert desk.store.state.status == "running"
    assert len(desk.store.state.proposals) == 1, "the person sees what it stopped at"


@pytest.mark.parametrize(
    "command",
    [
        Autopilot(command_id="stop-command", on=False),
        Act(command_id="stop-command", action=TypeText(text="mine"), thought="I know better"),
        Pause(command_id="stop-command", on=True),
        Takeover(command_id="stop-command", on=True),
    ],
)
async def test_one_command_stops_it(desk: Desk, command: Autopilot | Act | Pause | Takeover) -> None:
    desk.store.state = warming(task=desk.store.state.task.model_copy(update={"max_steps": 500}))
    await desk.started()
    await desk.answer(ON)
    await desk.steps(2)
    assert await desk.code(command) == ""
    await off(desk)
    turned_off = next(n for n, e in enumerate(desk.events) if isinstance(e, EpisodeChanged) and e.autopilot is False)
    later = [e.step.decision for e in desk.events[turned_off:] if isinstance(e, StepAdded)]
    assert "auto" not in later


async def test_it_stops_when_the_model_stays_silent(desk: Desk) -> None:
    await desk.started()
    desk.policy.broken = PolicyUnavailable("nobody answers")
    await desk.answer(ON)
    await off(desk)
    assert len(desk.store.state.steps) == 1


async def test_after_a_crash_nobody_steers(desk: Desk) -> None:
    await desk.started()
    desk.policy.gate.clear()
    await desk.answer(ON)
    await desk.steps(1)
    await desk.kill()
    desk.policy.gate.set()
    await desk.started()
    assert not desk.store.state.autopilot
    assert len(desk.store.state.steps) == 1
