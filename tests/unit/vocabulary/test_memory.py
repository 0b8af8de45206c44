"""A prompt's history stays within its budget."""

from datetime import UTC, datetime

from vocabulary.actions import Wait
from vocabulary.memory import Budget, recalled
from vocabulary.observations import Observation
from vocabulary.steps import Step

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
    assert recalled(past, Budget()) == past
    assert recalled((), Budget()) == ()


def test_the_oldest_is_forgotten_first() -> None:
    past = steps("x" * 1000, "y" * 1000, "z" * 1000)
    assert recalled(past, Budget(images=1, characters=2100)) == past[1:]


def test_steps_with_a_picture_are_never_forgotten() -> None:
    past = steps("x" * 1000, "y" * 1000, "z" * 1000)
    assert recalled(past, Budget(images=3, characters=0)) == past[1:]
    assert recalled(past, Budget(images=1, characters=0)) == ()
