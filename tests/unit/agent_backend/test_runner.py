"""The episode's loop: order, refusals, and what follows what."""

import pytest

from agent_backend.errors import PolicyUnavailable
from agent_backend.policy.fake import FakePolicy
from agent_backend.ports import EpisodeCommand
from tests.unit.agent_backend.conftest import Desk, accept, act, warming
from vocabulary.actions import Click, LongPress, RunCommand
from vocabulary.messages import (
    Accept,
    Act,
    FinishEpisode,
    Hurry,
    MarkProposal,
    ProposalsReady,
    ProposalsThinking,
    ProposalsWithdrawn,
    Resample,
    StepAdded,
    StepStarted,
    Undo,
)


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
    desk.sandbox.skip_settle()
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


async def test_a_command_that_is_sent_again_while_it_waits_is_one_command(desk: Desk) -> None:
    await desk.started()
    desk.sandbox.settle_seconds = 30.0
    await desk.send(act(0))
    await desk.until(lambda: desk.store.state.pending is not None)
    mark = MarkProposal(command_id="command-mark", proposal_id="x", mark=None)
    await desk.send(*[mark] * (desk.limits.inbox + 1))
    assert not [event for event in desk.events if getattr(event, "code", "") == "queue_full"]


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
