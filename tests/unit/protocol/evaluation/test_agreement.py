"""Agreement: against Krippendorff's own examples, and attempts small enough to compare by hand."""

import pytest

from protocol.actions.types import Action, Click, Finish, TypeText
from protocol.evaluation.agreement import (
    AlignedSteps,
    align_steps,
    krippendorff_alpha,
    step_agreement,
)
from protocol.trajectory.steps import Step
from tests.contract.test_store import step

A, B, C = Click(x=100, y=100), TypeText(text="hello"), Click(x=400, y=300)


def attempt(*actions: Action) -> tuple[Step, ...]:
    return tuple(step(index, f"command-{index}", action=action) for index, action in enumerate(actions))


def columns(*rows: str) -> list[list[str]]:
    """One unit a column, a dot where somebody did not judge."""
    return [[name for name in column if name != "."] for column in zip(*rows, strict=True)]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (("0100000010", "1110010000"), 0.095),
        (("aabbdcccedda", "babbbcccedd" + "d"), 0.692),
        (("123321412...", "1233224125.3", ".33323422" + "51.", "1233244125" + "1."), 0.743),
    ],
)
def test_alpha_is_that_of_the_published_examples(rows: tuple[str, ...], expected: float) -> None:
    """Krippendorff, *Computing Krippendorff's Alpha-Reliability* (2011), sections A, B and C."""
    assert krippendorff_alpha(columns(*rows)) == pytest.approx(expected, abs=5e-4)


def test_alpha_at_its_ends() -> None:
    assert krippendorff_alpha(columns("abab", "abab")) == 1.0
    below_chance = krippendorff_alpha(columns("abab", "baba"))
    assert below_chance is not None
    assert below_chance < 0


def test_without_pairs_or_without_difference_alpha_says_nothing() -> None:
    assert krippendorff_alpha([]) is None
    assert krippendorff_alpha([["a"], ["b"]]) is None
    assert krippendorff_alpha([["a", "a"], ["a", "a"]]) is None


def test_the_same_target_is_the_same_step_and_another_is_not() -> None:
    nearby, beyond = Click(x=120, y=90), Click(x=130, y=100)
    assert step_agreement(attempt(A, B), attempt(nearby, B)) == 1
    assert step_agreement(attempt(A, B), attempt(beyond, B)) == 0.5


def test_like_steps_stand_beside_each_other_and_what_is_between_is_paired() -> None:
    pairs = align_steps(attempt(A, B, C), attempt(A, Finish(), Finish(), C))
    assert pairs == (
        AlignedSteps(one=0, other=0, same=True),
        AlignedSteps(one=1, other=1),
        AlignedSteps(other=2),
        AlignedSteps(one=2, other=3, same=True),
    )


def test_every_step_is_in_an_alignment_once_and_in_order() -> None:
    one, other = attempt(A, B, A, C, B), attempt(B, C, A, B)
    pairs = align_steps(one, other)
    assert [pair.one for pair in pairs if pair.one is not None] == list(range(5))
    assert [pair.other for pair in pairs if pair.other is not None] == list(range(4))


def test_step_agreement_counts_both_attempts() -> None:
    assert step_agreement(attempt(A, B), attempt(A, B)) == 1.0
    assert step_agreement(attempt(A, B), attempt(C)) == 0.0
    assert step_agreement(attempt(A, B, C), attempt(A)) == pytest.approx(0.5)
    assert step_agreement((), ()) == 1.0
