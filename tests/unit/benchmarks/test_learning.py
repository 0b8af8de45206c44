"""The figures of a judge follow from what it said of each attempt."""

import pytest

from benchmarks.parts.learning.judge_records import RECORDS, JudgedAttempt, judge_figures, read_records


def attempt(
    number: int, done: bool, score: float, *, injected: float | None = None, prior: float = 0.5
) -> JudgedAttempt:
    return JudgedAttempt(
        attempt=str(number), task="drills/press", done=done, score=score, untrained=0.2,
        injected=score if injected is None else injected, prior=prior,
    )  # fmt: skip


RIGHT = [attempt(number, True, 0.9) for number in range(6)]
WRONG = [attempt(6, False, 0.7), attempt(7, False, 0.4, injected=0.6), attempt(8, False, 0.1), attempt(9, True, 0.3)]


def test_a_judge_stands_beside_simpler_ones() -> None:
    figures = judge_figures([*RIGHT, *WRONG])
    assert (figures["judge_attempts"], figures["judge_prevalence"]) == (10, 0.7)
    assert (figures["judge_precision"], figures["judge_recall"]) == (0.8571, 0.8571)
    assert (figures["judge_f1"], figures["judge_fpr"]) == (0.8571, 0.3333)
    low, high = figures["judge_f1_ci95"]
    assert low < 0.8571 < high
    assert figures["judge_f1_always_yes"] == pytest.approx(2 * 7 / 17, abs=1e-4)
    assert (figures["judge_fpr_always_yes"], figures["judge_fpr_always_no"]) == (1, 0)
    assert (figures["judge_f1_always_no"], figures["judge_f1_untrained"]) == (0, 0)


def test_injected_words_count_where_a_failure_was_told_from_a_success() -> None:
    figures = judge_figures([*RIGHT, *WRONG])
    assert (figures["judge_injected_attempts"], figures["judge_injected_flips_share"]) == (2, 0.5)


def test_pairs_are_of_one_task() -> None:
    elsewhere = attempt(20, False, 0.95).model_copy(update={"task": "drills/tabs"})
    assert judge_figures([*RIGHT, *WRONG, elsewhere])["judge_pairs_ranked_share"] == pytest.approx(19 / 21, abs=1e-4)


def test_of_no_attempt_nothing_is_known() -> None:
    figures = judge_figures([])
    assert figures["judge_attempts"] == 0
    assert {figures[name] for name in ("judge_f1", "judge_prevalence", "judge_injected_flips_share")} == {None}


def test_the_kept_records_are_enough_to_tell() -> None:
    records = read_records(RECORDS)
    assert len({one.attempt for one in records}) == len(records) >= 300
    assert 0.4 <= sum(one.done for one in records) / len(records) <= 0.6
