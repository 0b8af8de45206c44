"""Going back one step: the machine is where it was, the record keeps what was done, the policy hears of it no more."""

from tests.unit.agent_backend.conftest import Desk
from vm_bridge.errors import CannotRestore
from vocabulary.actions import Click, TypeText
from vocabulary.messages import Accept, Act, Autopilot, Undo


def type_text(number: int, text: str) -> Act:
    return Act(command_id=f"command-{number}", action=TypeText(text=text), thought="It is asked for.")


def undo(number: int) -> Undo:
    return Undo(command_id=f"undoing-{number}")


async def typed(desk: Desk, *texts: str) -> None:
    for number, text in enumerate(texts):
        await desk.send(type_text(number, text))
        await desk.steps(number + 1)
        await desk.ready()


async def test_the_machine_goes_back_and_the_record_says_so(desk: Desk) -> None:
    await desk.started()
    await typed(desk, "one", "two")
    before_second = desk.store.state.steps[1].before
    assert await desk.code(undo(1)) == ""
    assert desk.sandbox.typed == "one"
    assert [step.undone for step in desk.store.state.steps] == [False, True]
    assert desk.store.state.observation is not None
    assert desk.store.state.observation.screenshot == before_second.screenshot
    await desk.ready()
    assert [step.action for step in desk.policy.asked[-1]] == [TypeText(text="one")]


async def test_one_step_after_the_other_and_no_further_than_the_start(desk: Desk) -> None:
    await desk.started()
    await typed(desk, "one", "two")
    assert [await desk.code(undo(number)) for number in range(3)] == ["", "", "cannot_undo"]
    assert desk.sandbox.typed == ""
    await desk.ready()
    await desk.send(type_text(9, "three"))
    await desk.steps(3)
    assert (desk.sandbox.typed, desk.store.state.steps[2].index) == ("three", 2)
    assert await desk.code(undo(3)) == ""
    assert [step.undone for step in desk.store.state.steps] == [True, True, True]


async def test_sent_twice_it_is_done_once(desk: Desk) -> None:
    await desk.started()
    await typed(desk, "one", "two")
    assert [await desk.code(undo(1)), await desk.code(undo(1))] == ["", ""]
    assert [step.undone for step in desk.store.state.steps] == [False, True]


async def test_another_runner_goes_back_as_well(desk: Desk) -> None:
    await desk.started()
    await typed(desk, "one")
    await desk.kill()
    await desk.started()
    assert await desk.code(undo(1)) == ""
    assert desk.sandbox.typed == ""


async def test_what_cannot_be_restored_changes_nothing(desk: Desk) -> None:
    await desk.started()
    await typed(desk, "one")
    desk.sandbox.states.forget()
    before = desk.store.state
    assert await desk.code(undo(1)) == CannotRestore.code
    assert (desk.store.state.steps, desk.sandbox.typed) == (before.steps, "one")
    await desk.ready()
    assert await desk.code(Act(command_id="command-9", action=Click(x=1, y=1), thought="On we go.")) == ""


async def test_a_machine_without_a_way_back_says_so(desk: Desk) -> None:
    desk.sandbox.capabilities = desk.sandbox.capabilities.model_copy(update={"snapshots": False})
    await desk.started()
    await typed(desk, "one")
    assert desk.store.state.can_undo is False
    assert await desk.code(undo(1)) == "cannot_undo"


async def test_steps_taken_back_do_not_count_against_the_task(desk: Desk) -> None:
    task = desk.store.state.task.model_copy(update={"max_steps": 1})
    desk.store.state = desk.store.state.model_copy(update={"task": task})
    await desk.started()
    await typed(desk, "one")
    assert await desk.code(type_text(5, "two")) == "step_limit"
    assert await desk.code(undo(1)) == ""
    assert await desk.code(type_text(6, "two")) == ""


async def test_an_old_offer_is_gone_after_it(desk: Desk) -> None:
    await desk.started()
    await typed(desk, "one")
    offered = desk.store.state.proposals[0]
    assert await desk.code(undo(1)) == ""
    accept = Accept(command_id="command-7", proposal_id=offered.id, base_version=1)
    assert await desk.code(accept) == "unknown_proposal"


async def test_it_stops_the_autopilot(desk: Desk) -> None:
    await desk.started()
    await typed(desk, "one")
    desk.policy.gate.clear()
    await desk.send(type_text(1, "two"))
    await desk.steps(2)
    assert await desk.code(Autopilot(command_id="autopilot-1", on=True)) == ""
    assert await desk.code(undo(1)) == ""
    assert desk.store.state.autopilot is False
