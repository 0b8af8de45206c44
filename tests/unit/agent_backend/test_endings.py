"""How an episode ends: finished, left, lost; and what goes on without its end."""

import pytest

from agent_backend.errors import EpisodeFenced
from agent_backend.opening import MACHINES
from agent_backend.policy.fake import FakePolicy
from tests.unit.agent_backend.conftest import Desk, accept, act, warming
from vm_bridge.simulators.fake.sandbox import FakeSandbox
from vocabulary.actions import CallUser, Click, Finish, Infeasible
from vocabulary.messages import (
    Act,
    CallForHelp,
    FinishEpisode,
    LeaveEpisode,
    Pause,
)


async def test_finishing_keeps_both_judgements(desk: Desk) -> None:
    await desk.started()
    await desk.send(act(1, "wrong text"))
    await desk.steps(1)
    finish = FinishEpisode(command_id="command-2", outcome="success", answer="42", reason="looks right")
    assert await desk.code(finish) == ""
    await desk.end()
    state = desk.store.state
    assert (state.status, state.outcome, state.answer) == ("finished", "success", "42")
    assert state.verdict is not None
    assert state.verdict.success is False
    assert state.finished_at is not None
    assert desk.store.notes["command-2"] == "looks right"


async def test_accepting_a_finish_is_a_step_and_the_end(desk: Desk) -> None:
    desk.policy = desk.current = FakePolicy([(("All done.", Finish(answer="7")),)])
    await desk.started()
    assert await desk.code(accept(desk, 1)) == ""
    await desk.end()
    state = desk.store.state
    assert (state.status, state.outcome, state.answer) == ("finished", "success", "7")
    assert state.steps[-1].action == Finish(answer="7")
    assert state.steps[-1].before == state.steps[-1].after
    assert desk.sandbox.acts == []


async def test_accepting_a_call_for_the_user_asks_for_help(desk: Desk) -> None:
    desk.policy = desk.current = FakePolicy([(("I need a password.", CallUser(message="password?")),)])
    await desk.started()
    await desk.send(accept(desk, 1))
    await desk.until(lambda: desk.store.state.help_requested)
    assert desk.store.state.status == "running"


async def test_accepting_that_it_is_infeasible_ends_it_so(desk: Desk) -> None:
    asked = desk.store.state.task.model_copy(update={"name": "answer"})
    desk.store.state = warming(task=asked)
    desk.policy = desk.current = FakePolicy([(("No such file.", Infeasible(reason="no file")),)])
    await desk.started()
    assert await desk.code(accept(desk, 1)) == ""
    await desk.end()
    state = desk.store.state
    assert (state.status, state.outcome, state.answer) == ("finished", "infeasible", "")
    assert state.steps[-1].action == Infeasible(reason="no file")
    assert desk.sandbox.acts == []
    assert not state.help_requested
    assert state.verdict is not None
    assert state.verdict.reason == "got 'FAIL'", "the verifier is told in OSWorld's word"


async def test_infeasible_is_an_outcome(desk: Desk) -> None:
    await desk.started()
    await desk.send(FinishEpisode(command_id="command-1", outcome="infeasible", reason="no such file"))
    await desk.end()
    assert desk.store.state.outcome == "infeasible"


@pytest.mark.parametrize(("how", "outcome"), [("skip", "skipped"), ("broken", "broken"), ("release", None)])
async def test_leaving(desk: Desk, how: str, outcome: str | None) -> None:
    await desk.started()
    leave = LeaveEpisode.model_validate({"command_id": "command-1", "how": how, "reason": "tea"})
    assert await desk.code(leave) == ""
    await desk.end()
    assert (desk.store.state.status, desk.store.state.outcome) == ("left", outcome)
    assert desk.store.notes["command-1"] == "tea"


async def test_help_is_asked_for_and_work_goes_on(desk: Desk) -> None:
    await desk.started()
    assert await desk.code(CallForHelp(command_id="command-1", message="stuck")) == ""
    assert desk.store.state.help_requested
    assert desk.store.notes["command-1"] == "stuck"
    assert await desk.code(act(2)) == ""


async def test_pausing_stops_thinking_and_acting(desk: Desk) -> None:
    desk.policy.gate.clear()
    await desk.started("streaming")
    assert await desk.code(Pause(command_id="command-1", on=True)) == ""
    assert desk.store.state.status == "paused"
    assert await desk.code(act(2)) == "not_running"
    assert desk.policy.cancelled == 1
    desk.policy.gate.set()
    assert await desk.code(Pause(command_id="command-3", on=False)) == ""
    await desk.ready()


async def test_one_can_leave_while_the_machine_warms(desk: Desk) -> None:
    desk.sandbox.settle_seconds = 30.0
    desk.start()
    assert await desk.code(act(1)) == "not_running"
    assert await desk.code(LeaveEpisode(command_id="command-2", how="skip")) == ""
    await desk.end()
    assert desk.store.state.status == "left"


async def test_where_no_machine_is_free_one_waits_and_is_told_why(desk: Desk) -> None:
    desk.no_machine = "all desktops are taken"
    desk.start()
    await desk.until(lambda: desk.store.state.error == "all desktops are taken")
    assert desk.store.state.status == "warming"
    desk.no_machine = ""
    await desk.ready()
    assert (desk.store.state.status, desk.store.state.error) == ("running", "")


async def test_a_task_nobody_knows_fails_the_episode(desk: Desk) -> None:
    desk.store.state = warming(task=desk.store.state.task.model_copy(update={"name": "unheard-of"}))
    desk.start()
    await desk.until(lambda: desk.store.state.status == "failed")
    assert "unheard-of" in desk.store.state.error
    assert await desk.code(act(1)) == "machine_gone"
    assert await desk.code(LeaveEpisode(command_id="command-2", how="broken")) == ""
    await desk.end()


async def test_who_else_writes_is_followed(desk: Desk) -> None:
    await desk.started()
    await desk.store.change({"help_requested": True})
    assert await desk.code(act(1)) == ""
    await desk.steps(1)
    await desk.ready()
    assert desk.runner.state == desk.store.state


async def test_a_dying_machine_keeps_every_step_and_lets_one_leave(desk: Desk) -> None:
    await desk.started()
    await desk.send(act(1))
    await desk.steps(1)
    desk.sandbox.crash()
    await desk.send(act(2))
    await desk.until(lambda: desk.store.state.status == "failed")
    first, second = desk.store.state.steps
    assert first.error is None
    assert (second.after, second.error and second.error.code) == (None, "outcome_unknown")
    assert await desk.code(act(3)) == "machine_gone"
    assert await desk.code(LeaveEpisode(command_id="command-4", how="release")) == ""
    await desk.end()


async def test_a_lost_outcome_is_said_and_never_repeated(desk: Desk) -> None:
    await desk.started()
    desk.sandbox.lose_next_result = True
    await desk.send(act(1))
    await desk.steps(1)
    step = desk.store.state.steps[0]
    assert (step.after, step.error and step.error.code) == (None, "outcome_unknown")
    await desk.ready()
    assert desk.store.state.status == "running"
    assert len(desk.sandbox.acts) == 1
    assert desk.store.state.observation != step.before


async def test_what_the_machine_refuses_is_a_step_that_did_nothing(desk: Desk) -> None:
    await desk.started()
    desk.sandbox.capabilities = desk.sandbox.capabilities.model_copy(update={"kinds": ("click",)})
    await desk.send(act(1))
    await desk.steps(1)
    step = desk.store.state.steps[0]
    assert step.error is not None
    assert step.error.code == "unsupported_action"
    assert step.before == step.after


async def test_a_fenced_runner_ends(desk: Desk) -> None:
    await desk.started()
    desk.store.fence()
    await desk.send(act(1))
    with pytest.raises(EpisodeFenced):
        await desk.end()
    assert desk.sandbox.acts == []


async def test_after_the_end_commands_are_refused(desk: Desk) -> None:
    await desk.started()
    desk.runner.stop()
    await desk.end()
    assert await desk.code(act(1)) == "not_running"
    assert desk.store.state.status == "running"


async def test_a_machine_found_lost_beside_an_act_fails_the_episode(desk: Desk) -> None:
    await desk.started()
    await desk.send(Act(command_id="command-1", action=Click(x=1, y=1), thought="t"))
    await desk.steps(1)
    desk.runner.lose_machine("its host died")
    await desk.until(lambda: desk.store.state.status == "failed")
    assert (desk.store.state.error, len(desk.store.state.steps)) == ("its host died", 1)
    assert await desk.code(Act(command_id="command-2", action=Click(x=1, y=1), thought="t")) == "machine_gone"


async def test_a_machine_that_is_lost_while_it_is_prepared_is_replaced(desk: Desk) -> None:
    lost = desk.sandbox
    lost.crash()
    desk.start()
    await desk.until(lambda: desk.token == 1)
    desk.sandbox = FakeSandbox("desktop", width=320, height=240)
    await desk.ready()
    assert (desk.store.state.status, desk.store.state.error) == ("running", "")


async def test_an_episode_whose_every_machine_is_lost_fails(desk: Desk) -> None:
    desk.sandbox.crash()
    desk.start()
    await desk.until(lambda: desk.store.state.status == "failed")
    assert desk.token == MACHINES
