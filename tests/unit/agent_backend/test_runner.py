"""The episode's loop: order, refusals, and what follows what."""

import pytest

from agent_backend.errors import EpisodeFenced, PolicyUnavailable
from agent_backend.policy.fake import FakePolicy
from agent_backend.ports import EpisodeCommand
from tests.unit.agent_backend.conftest import Desk, warming
from vocabulary.actions import CallUser, Click, Finish, LongPress, RunCommand, TypeText
from vocabulary.messages import (
    Accept,
    Act,
    CallForHelp,
    FinishEpisode,
    Hurry,
    LeaveEpisode,
    MarkProposal,
    Pause,
    ProposalsReady,
    ProposalsThinking,
    ProposalsWithdrawn,
    Resample,
    StepAdded,
    StepStarted,
    Undo,
)


def act(number: int, text: str = "hello", thought: str = "because") -> Act:
    return Act(command_id=f"command-{number}", action=TypeText(text=text), thought=thought)


def accept(desk: Desk, number: int, **fields: object) -> Accept:
    first = desk.store.state.proposals[0]
    given = {"proposal_id": first.id, "base_version": len(desk.store.state.steps), **fields}
    return Accept.model_validate({"command_id": f"command-{number}", **given})


async def test_a_warm_machine_runs_and_is_thought_about(desk: Desk) -> None:
    await desk.started()
    state = desk.store.state
    assert state.status == "running"
    assert state.observation is not None
    assert "click" in state.capabilities
    assert len(state.proposals) == 1
    assert state.observation.screenshot is not None
    assert state.observation.screenshot.sha256 in desk.store.blobs


async def test_accepting_does_what_was_offered(desk: Desk) -> None:
    await desk.started()
    offered = desk.store.state.proposals[0]
    assert await desk.code(accept(desk, 1)) == ""
    await desk.steps(1)
    step = desk.store.state.steps[0]
    assert (step.decision, step.actor, step.proposal_id) == ("accept", "human", offered.id)
    assert desk.sandbox.acts == [offered.action]
    assert step.decide_ms is not None
    assert step.policy == desk.policy.ref
    assert step.after is not None
    assert step.after.screenshot is not None
    assert step.after.screenshot.sha256 in desk.store.blobs
    await desk.ready()
    assert desk.policy.asked[-1] == desk.store.state.steps


async def test_another_thought_makes_an_edit(desk: Desk) -> None:
    await desk.started()
    await desk.send(accept(desk, 1, thought="A better reason."))
    await desk.steps(1)
    assert desk.store.state.steps[0].decision == "edit"
    assert desk.store.state.steps[0].thought == "A better reason."


async def test_an_override_is_a_step_with_its_intent_first(desk: Desk) -> None:
    await desk.started()
    await desk.send(act(1))
    await desk.steps(1)
    told = [e.type for e in desk.events if isinstance(e, StepStarted | StepAdded)]
    assert told == ["step.started", "step.added"]
    assert desk.sandbox.typed == "hello"
    assert desk.store.state.steps[0].decision == "override"
    assert desk.store.state.pending is None


async def test_proposals_are_recorded_after_their_step(desk: Desk) -> None:
    await desk.started()
    await desk.send(act(1))
    await desk.until(lambda: sum(isinstance(e, ProposalsReady) for e in desk.events) == 2)
    durable = [e for e in desk.events if isinstance(e, StepAdded | ProposalsReady)]
    assert [e.type for e in durable] == ["proposals.ready", "step.added", "proposals.ready"]
    assert [e.version for e in durable] == sorted(e.version for e in durable)


async def test_a_stale_accept_is_refused_and_changes_nothing(desk: Desk) -> None:
    await desk.started()
    stale = accept(desk, 2)
    await desk.send(act(1))
    await desk.steps(1)
    await desk.ready()
    version = desk.store.state.version
    assert await desk.code(stale) == "stale_accept"
    assert desk.store.state.version == version
    assert len(desk.sandbox.acts) == 1


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (act(1, thought="  "), "thought_required"),
        (Act(command_id="command-1", action=Click(x=320, y=10), thought="t"), "off_screen"),
        (Act(command_id="command-1", action=LongPress(x=1, y=1), thought="t"), "unsupported_action"),
        (Accept(command_id="command-1", proposal_id="other", base_version=0), "unknown_proposal"),
        (MarkProposal(command_id="command-1", proposal_id="other", mark="wrong"), "unknown_proposal"),
        (Undo(command_id="command-1"), "cannot_undo"),
    ],
)
async def test_what_cannot_be_taken_is_refused_and_changes_nothing(
    desk: Desk, command: EpisodeCommand, code: str
) -> None:
    await desk.started()
    state = desk.store.state
    assert await desk.code(command) == code
    assert desk.store.state == state
    assert desk.sandbox.acts == []


async def test_an_unparsed_proposal_cannot_be_accepted(desk: Desk) -> None:
    desk.policy = desk.current = FakePolicy([(("hm", None),)])
    await desk.started()
    assert await desk.code(accept(desk, 1)) == "unparsed_proposal"


async def test_a_task_allows_only_so_many_steps(desk: Desk) -> None:
    desk.store.state = warming(task=desk.store.state.task.model_copy(update={"max_steps": 1}))
    await desk.started()
    assert await desk.code(act(1)) == ""
    await desk.steps(1)
    assert await desk.code(act(2)) == "step_limit"
    assert await desk.code(FinishEpisode(command_id="command-3", outcome="success")) == ""


async def test_a_resend_is_acknowledged_and_done_once(desk: Desk) -> None:
    await desk.started()
    assert await desk.code(act(1)) == ""
    await desk.steps(1)
    assert await desk.code(act(1)) == ""
    assert await desk.code(act(1, text="other")) == "command_conflict"
    assert desk.sandbox.typed == "hello"
    assert len(desk.store.state.steps) == 1


async def test_a_resent_mark_with_another_body_is_a_conflict(desk: Desk) -> None:
    await desk.started()
    mark = MarkProposal(command_id="command-1", proposal_id=desk.store.state.proposals[0].id, mark="acceptable")
    assert await desk.code(mark) == ""
    assert await desk.code(mark) == ""
    assert await desk.code(mark.model_copy(update={"mark": "wrong"})) == "command_conflict"
    assert desk.store.state.proposals[0].mark == "acceptable"


async def test_marks_are_kept_with_the_step(desk: Desk) -> None:
    answers = ((("one", Click(x=1, y=1)), ("two", Click(x=2, y=2)), ("three", Click(x=3, y=3))),)
    desk.policy = desk.current = FakePolicy(answers)
    await desk.started()
    one, two, three = desk.store.state.proposals
    await desk.answer(MarkProposal(command_id="command-1", proposal_id=two.id, mark="acceptable"))
    await desk.answer(MarkProposal(command_id="command-2", proposal_id=three.id, mark="wrong"))
    await desk.send(accept(desk, 3))
    await desk.steps(1)
    step = desk.store.state.steps[0]
    assert (step.proposal_id, step.acceptable_ids, step.wrong_ids) == (one.id, (two.id,), (three.id,))


async def test_two_fast_acts_hurry_the_first_and_are_thought_about_once(desk: Desk) -> None:
    await desk.started()
    desk.sandbox.settle_seconds = 30.0
    await desk.send(act(1, "a"))
    await desk.until(lambda: desk.store.state.pending is not None)
    await desk.send(act(2, "b"))
    await desk.steps(1)
    first = desk.store.state.steps[0]
    assert first.after is not None
    assert not first.after.settled
    desk.sandbox.hurry()
    await desk.until(lambda: desk.store.state.pending is not None or len(desk.store.state.steps) == 2)
    await desk.answer(Hurry(command_id="command-3"))
    await desk.steps(2)
    await desk.ready()
    assert desk.sandbox.typed == "ab"
    assert [len(steps) for steps in desk.policy.asked] == [0, 2]


async def test_a_program_at_work_is_cut_by_a_word_only(desk: Desk) -> None:
    await desk.started()
    desk.sandbox.settle_seconds = 0.2
    await desk.send(Act(command_id="command-1", action=RunCommand(command="make"), thought="It takes a while."))
    await desk.until(lambda: desk.store.state.pending is not None)
    await desk.send(act(2))
    await desk.steps(1)
    desk.sandbox.settle_seconds = 30.0
    await desk.steps(1)
    after = desk.store.state.steps[0].after
    assert after is not None
    assert after.rest == "rested"
    await desk.until(lambda: desk.store.state.pending is not None or len(desk.store.state.steps) == 2)
    await desk.answer(Hurry(command_id="command-3"))
    await desk.steps(2)


async def test_an_act_with_another_behind_it_does_not_settle(desk: Desk) -> None:
    await desk.started()
    desk.sandbox.settle_seconds = 0.2
    await desk.send(act(1, "a"), act(2, "b"))
    await desk.steps(2)
    assert [s.after.rest if s.after else "" for s in desk.store.state.steps] == ["skipped", "rested"]


async def test_a_resend_of_the_running_act_does_not_hurry_it(desk: Desk) -> None:
    await desk.started()
    desk.sandbox.settle_seconds = 0.2
    await desk.send(act(1))
    await desk.until(lambda: desk.store.state.pending is not None)
    await desk.send(act(1))
    await desk.steps(1)
    after = desk.store.state.steps[0].after
    assert after is not None
    assert after.settled


async def test_thinking_is_dropped_when_an_act_comes(desk: Desk) -> None:
    desk.policy.gate.clear()
    await desk.started("streaming")
    await desk.send(act(1))
    await desk.steps(1)
    desk.policy.gate.set()
    await desk.ready()
    assert desk.policy.cancelled == 1
    assert len(desk.policy.asked) == 2


async def test_the_inbox_is_bounded(desk: Desk) -> None:
    await desk.started()
    desk.sandbox.settle_seconds = 30.0
    await desk.send(act(0))
    await desk.until(lambda: desk.store.state.pending is not None)
    marks = [
        MarkProposal(command_id=f"command-mark-{n}", proposal_id="x", mark=None) for n in range(desk.limits.inbox + 1)
    ]
    await desk.send(*marks)
    assert getattr(desk.events[-1], "code", "") == "queue_full"
    await desk.answer(Hurry(command_id="command-h"))
    await desk.steps(1)


async def test_resample_withdraws_and_asks_again(desk: Desk) -> None:
    await desk.started()
    first = desk.store.state.proposals
    assert await desk.code(Resample(command_id="command-1")) == ""
    await desk.until(lambda: desk.store.state.proposals not in ((), first))
    assert any(isinstance(e, ProposalsWithdrawn) and e.reason == "resampled" for e in desk.events)


async def test_a_new_revision_withdraws_what_the_old_one_offered(desk: Desk) -> None:
    await desk.started()
    desk.current = FakePolicy(revision="2")
    desk.runner.wake()
    await desk.until(lambda: desk.store.state.policy is not None and desk.store.state.policy.revision == "2")
    assert [p.policy.revision for p in desk.store.state.proposals] == ["2"]


async def test_without_a_policy_a_person_works_alone(desk: Desk) -> None:
    desk.current = None
    await desk.started("off")
    assert await desk.code(act(1)) == ""
    await desk.steps(1)
    desk.current = desk.policy
    desk.runner.wake()
    await desk.ready()


async def test_a_dead_model_never_blocks(desk: Desk) -> None:
    desk.policy.broken = PolicyUnavailable("nobody answers")
    await desk.started("failed")
    assert desk.runner.state.thinking_error == "nobody answers"
    assert await desk.code(act(1)) == ""
    await desk.steps(1)
    desk.policy.broken = None
    await desk.ready()


async def test_a_silent_model_is_asked_only_so_often_until_somebody_resamples(desk: Desk) -> None:
    desk.policy.broken = PolicyUnavailable("nobody answers")
    await desk.started("failed")

    def failures() -> int:
        return sum(isinstance(e, ProposalsThinking) and e.thinking == "failed" for e in desk.events)

    await desk.until(lambda: failures() == desk.limits.patience.tries)
    desk.policy.broken = None
    assert await desk.code(MarkProposal(command_id="command-0", proposal_id="x", mark=None)) == "unknown_proposal"
    assert len(desk.policy.asked) == desk.limits.patience.tries
    assert await desk.code(Resample(command_id="command-1")) == ""
    await desk.ready()


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
