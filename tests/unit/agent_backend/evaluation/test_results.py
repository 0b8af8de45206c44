"""What attempts come to: who counts, scores, lengths, pass@k and the scaling curve."""

from pathlib import Path

import pytest

from agent_backend.evaluation.attempts import Attempts, collect_attempts
from agent_backend.evaluation.results import (
    NO_BASELINES,
    Baselines,
    InvalidReferences,
    ReferenceScore,
    powers_of_two,
    read_references,
    suite_results,
    task_results,
)
from protocol.actions.types import Click
from protocol.evaluation.reports import ExcludedAttempts
from protocol.trajectory.trajectories import Trajectory
from tests.unit.agent_backend.evaluation.examples import example_attempt
from tests.unit.protocol.examples import step, trajectory


def read(*trajectories: Trajectory) -> Attempts:
    return collect_attempts((Path("folder"), one) for one in trajectories)


def test_a_policy_that_only_says_it_is_done_has_not_succeeded() -> None:
    attempts = read(example_attempt("snake", False), example_attempt("snake", True, seed=1))
    assert [attempt.success for attempt in attempts.included] == [False, True]


def test_what_says_nothing_of_the_policy_alone_is_left_out_and_counted() -> None:
    helped = example_attempt("snake", True, steps=2)
    human = helped.steps[1].model_copy(update={"actor": "human", "decision": "override"})
    attempts = read(
        example_attempt("snake", None),
        example_attempt("snake", True, outcome="broken", seed=1),
        helped.model_copy(update={"steps": (helped.steps[0], human)}),
        example_attempt("snake", None, verdict=None, seed=3),
    )
    assert attempts.included == []
    assert attempts.left_out == ExcludedAttempts(unjudged=2, broken=1, assisted=1)


def test_a_persons_word_counts_where_no_verifier_can_judge() -> None:
    alone = step(0, Click(x=1, y=1), actor="policy", decision="auto")
    attempts = read(trajectory(steps=(alone,), proposals=((),)), trajectory(steps=(alone,), outcome="failure"))
    assert [attempt.success for attempt in attempts.included] == [True, False]
    assert task_results(attempts, NO_BASELINES)[0].score is None


def test_a_step_taken_back_is_no_step_of_the_attempt() -> None:
    whole = example_attempt("snake", True, steps=3, tokens=7)
    undone = whole.steps[1].model_copy(update={"undone": True})
    included = read(whole.model_copy(update={"steps": (whole.steps[0], undone, whole.steps[2])})).included[0]
    assert (included.steps, included.think_characters, included.reply_tokens) == (2, 8, 14)


def test_levels_are_tasks_of_their_own_and_seeds_are_not() -> None:
    first, second, other = (
        example_attempt("snake", True),
        example_attempt("snake", False, seed=1),
        example_attempt("snake", True, seed=2),
    )
    harder = other.model_copy(update={"task": other.task.model_copy(update={"parameters": {"level": 2}})})
    results = task_results(read(first, second, harder), NO_BASELINES)
    assert [(task.level, task.successes.successes, task.successes.attempts) for task in results] == [
        (1, 1, 2),
        (2, 1, 1),
    ]


def test_lengths_are_means_over_attempts_steps_and_kept_replies() -> None:
    result = task_results(
        read(example_attempt("a", True, steps=1, tokens=10), example_attempt("a", False, steps=4, seed=1)), NO_BASELINES
    )[0]
    assert (result.steps, result.steps_of_successes) == (2.5, 1)
    assert (result.think_characters, result.reply_tokens) == (4, 10)
    assert task_results(read(example_attempt("a", True)), NO_BASELINES)[0].reply_tokens is None


def test_scores_are_normalised_where_there_is_a_reference() -> None:
    references = {
        ("games", "snake"): ReferenceScore(score=0.9, random=0.1),
        ("games", "maze"): ReferenceScore(score=0, random=0),
    }
    attempts = read(
        example_attempt("snake", False, score=0.5),
        example_attempt("snake", True, score=0.9, seed=1),
        example_attempt("maze", True),
        example_attempt("tetris", True),
    )
    by_name = {task.name: task for task in task_results(attempts, Baselines(references))}
    assert by_name["snake"].normalised == pytest.approx(0.75)
    assert by_name["snake"].score == pytest.approx(0.7)
    assert (by_name["maze"].normalised, by_name["tetris"].normalised) == (None, None)
    suite = suite_results(attempts, Baselines(references))[0]
    assert suite.normalised == pytest.approx(0.75)
    assert suite.normalised_attempts == 2


def test_pass_at_k_is_over_the_tasks_with_enough_attempts() -> None:
    attempts = read(
        example_attempt("a", True),
        example_attempt("a", False, seed=1),
        example_attempt("a", False, seed=2),
        example_attempt("a", False, seed=3),
        example_attempt("b", True),
    )
    passes = {one.k: one for one in suite_results(attempts, NO_BASELINES)[0].pass_at}
    assert [(k, passes[k].tasks) for k in passes] == [(1, 2), (2, 1), (4, 1)]
    assert [passes[k].rate for k in passes] == [pytest.approx(0.625), pytest.approx(0.5), 1]


def test_a_suite_counts_tasks_alike_and_runs_by_their_turn() -> None:
    attempts = read(
        example_attempt("a", True, seed=7),
        example_attempt("a", False, seed=8),
        example_attempt("b", True),
        example_attempt("b", True, seed=1),
        example_attempt("b", True, seed=2),
    )
    suite = suite_results(attempts, NO_BASELINES)[0]
    assert suite.successes.rate == pytest.approx(0.8)
    assert suite.tasks.mean == pytest.approx(0.75)
    assert suite.runs is not None
    assert (suite.runs.count, suite.runs.mean) == (2, 0.75)


def test_the_curve_says_what_fewer_steps_would_have_come_to() -> None:
    attempts = read(
        example_attempt("a", True, steps=2, pages=(0.5, 1.0)),
        example_attempt("a", False, steps=5, seed=1, score=0.25, pages=(0.0, 0.1, -1.0, 0.2, 0.25)),
        example_attempt("a", False, steps=3, seed=2, pages=(None, None, 0.0), terminated=False, truncated=True),
    )
    curve = {point.steps: point for point in task_results(attempts, NO_BASELINES)[0].scaling}
    assert list(curve) == [1, 2, 4, 5]
    assert [curve[steps].successes.successes for steps in curve] == [0, 1, 1, 1]
    assert [curve[steps].cut_off for steps in curve] == [0, 0, 1, 1]
    assert curve[1].score is None
    assert curve[4].score == pytest.approx((1 + 0.2 + 0) / 3)
    assert curve[5].score == pytest.approx((1 + 0.25 + 0) / 3)


def test_an_attempt_that_was_stopped_at_a_success_was_not_cut_off() -> None:
    attempts = read(
        example_attempt("a", True, steps=2, terminated=False, truncated=True),
        example_attempt("a", False, steps=4, seed=1),
    )
    assert task_results(attempts, NO_BASELINES)[0].scaling[-1].cut_off == 0


def test_attempts_are_in_order_of_their_seeds() -> None:
    attempts = read(*(example_attempt("a", True, seed=seed) for seed in (10, 9, 100)))
    assert [[attempt.seed for attempt in tries] for tries in attempts.by_task().values()] == [[9, 10, 100]]


def test_a_curve_never_falls_and_ends_at_the_rate() -> None:
    attempts = read(*(example_attempt("a", seed % 3 == 0, steps=1 + seed % 9, seed=seed) for seed in range(40)))
    result = task_results(attempts, NO_BASELINES)[0]
    rates = [point.successes.rate for point in result.scaling]
    assert rates == sorted(rates)
    assert rates[-1] == result.successes.rate


def test_doubling_ends_at_the_most() -> None:
    assert [powers_of_two(most) for most in (0, 1, 2, 4, 5)] == [(), (1,), (1, 2), (1, 2, 4), (1, 2, 4, 5)]


def test_attempts_without_a_step_can_be_evaluated() -> None:
    result = task_results(read(example_attempt("a", False, steps=0)), NO_BASELINES)[0]
    assert (result.steps, result.think_characters, result.scaling) == (0, 0, ())


def test_references_are_read_from_manifests(tmp_path: Path) -> None:
    for name, body in (("snake", '{"reference": {"score": 1, "random": 0.25}}'), ("maze", "{}")):
        (tmp_path / "games" / name).mkdir(parents=True)
        (tmp_path / "games" / name / "manifest.json").write_text(body)
    assert read_references(tmp_path) == {("games", "snake"): ReferenceScore(score=1, random=0.25)}


@pytest.mark.parametrize("body", ["[]", "{", '{"reference": {"score": "much"}}', "{}"])
def test_references_that_are_none_are_refused(tmp_path: Path, body: str) -> None:
    (tmp_path / "games" / "snake").mkdir(parents=True)
    (tmp_path / "games" / "snake" / "manifest.json").write_text(body)
    with pytest.raises(InvalidReferences):
        read_references(tmp_path)
