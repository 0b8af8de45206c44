"""How an episode ends: finished, left, lost; and what goes on without its end."""

import pytest

from agent_backend.episode.provisioning import MAX_LOST_MACHINES
from agent_backend.errors import EpisodeFenced
from protocol.actions.types import CallUser, Click, Finish, Infeasible
from protocol.messages.events import (
    Act,
    CallForHelp,
    FinishEpisode,
    LeaveEpisode,
    Pause,
)
from tests.unit.agent_backend.conftest import EpisodeHarness, accept, act, new_episode
from tests.unit.agent_backend.policy.fake_policy import FakePolicy
from vm_bridge.simulators.fake.sandbox import FakeSandbox


async def test_finishing_keeps_both_judgements(harness: EpisodeHarness) -> None:
    await harness.started()
    await harness.send(act(1, "wrong text"))
    await harness.steps(1)
    finish = FinishEpisode(command_id="command-2", outcome="success", answer="42", reason="looks right")
    assert await harness.code(finish) == ""
    await harness.end()
    state = harness.store.state
    assert (state.status, state.outcome, state.answer) == ("finished", "success", "42")
    assert state.verdict is not None
    assert state.verdict.success is False
    assert state.finished_at is not None
    assert harness.store.notes["command-2"] == "looks right"


async def test_accepting_a_finish_is_a_step_and_the_end(harness: EpisodeHarness) -> None:
    harness.policy = harness.current = FakePolicy([(("All done.", Finish(answer="7")),)])
    await harness.started()
    assert await harness.code(accept(harness, 1)) == ""
    await harness.end()
    state = harness.store.state
    assert (state.status, state.outcome, state.answer) == ("finished", "success", "7")
    assert state.steps[-1].action == Finish(answer="7")
    assert state.steps[-1].before == state.steps[-1].after
    assert harness.sandbox.acts == []


async def test_accepting_a_call_for_the_user_asks_for_help(harness: EpisodeHarness) -> None:
    harness.policy = harness.current = FakePolicy([(("I need a password.", CallUser(message="password?")),)])
    await harness.started()
    await harness.send(accept(harness, 1))
    await harness.until(lambda: harness.store.state.help_requested)
    assert harness.store.state.status == "running"


async def test_accepting_that_it_is_infeasible_ends_it_so(harness: EpisodeHarness) -> None:
    asked = harness.store.state.task.model_copy(update={"name": "answer"})
    harness.store.state = new_episode(task=asked)
    harness.policy = harness.current = FakePolicy([(("No such file.", Infeasible(reason="no file")),)])
    await harness.started()
    assert await harness.code(accept(harness, 1)) == ""
    await harness.end()
    state = harness.store.state
    assert (state.status, state.outcome, state.answer) == ("finished", "infeasible", "")
    assert state.steps[-1].action == Infeasible(reason="no file")
    assert harness.sandbox.acts == []
    assert not state.help_requested
    assert state.verdict is not None
    assert state.verdict.reason == "got 'FAIL'", "the verifier is told in OSWorld's word"


async def test_infeasible_is_an_outcome(harness: EpisodeHarness) -> None:
    await harness.started()
    await harness.send(FinishEpisode(command_id="command-1", outcome="infeasible", reason="no such file"))
    await harness.end()
    assert harness.store.state.outcome == "infeasible"


@pytest.mark.parametrize(("how", "outcome"), [("skip", "skipped"), ("broken", "broken"), ("release", None)])
async def test_leaving(harness: EpisodeHarness, how: str, outcome: str | None) -> None:
    await harness.started()
    leave = LeaveEpisode.model_validate({"command_id": "command-1", "how": how, "reason": "tea"})
    assert await harness.code(leave) == ""
    await harness.end()
    assert (harness.store.state.status, harness.store.state.outcome) == ("left", outcome)
    assert harness.store.notes["command-1"] == "tea"


async def test_help_is_asked_for_and_work_goes_on(harness: EpisodeHarness) -> None:
    await harness.started()
    assert await harness.code(CallForHelp(command_id="command-1", message="stuck")) == ""
    assert harness.store.state.help_requested
    assert harness.store.notes["command-1"] == "stuck"
    assert await harness.code(act(2)) == ""


async def test_pausing_stops_thinking_and_acting(harness: EpisodeHarness) -> None:
    harness.policy.gate.clear()
    await harness.started("streaming")
    assert await harness.code(Pause(command_id="command-1", on=True)) == ""
    assert harness.store.state.status == "paused"
    assert await harness.code(act(2)) == "not_running"
    assert harness.policy.cancelled == 1
    harness.policy.gate.set()
    assert await harness.code(Pause(command_id="command-3", on=False)) == ""
    await harness.ready()


async def test_one_can_leave_while_the_machine_warms(harness: EpisodeHarness) -> None:
    harness.sandbox.settle_seconds = 30.0
    harness.start()
    assert await harness.code(act(1)) == "not_running"
    assert await harness.code(LeaveEpisode(command_id="command-2", how="skip")) == ""
    await harness.end()
    assert harness.store.state.status == "left"


async def test_where_no_machine_is_free_one_waits_and_is_told_why(harness: EpisodeHarness) -> None:
    harness.no_machine = "all desktops are taken"
    harness.start()
    await harness.until(lambda: harness.store.state.error == "all desktops are taken")
    assert harness.store.state.status == "warming"
    harness.no_machine = ""
    await harness.ready()
    assert (harness.store.state.status, harness.store.state.error) == ("running", "")


async def test_a_task_nobody_knows_fails_the_episode(harness: EpisodeHarness) -> None:
    harness.store.state = new_episode(task=harness.store.state.task.model_copy(update={"name": "unheard-of"}))
    harness.start()
    await harness.until(lambda: harness.store.state.status == "failed")
    assert "unheard-of" in harness.store.state.error
    assert await harness.code(act(1)) == "machine_gone"
    assert await harness.code(LeaveEpisode(command_id="command-2", how="broken")) == ""
    await harness.end()


async def test_who_else_writes_is_followed(harness: EpisodeHarness) -> None:
    await harness.started()
    await harness.store.change({"help_requested": True})
    assert await harness.code(act(1)) == ""
    await harness.steps(1)
    await harness.ready()
    assert harness.runner.state == harness.store.state


async def test_a_dying_machine_keeps_every_step_and_lets_one_leave(harness: EpisodeHarness) -> None:
    await harness.started()
    await harness.send(act(1))
    await harness.steps(1)
    harness.sandbox.crash()
    await harness.send(act(2))
    await harness.until(lambda: harness.store.state.status == "failed")
    first, second = harness.store.state.steps
    assert first.error is None
    assert (second.after, second.error and second.error.code) == (None, "outcome_unknown")
    assert await harness.code(act(3)) == "machine_gone"
    assert await harness.code(LeaveEpisode(command_id="command-4", how="release")) == ""
    await harness.end()


async def test_a_lost_outcome_is_said_and_never_repeated(harness: EpisodeHarness) -> None:
    await harness.started()
    harness.sandbox.lose_next_result = True
    await harness.send(act(1))
    await harness.steps(1)
    step = harness.store.state.steps[0]
    assert (step.after, step.error and step.error.code) == (None, "outcome_unknown")
    await harness.ready()
    assert harness.store.state.status == "running"
    assert len(harness.sandbox.acts) == 1
    assert harness.store.state.observation != step.before


async def test_what_the_machine_refuses_is_a_step_that_did_nothing(harness: EpisodeHarness) -> None:
    await harness.started()
    harness.sandbox.capabilities = harness.sandbox.capabilities.model_copy(update={"kinds": ("click",)})
    await harness.send(act(1))
    await harness.steps(1)
    step = harness.store.state.steps[0]
    assert step.error is not None
    assert step.error.code == "unsupported_action"
    assert step.before == step.after


async def test_a_fenced_runner_ends(harness: EpisodeHarness) -> None:
    await harness.started()
    harness.store.fence()
    await harness.send(act(1))
    with pytest.raises(EpisodeFenced):
        await harness.end()
    assert harness.sandbox.acts == []


async def test_after_the_end_commands_are_refused(harness: EpisodeHarness) -> None:
    await harness.started()
    harness.runner.stop()
    await harness.end()
    assert await harness.code(act(1)) == "not_running"
    assert harness.store.state.status == "running"


async def test_a_machine_found_lost_beside_an_act_fails_the_episode(harness: EpisodeHarness) -> None:
    await harness.started()
    await harness.send(Act(command_id="command-1", action=Click(x=1, y=1), thought="t"))
    await harness.steps(1)
    harness.runner.lose_machine("its host died")
    await harness.until(lambda: harness.store.state.status == "failed")
    assert (harness.store.state.error, len(harness.store.state.steps)) == ("its host died", 1)
    assert await harness.code(Act(command_id="command-2", action=Click(x=1, y=1), thought="t")) == "machine_gone"


async def test_a_machine_that_is_lost_while_it_is_prepared_is_replaced(harness: EpisodeHarness) -> None:
    lost = harness.sandbox
    lost.crash()
    harness.start()
    await harness.until(lambda: harness.token == 1)
    harness.sandbox = FakeSandbox("desktop", width=320, height=240)
    await harness.ready()
    assert (harness.store.state.status, harness.store.state.error) == ("running", "")


async def test_an_episode_whose_every_machine_is_lost_fails(harness: EpisodeHarness) -> None:
    harness.sandbox.crash()
    harness.start()
    await harness.until(lambda: harness.store.state.status == "failed")
    assert harness.token == MAX_LOST_MACHINES
