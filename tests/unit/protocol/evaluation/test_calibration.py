"""Precision, recall, F1 and false positive rate of a judge against people, by hand and by law."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.actions.types import Click
from protocol.evaluation.calibration import MAX_POINTS, ScoredOutcome, calibrate, human_outcome, sweep_thresholds
from protocol.evaluation.judgements import VERIFIER
from tests.unit.protocol.examples import trajectory

PAIRS: list[ScoredOutcome] = [
    (0.9, True),
    (0.8, True),
    (0.7, False),
    (0.4, True),
    (0.2, False),
    (0.1, False),
    (None, True),
    (None, False),
]
pairs_any = st.lists(st.tuples(st.none() | st.floats(0, 1), st.booleans()), max_size=40)


def test_the_figures_are_those_worked_out_by_hand() -> None:
    found = calibrate(PAIRS, 0.5)
    assert (found.true_positives, found.false_positives, found.true_negatives, found.false_negatives) == (2, 1, 2, 1)
    for rate, successes, attempts in (
        (found.precision, 2, 3),
        (found.recall, 2, 3),
        (found.false_positive_rate, 1, 3),
        (found.accuracy, 4, 6),
    ):
        assert rate is not None
        assert (rate.successes, rate.attempts) == (successes, attempts)
        assert rate.low < rate.rate < rate.high
    assert found.f1 == pytest.approx(2 / 3)


def test_a_threshold_is_reached_by_the_score_itself() -> None:
    assert calibrate([(0.5, True)], 0.5).true_positives == 1


def test_where_nothing_was_there_to_count_there_is_no_rate() -> None:
    none = calibrate([], 0.5)
    assert (none.precision, none.recall, none.false_positive_rate, none.f1) == (None, None, None, None)
    successes = calibrate([(0.1, True)], 0.5)
    assert (successes.precision, successes.false_positive_rate, successes.f1) == (None, None, 0.0)


def test_attempts_without_a_score_are_counted_beside() -> None:
    sweep = sweep_thresholds(VERIFIER, PAIRS)
    counted = sweep.counted
    assert (counted.successes, counted.failures, counted.unsaid_successes, counted.unsaid_failures) == (3, 3, 1, 1)


def test_a_sweep_has_every_threshold_that_makes_a_difference_and_finds_the_best() -> None:
    sweep = sweep_thresholds(VERIFIER, PAIRS, also=(0.5, 0.95))
    assert [point.threshold for point in sweep.points] == [0.1, 0.2, 0.4, 0.5, 0.7, 0.8, 0.9, 0.95]
    assert sweep.best == 0.4, "three found, one false alarm: F1 6/7"


def test_without_any_word_of_people_a_sweep_is_empty() -> None:
    for pairs in ([], [(None, True)]):
        sweep = sweep_thresholds(VERIFIER, pairs)
        assert (sweep.points, sweep.best) == ((), None)


@given(pairs_any, st.floats(0, 1))
def test_everything_scored_is_counted_once(pairs: list[ScoredOutcome], threshold: float) -> None:
    found = calibrate(pairs, threshold)
    scored = sum(score is not None for score, _ in pairs)
    assert found.true_positives + found.false_positives + found.true_negatives + found.false_negatives == scored


@given(pairs_any)
def test_a_higher_threshold_never_believes_more(pairs: list[ScoredOutcome]) -> None:
    points = sweep_thresholds(VERIFIER, pairs).points
    believed = [point.true_positives + point.false_positives for point in points]
    assert believed == sorted(believed, reverse=True)
    assert sweep_thresholds(VERIFIER, list(reversed(pairs))).points == points, "the order of attempts does not matter"


def test_a_sweep_of_many_scores_is_bounded() -> None:
    sweep = sweep_thresholds(VERIFIER, [(index / 5_000, index % 2 == 0) for index in range(5_000)])
    assert len(sweep.points) <= MAX_POINTS + 2


def test_only_people_calibrate_and_only_what_they_called_done_or_not() -> None:
    assert human_outcome(trajectory(Click(x=1, y=1))) is True
    assert human_outcome(trajectory(Click(x=1, y=1), outcome="failure")) is False
    assert human_outcome(trajectory(Click(x=1, y=1), outcome="infeasible")) is None
    assert human_outcome(trajectory(Click(x=1, y=1), origin="rollout")) is None, "a policy's own word"
