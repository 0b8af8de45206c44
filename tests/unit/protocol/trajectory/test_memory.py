"""A prompt's history stays within its budget."""

from datetime import UTC, datetime

import pytest

from protocol.actions.types import Wait
from protocol.blobs import BlobRef
from protocol.dialects.dialect import ChatMessage, ImagePart
from protocol.dialects.families import get_dialect
from protocol.trajectory.memory import (
    HistoryBudget,
    Memory,
    RecalledHistory,
    fit_steps,
    recall_history,
    steps_to_summarize,
)
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import PolicyRef
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SEEN = Observation(screenshot=None, width=10, height=10, captured_at=NOW, settled=True, rest="rested", settle_ms=0.0)


def steps(*thoughts: str) -> tuple[Step, ...]:
    return tuple(
        Step(
            index=index,
            command_id=f"command-{index}",
            actor="human",
            decision="override",
            thought=thought,
            action=Wait(),
            before=SEEN,
            after=SEEN,
            started_at=NOW,
            ended_at=NOW,
        )
        for index, thought in enumerate(thoughts)
    )


def test_a_short_past_is_recalled_whole() -> None:
    past = steps("a", "b", "c")
    assert fit_steps(past, HistoryBudget()) == past
    assert fit_steps((), HistoryBudget()) == ()


def test_the_oldest_is_forgotten_first() -> None:
    past = steps("x" * 1000, "y" * 1000, "z" * 1000)
    assert fit_steps(past, HistoryBudget(images=1, tokens=525)) == past[1:]


def test_who_counts_is_believed() -> None:
    past = steps("x" * 1000, "y" * 1000, "z" * 1000)
    assert fit_steps(past, HistoryBudget(images=1, tokens=2), lambda text: 1) == past[1:]
    assert fit_steps(past, HistoryBudget(images=1, tokens=3), lambda text: 1) == past


def test_older_settings_in_characters_still_hold() -> None:
    assert HistoryBudget.model_validate({"characters": 24_000, "notes": 6_000}) == HistoryBudget()


def test_steps_with_a_picture_are_never_forgotten() -> None:
    past = steps("x" * 1000, "y" * 1000, "z" * 1000)
    assert fit_steps(past, HistoryBudget(images=3, tokens=0)) == past[1:]
    assert fit_steps(past, HistoryBudget(images=1, tokens=0)) == ()


POLICY = PolicyRef(name="tars", revision="1", dialect="ui_tars_1_5")
NOTING = HistoryBudget(images=2, stride=2, working=4, episode=3)


def note(through: int, text: str = "x") -> Memory:
    return Memory(through=through, text=text, policy=POLICY, written_at=NOW)


def test_a_note_is_due_when_the_working_memory_is_full_and_an_episode_more() -> None:
    past = steps(*"abcdefghij")
    assert steps_to_summarize(past[:6], (), NOTING) == ()
    assert steps_to_summarize(past[:7], (), NOTING) == past[:3]
    assert steps_to_summarize(past[:9], (note(2),), NOTING) == ()
    assert steps_to_summarize(past, (note(2),), NOTING) == past[3:6]
    assert steps_to_summarize(past, (), HistoryBudget()) == (), "most policies were never taught to write notes"


def test_noted_steps_make_room_for_their_notes() -> None:
    past = steps(*"abcdefghij")
    recalled_now = recall_history(past, (note(2), note(5)), NOTING)
    assert recalled_now.memories == (note(2), note(5))
    assert (recalled_now.steps, recalled_now.earlier) == (past[6:], 6)


def test_what_was_taken_back_is_no_memory() -> None:
    past = steps(*"abcde")
    assert recall_history(past[:2], (note(2),), NOTING) == recall_history(past[:2], (), NOTING)
    assert recall_history(past[:4], (note(2), note(4)), NOTING).memories == (note(2),)


def test_the_oldest_notes_are_left_out() -> None:
    past = steps(*"abcdefgh")
    notes = (note(1, "x" * 60), note(3, "y" * 60))
    assert recall_history(past, notes, HistoryBudget(note_tokens=25)).memories == notes[1:]
    assert recall_history(past, notes, HistoryBudget(note_tokens=25)).steps == past[4:]


@pytest.mark.parametrize(
    "budget", [HistoryBudget(), HistoryBudget(images=3, stride=2, working=4, episode=4), HistoryBudget(tokens=250)]
)
def test_a_prompt_grows_at_its_end_but_for_one_step_in_some(budget: HistoryBudget) -> None:
    past = steps(*(f"thought {number}" for number in range(40)))
    notes: tuple[Memory, ...] = ()
    before: tuple[ChatMessage, ...] = ()
    reused = 0
    for count in range(40):
        if due := steps_to_summarize(past[:count], notes, budget):
            notes = (*notes, note(due[-1].index))
        recalled_history = recall_history(past[:count], notes, budget)
        rendered = render(recalled_history, budget, count)
        pictures = sum(isinstance(part, ImagePart) for message in rendered for part in message.content)
        assert min(count + 1, budget.images - budget.step + 1) <= pictures <= budget.images
        reused += rendered[: len(before)] == before
        before = rendered
    often = 1 / budget.step + 1 / budget.step**2 + (1 / budget.episode if budget.episode else 0)
    assert reused >= 40 * (1 - often) - 3, "a server finds most prompts' beginning in its cache"


def render(recalled_history: RecalledHistory, budget: HistoryBudget, count: int) -> tuple[ChatMessage, ...]:
    """What a policy reads before step `count`, every screen told from the others."""

    def screen(number: int) -> Observation:
        return SEEN.model_copy(update={"screenshot": BlobRef.of(str(number).encode(), "image/png")})

    rendered = tuple(step.model_copy(update={"before": screen(step.index)}) for step in recalled_history.steps)
    return get_dialect("ui_tars_1_5").render(
        Task(id="t", instruction="Do it."),
        rendered,
        screen(count),
        images=budget.images,
        stride=budget.stride,
        earlier=recalled_history.earlier,
        memories=recalled_history.memories,
    )
