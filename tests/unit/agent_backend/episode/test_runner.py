"""The episode's loop: order, refusals, and what follows what."""

from dataclasses import replace

import pytest

from agent_backend.episode.proposal_requests import RetryPolicy
from agent_backend.errors import PolicyRejected, PolicyUnavailable
from agent_backend.interfaces import EpisodeCommand
from protocol.actions.types import Click, LongPress, RunCommand
from protocol.messages.events import (
    Accept,
    Act,
    FinishEpisode,
    MarkProposal,
    ProposalsReady,
    ProposalsThinking,
    ProposalsWithdrawn,
    Resample,
    SkipSettle,
    StepAdded,
    StepStarted,
    Undo,
)
from tests.unit.agent_backend.conftest import EpisodeHarness, accept, act, new_episode
from tests.unit.agent_backend.policy.fake_policy import FakePolicy


async def test_a_warm_machine_runs_and_is_thought_about(harness: EpisodeHarness) -> None:
    await harness.started()
    state = harness.store.state
    assert state.status == "running"
    assert state.observation is not None
    assert "click" in state.capabilities
    assert len(state.proposals) == 1
    assert state.observation.screenshot is not None
    assert state.observation.screenshot.sha256 in harness.store.blobs


async def test_accepting_does_what_was_offered(harness: EpisodeHarness) -> None:
    await harness.started()
    offered = harness.store.state.proposals[0]
    assert await harness.code(accept(harness, 1)) == ""
    await harness.steps(1)
    step = harness.store.state.steps[0]
    assert (step.decision, step.actor, step.proposal_id) == ("accept", "human", offered.id)
    assert harness.sandbox.acts == [offered.action]
    assert step.decide_ms is not None
    assert step.policy == harness.policy.ref
    assert step.after is not None
    assert step.after.screenshot is not None
    assert step.after.screenshot.sha256 in harness.store.blobs
    await harness.ready()
    assert harness.policy.asked[-1] == harness.store.state.steps


async def test_another_thought_makes_an_edit(harness: EpisodeHarness) -> None:
    await harness.started()
    await harness.send(accept(harness, 1, thought="A better reason."))
    await harness.steps(1)
    assert harness.store.state.steps[0].decision == "edit"
    assert harness.store.state.steps[0].thought == "A better reason."


async def test_an_override_is_a_step_with_its_intent_first(harness: EpisodeHarness) -> None:
    await harness.started()
    await harness.send(act(1))
    await harness.steps(1)
    told = [e.type for e in harness.events if isinstance(e, StepStarted | StepAdded)]
    assert told == ["step.started", "step.added"]
    assert harness.sandbox.typed == "hello"
    assert harness.store.state.steps[0].decision == "override"
    assert harness.store.state.pending is None


async def test_proposals_are_recorded_after_their_step(harness: EpisodeHarness) -> None:
    await harness.started()
    await harness.send(act(1))
    await harness.until(lambda: sum(isinstance(e, ProposalsReady) for e in harness.events) == 2)
    durable = [e for e in harness.events if isinstance(e, StepAdded | ProposalsReady)]
    assert [e.type for e in durable] == ["proposals.ready", "step.added", "proposals.ready"]
    assert [e.version for e in durable] == sorted(e.version for e in durable)


async def test_a_stale_accept_is_refused_and_changes_nothing(harness: EpisodeHarness) -> None:
    await harness.started()
    stale = accept(harness, 2)
    await harness.send(act(1))
    await harness.steps(1)
    await harness.ready()
    version = harness.store.state.version
    assert await harness.code(stale) == "stale_accept"
    assert harness.store.state.version == version
    assert len(harness.sandbox.acts) == 1


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
    harness: EpisodeHarness, command: EpisodeCommand, code: str
) -> None:
    await harness.started()
    state = harness.store.state
    assert await harness.code(command) == code
    assert harness.store.state == state
    assert harness.sandbox.acts == []


async def test_an_override_may_owe_its_thought_where_the_pool_allows_that(harness: EpisodeHarness) -> None:
    harness.store.state = new_episode(thought_later=True)
    await harness.started()
    assert await harness.code(act(1, thought=" ")) == ""
    await harness.steps(1)
    assert await harness.code(act(2)) == ""
    await harness.steps(2)
    assert [step.thought_timing for step in harness.store.state.steps] == ["owed", "before"]


async def test_an_unparsed_proposal_cannot_be_accepted(harness: EpisodeHarness) -> None:
    harness.policy = harness.current = FakePolicy([(("hm", None),)])
    await harness.started()
    assert await harness.code(accept(harness, 1)) == "unparsed_proposal"


async def test_a_task_allows_only_so_many_steps(harness: EpisodeHarness) -> None:
    harness.store.state = new_episode(task=harness.store.state.task.model_copy(update={"max_steps": 1}))
    await harness.started()
    assert await harness.code(act(1)) == ""
    await harness.steps(1)
    assert await harness.code(act(2)) == "step_limit"
    assert await harness.code(FinishEpisode(command_id="command-3", outcome="success")) == ""


async def test_a_resend_is_acknowledged_and_done_once(harness: EpisodeHarness) -> None:
    await harness.started()
    assert await harness.code(act(1)) == ""
    await harness.steps(1)
    assert await harness.code(act(1)) == ""
    assert await harness.code(act(1, text="other")) == "command_conflict"
    assert harness.sandbox.typed == "hello"
    assert len(harness.store.state.steps) == 1


async def test_a_resent_mark_with_another_body_is_a_conflict(harness: EpisodeHarness) -> None:
    await harness.started()
    mark = MarkProposal(command_id="command-1", proposal_id=harness.store.state.proposals[0].id, mark="acceptable")
    assert await harness.code(mark) == ""
    assert await harness.code(mark) == ""
    assert await harness.code(mark.model_copy(update={"mark": "wrong"})) == "command_conflict"
    assert harness.store.state.proposals[0].mark == "acceptable"


async def test_marks_are_kept_with_the_step(harness: EpisodeHarness) -> None:
    answers = ((("one", Click(x=1, y=1)), ("two", Click(x=2, y=2)), ("three", Click(x=3, y=3))),)
    harness.policy = harness.current = FakePolicy(answers)
    await harness.started()
    one, two, three = harness.store.state.proposals
    await harness.answer(MarkProposal(command_id="command-1", proposal_id=two.id, mark="acceptable"))
    await harness.answer(MarkProposal(command_id="command-2", proposal_id=three.id, mark="wrong"))
    await harness.send(accept(harness, 3))
    await harness.steps(1)
    step = harness.store.state.steps[0]
    assert (step.proposal_id, step.acceptable_ids, step.wrong_ids) == (one.id, (two.id,), (three.id,))


async def test_an_act_that_waits_for_nothing_hurries_nothing(
    harness: EpisodeHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    hurried: list[str] = []
    await harness.started()
    monkeypatch.setattr(harness.sandbox, "skip_settle", lambda: hurried.append("settle"))
    await harness.send(act(1))
    await harness.steps(1)
    await harness.ready()
    assert hurried == []


async def test_two_fast_acts_hurry_the_first_and_are_thought_about_once(harness: EpisodeHarness) -> None:
    await harness.started()
    harness.sandbox.settle_seconds = 30.0
    await harness.send(act(1, "a"))
    await harness.until(lambda: harness.store.state.pending is not None)
    await harness.send(act(2, "b"))
    await harness.steps(1)
    first = harness.store.state.steps[0]
    assert first.after is not None
    assert not first.after.settled
    harness.sandbox.skip_settle()
    await harness.until(lambda: harness.store.state.pending is not None or len(harness.store.state.steps) == 2)
    await harness.answer(SkipSettle(command_id="command-3"))
    await harness.steps(2)
    await harness.ready()
    assert harness.sandbox.typed == "ab"
    assert [len(steps) for steps in harness.policy.asked] == [0, 2]


async def test_a_program_at_work_is_cut_by_a_word_only(harness: EpisodeHarness) -> None:
    await harness.started()
    harness.sandbox.settle_seconds = 0.2
    await harness.send(Act(command_id="command-1", action=RunCommand(command="make"), thought="It takes a while."))
    await harness.until(lambda: harness.store.state.pending is not None)
    await harness.send(act(2))
    await harness.steps(1)
    harness.sandbox.settle_seconds = 30.0
    await harness.steps(1)
    after = harness.store.state.steps[0].after
    assert after is not None
    assert after.rest == "rested"
    await harness.until(lambda: harness.store.state.pending is not None or len(harness.store.state.steps) == 2)
    await harness.answer(SkipSettle(command_id="command-3"))
    await harness.steps(2)


async def test_an_act_with_another_behind_it_does_not_settle(harness: EpisodeHarness) -> None:
    await harness.started()
    harness.sandbox.settle_seconds = 0.2
    await harness.send(act(1, "a"), act(2, "b"))
    await harness.steps(2)
    assert [s.after.rest if s.after else "" for s in harness.store.state.steps] == ["skipped", "rested"]


async def test_a_resend_of_the_running_act_does_not_hurry_it(harness: EpisodeHarness) -> None:
    await harness.started()
    harness.sandbox.settle_seconds = 0.2
    await harness.send(act(1))
    await harness.until(lambda: harness.store.state.pending is not None)
    await harness.send(act(1))
    await harness.steps(1)
    after = harness.store.state.steps[0].after
    assert after is not None
    assert after.settled


async def test_thinking_is_dropped_when_an_act_comes(harness: EpisodeHarness) -> None:
    harness.policy.gate.clear()
    await harness.started("streaming")
    await harness.send(act(1))
    await harness.steps(1)
    harness.policy.gate.set()
    await harness.ready()
    assert harness.policy.cancelled == 1
    assert len(harness.policy.asked) == 2


async def test_a_command_that_is_sent_again_while_it_waits_is_one_command(harness: EpisodeHarness) -> None:
    await harness.started()
    harness.sandbox.settle_seconds = 30.0
    await harness.send(act(0))
    await harness.until(lambda: harness.store.state.pending is not None)
    mark = MarkProposal(command_id="command-mark", proposal_id="x", mark=None)
    await harness.send(*[mark] * (harness.limits.inbox + 1))
    assert not [event for event in harness.events if getattr(event, "code", "") == "queue_full"]


async def test_the_inbox_is_bounded(harness: EpisodeHarness) -> None:
    await harness.started()
    harness.sandbox.settle_seconds = 30.0
    await harness.send(act(0))
    await harness.until(lambda: harness.store.state.pending is not None)
    marks = [
        MarkProposal(command_id=f"command-mark-{n}", proposal_id="x", mark=None)
        for n in range(harness.limits.inbox + 1)
    ]
    await harness.send(*marks)
    assert getattr(harness.events[-1], "code", "") == "queue_full"
    await harness.answer(SkipSettle(command_id="command-h"))
    await harness.steps(1)


async def test_resample_withdraws_and_asks_again(harness: EpisodeHarness) -> None:
    await harness.started()
    first = harness.store.state.proposals
    assert await harness.code(Resample(command_id="command-1")) == ""
    await harness.until(lambda: harness.store.state.proposals not in ((), first))
    assert any(isinstance(e, ProposalsWithdrawn) and e.reason == "resampled" for e in harness.events)


async def test_a_new_revision_withdraws_what_the_old_one_offered(harness: EpisodeHarness) -> None:
    await harness.started()
    harness.current = FakePolicy(revision="2")
    harness.runner.wake()
    await harness.until(lambda: harness.store.state.policy is not None and harness.store.state.policy.revision == "2")
    assert [p.policy.revision for p in harness.store.state.proposals] == ["2"]


async def test_without_a_policy_a_person_works_alone(harness: EpisodeHarness) -> None:
    harness.current = None
    await harness.started("off")
    assert await harness.code(act(1)) == ""
    await harness.steps(1)
    harness.current = harness.policy
    harness.runner.wake()
    await harness.ready()


async def test_a_dead_model_never_blocks(harness: EpisodeHarness) -> None:
    harness.policy.broken = PolicyUnavailable("nobody answers")
    await harness.started("failed")
    assert harness.runner.state.thinking_error == "nobody answers"
    assert await harness.code(act(1)) == ""
    await harness.steps(1)
    harness.policy.broken = None
    await harness.ready()


@pytest.mark.parametrize("revision", ["2", "1"], ids=["another revision", "the same revision, served elsewhere"])
async def test_a_failure_goes_with_the_policy_that_failed(harness: EpisodeHarness, revision: str) -> None:
    harness.limits = replace(harness.limits, retry_policy=RetryPolicy(first=3_600.0, longest=3_600.0))
    harness.policy.broken = PolicyRejected("no model ui-tars")
    await harness.started("failed")
    assert harness.runner.state.thinking_policy == harness.policy.ref

    next_policy = FakePolicy(revision=revision)
    next_policy.gate.clear()
    harness.current = next_policy
    harness.runner.wake()
    await harness.until(lambda: harness.runner.state.thinking == "streaming")
    assert harness.runner.state.thinking_error == ""
    assert harness.runner.state.thinking_policy == next_policy.ref
    next_policy.gate.set()
    await harness.ready()


async def test_a_silent_model_is_asked_only_so_often_until_somebody_resamples(harness: EpisodeHarness) -> None:
    harness.policy.broken = PolicyUnavailable("nobody answers")
    await harness.started("failed")

    def failures() -> int:
        return sum(isinstance(e, ProposalsThinking) and e.thinking == "failed" for e in harness.events)

    await harness.until(lambda: failures() == harness.limits.retry_policy.tries)
    harness.policy.broken = None
    assert await harness.code(MarkProposal(command_id="command-0", proposal_id="x", mark=None)) == "unknown_proposal"
    assert len(harness.policy.asked) == harness.limits.retry_policy.tries
    assert await harness.code(Resample(command_id="command-1")) == ""
    await harness.ready()
