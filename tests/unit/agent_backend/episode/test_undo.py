"""Going back one step: the machine is where it was, the record keeps what was done, the policy hears of it no more."""

import pytest

from agent_backend.episode.machine_session import MachineSession
from protocol.actions.types import Click, TypeText
from protocol.messages.events import Accept, Act, Autopilot, Undo
from protocol.trajectory.observations import BrowserPage, Observation, Transition
from tests.unit.agent_backend.conftest import EpisodeHarness, UnreliableMachine
from vm_bridge.errors import CannotRestore, InvalidAction


def type_text(number: int, text: str) -> Act:
    return Act(command_id=f"command-{number}", action=TypeText(text=text), thought="It is asked for.")


def undo(number: int) -> Undo:
    return Undo(command_id=f"undoing-{number}")


async def typed(harness: EpisodeHarness, *texts: str) -> None:
    for number, text in enumerate(texts):
        await harness.send(type_text(number, text))
        await harness.steps(number + 1)
        await harness.ready()


async def test_the_machine_goes_back_and_the_record_says_so(harness: EpisodeHarness) -> None:
    await harness.started()
    await typed(harness, "one", "two")
    before_second = harness.store.state.steps[1].before
    assert await harness.code(undo(1)) == ""
    assert harness.sandbox.typed == "one"
    assert [step.undone for step in harness.store.state.steps] == [False, True]
    assert harness.store.state.observation is not None
    assert harness.store.state.observation.screenshot == before_second.screenshot
    await harness.ready()
    assert [step.action for step in harness.policy.asked[-1]] == [TypeText(text="one")]


async def test_one_step_after_the_other_and_no_further_than_the_start(harness: EpisodeHarness) -> None:
    await harness.started()
    await typed(harness, "one", "two")
    assert [await harness.code(undo(number)) for number in range(3)] == ["", "", "cannot_undo"]
    assert harness.sandbox.typed == ""
    await harness.ready()
    await harness.send(type_text(9, "three"))
    await harness.steps(3)
    assert (harness.sandbox.typed, harness.store.state.steps[2].index) == ("three", 2)
    assert await harness.code(undo(3)) == ""
    assert [step.undone for step in harness.store.state.steps] == [True, True, True]


async def test_sent_twice_it_is_done_once(harness: EpisodeHarness) -> None:
    await harness.started()
    await typed(harness, "one", "two")
    assert [await harness.code(undo(1)), await harness.code(undo(1))] == ["", ""]
    assert [step.undone for step in harness.store.state.steps] == [False, True]


async def test_another_runner_goes_back_as_well(harness: EpisodeHarness) -> None:
    await harness.started()
    await typed(harness, "one")
    await harness.kill()
    await harness.started()
    assert await harness.code(undo(1)) == ""
    assert harness.sandbox.typed == ""


async def test_what_cannot_be_restored_changes_nothing(harness: EpisodeHarness) -> None:
    await harness.started()
    await typed(harness, "one")
    harness.sandbox.states.forget()
    before = harness.store.state
    assert await harness.code(undo(1)) == CannotRestore.code
    assert (harness.store.state.steps, harness.sandbox.typed) == (before.steps, "one")
    await harness.ready()
    assert await harness.code(Act(command_id="command-9", action=Click(x=1, y=1), thought="On we go.")) == ""


async def test_a_lost_answer_leaves_the_screen_that_is_there_and_the_way_back_open(harness: EpisodeHarness) -> None:
    await harness.started()
    await typed(harness, "one")
    harness.policy.gate.clear()
    await harness.send(type_text(1, "two"))
    await harness.steps(2)
    before_second = harness.store.state.steps[1].before
    UnreliableMachine.lost_restores = 1
    assert await harness.code(Autopilot(command_id="autopilot-1", on=True)) == ""
    assert await harness.code(undo(1)) == "undo_unanswered", "not `bridge_unavailable`, which says nothing of the step"
    assert harness.store.state.autopilot is False, "no act before the person has looked"
    assert harness.store.state.observation is not None
    assert harness.store.state.observation.screenshot == before_second.screenshot, "the machine went back"
    assert [step.undone for step in harness.store.state.steps] == [False, False]
    assert await harness.code(undo(2)) == ""
    assert [step.undone for step in harness.store.state.steps] == [False, True]
    assert harness.sandbox.typed == "one"


@pytest.mark.parametrize("field", ["text", "page"])
async def test_after_a_lost_answer_a_state_of_the_same_picture_is_taken(
    harness: EpisodeHarness, monkeypatch: pytest.MonkeyPatch, field: str
) -> None:
    pages = {"text": "another", "page": BrowserPage(title="Another", clock="exact", seed=1, time_ms=0)}

    async def observe(session: MachineSession) -> Observation:
        picture = harness.store.state.observation
        assert picture is not None
        return picture.model_copy(update={field: pages[field]})

    await harness.started()
    await typed(harness, "one")
    monkeypatch.setattr(MachineSession, "observe_settled", observe)
    UnreliableMachine.lost_restores = 1
    assert await harness.code(undo(1)) == "undo_unanswered"
    assert getattr(harness.store.state.observation, field) == pages[field]


async def test_it_is_known_beforehand_where_the_last_step_cannot_be_taken_back(harness: EpisodeHarness) -> None:
    await harness.started()
    await typed(harness, "one")
    keeps, harness.sandbox.keeps_states = harness.sandbox.keeps_states, False
    await harness.send(type_text(1, "two"))
    await harness.steps(2)
    await harness.until(lambda: harness.store.state.undo_blocked)
    assert await harness.code(undo(1)) == "cannot_undo"
    assert harness.sandbox.typed == "onetwo"
    harness.sandbox.keeps_states = keeps
    await harness.ready()
    await harness.send(type_text(2, "three"))
    await harness.until(lambda: len(harness.store.state.steps) == 3 and not harness.store.state.undo_blocked)
    assert await harness.code(undo(2)) == ""
    await harness.until(lambda: harness.store.state.undo_blocked)
    assert await harness.code(undo(3)) == "cannot_undo", "the step before that one was not kept"


async def test_a_rejected_act_locks_no_earlier_step(harness: EpisodeHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    async def reject(*_: object, **__: object) -> Transition:
        raise InvalidAction("it is not on the screen")

    await harness.started()
    await typed(harness, "one")
    with monkeypatch.context() as patch:
        patch.setattr(UnreliableMachine, "perform", reject)
        await harness.send(type_text(1, "two"))
        await harness.steps(2)
        await harness.ready()
    assert harness.store.state.undo_blocked is False
    assert [await harness.code(undo(1)), harness.sandbox.typed] == ["", "one"]
    assert [await harness.code(undo(2)), harness.sandbox.typed] == ["", ""]


@pytest.mark.parametrize("kept", [False, True])
async def test_after_a_crash_it_is_found_out_again(harness: EpisodeHarness, *, kept: bool) -> None:
    await harness.started()
    harness.sandbox.keeps_states = kept
    await typed(harness, "one")
    await harness.kill()
    harness.store.state = harness.store.state.model_copy(update={"undo_blocked": kept})
    await harness.started()
    assert harness.store.state.undo_blocked is not kept


async def test_a_machine_without_a_way_back_says_so(harness: EpisodeHarness) -> None:
    harness.sandbox.capabilities = harness.sandbox.capabilities.model_copy(update={"snapshots": False})
    await harness.started()
    await typed(harness, "one")
    assert harness.store.state.can_undo is False
    assert await harness.code(undo(1)) == "cannot_undo"


async def test_steps_taken_back_do_not_count_against_the_task(harness: EpisodeHarness) -> None:
    task = harness.store.state.task.model_copy(update={"max_steps": 1})
    harness.store.state = harness.store.state.model_copy(update={"task": task})
    await harness.started()
    await typed(harness, "one")
    assert await harness.code(type_text(5, "two")) == "step_limit"
    assert await harness.code(undo(1)) == ""
    assert await harness.code(type_text(6, "two")) == ""


async def test_an_old_offer_is_gone_after_it(harness: EpisodeHarness) -> None:
    await harness.started()
    await typed(harness, "one")
    offered = harness.store.state.proposals[0]
    assert await harness.code(undo(1)) == ""
    accept = Accept(command_id="command-7", proposal_id=offered.id, base_version=1)
    assert await harness.code(accept) == "unknown_proposal"


async def test_it_stops_the_autopilot(harness: EpisodeHarness) -> None:
    await harness.started()
    await typed(harness, "one")
    harness.policy.gate.clear()
    await harness.send(type_text(1, "two"))
    await harness.steps(2)
    assert await harness.code(Autopilot(command_id="autopilot-1", on=True)) == ""
    assert await harness.code(undo(1)) == ""
    assert harness.store.state.autopilot is False
