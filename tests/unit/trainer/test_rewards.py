"""Rewards by hand."""

from typing import Any

import pytest

from protocol.actions.types import Click, NoAction
from protocol.training.replies import readable_share, reply_lengths
from protocol.trajectory.observations import Verdict
from protocol.trajectory.rewards import AttemptReward, JudgedBy
from protocol.trajectory.trajectories import Trajectory
from tests.unit.protocol.examples import proposal, step, trajectory
from trainer.rl.rewards import (
    RewardShaping,
    budget_penalty,
    known_outcome,
    length_penalty,
    outcome_reward,
    shape_rewards,
)

CLICK = Click(x=1, y=2)


def attempt(*lengths: int | None, **fields: Any) -> Trajectory:
    """A step for each length of the policy's reply; None is a person's override."""
    steps, rows = [], []
    for index, length in enumerate(lengths):
        one = proposal(1, CLICK, completion_token_ids=(7,) * (length or 9)).model_copy(update={"id": f"p{index}"})
        own = {"decision": "auto", "actor": "policy", "proposal_id": one.id}
        steps.append(step(index, CLICK, **(own if length is not None else {"proposal_id": one.id})))
        rows.append((one,))
    return trajectory(steps=tuple(steps), proposals=tuple(rows), **fields)


@pytest.mark.parametrize(
    ("fields", "whole", "partial"),
    [
        ({"outcome": "success"}, 1.0, 1.0),
        ({"outcome": "failure"}, 0.0, 0.0),
        ({"outcome": "infeasible"}, None, None),
        ({"outcome": "broken"}, None, None),
        ({"outcome": None}, None, None),
        ({"outcome": "success", "verdict": Verdict(success=False, score=0.4)}, 0.0, 0.4),
        ({"outcome": None, "verdict": Verdict(success=True, score=1)}, 1.0, 1.0),
        ({"outcome": "failure", "verdict": Verdict(success=None, score=0.7)}, 0.0, 0.0),
        ({"outcome": "success", "origin": "rollout"}, None, None),
        ({"outcome": "success", "origin": "rollout", "verdict": Verdict(success=True, score=1)}, 1.0, 1.0),
    ],
)
def test_the_verifier_says_how_it_ended_and_else_a_person(
    fields: dict[str, Any], whole: float | None, partial: float | None
) -> None:
    ended = attempt(1, **fields)
    assert outcome_reward(ended) == whole
    assert outcome_reward(ended, partial=True) == partial
    assert (shape_rewards(ended, RewardShaping()) is None) == (whole is None)


def test_what_an_attempt_earned_when_it_was_made_counts() -> None:
    judged = AttemptReward(
        value=1.0,
        source="screen",
        judges=(JudgedBy(kind="screen", name="m", revision="1", score=0.9, threshold=0.8),),
        readable_share=0.5,
        reply_tokens=(1024, 0),
    )
    made = attempt(1, 1, origin="rollout", outcome="success", reward=judged)
    shaped = shape_rewards(made, RewardShaping(format=1.0, length=1.0))
    assert shaped is not None
    assert (shaped.outcome, shaped.format, shaped.length, shaped.steps) == (1.0, 0.5, -1.0, (-1.0, 1.5))
    assert known_outcome(made) is None, "no judge learns from a judge's word"
    abstained = AttemptReward(reply_tokens=(1, 1))
    assert shape_rewards(made.model_copy(update={"reward": abstained}), RewardShaping()) is None


def test_a_success_that_waited_for_its_steps_to_run_out_earns_nothing() -> None:
    solved = Verdict(success=True, score=1)
    unearned = AttemptReward(value=0.0, source="verifier", unearned="out_of_steps", reply_tokens=(1,))
    made = attempt(1, origin="rollout", verdict=solved, reward=unearned)
    assert outcome_reward(made) == outcome_reward(made, partial=True) == 0.0


@pytest.mark.parametrize(("length", "expected"), [(0, 0), (768, 0), (896, -0.5), (1024, -1), (5000, -1)])
def test_long_replies_cost_more_and_more(length: int, expected: float) -> None:
    assert length_penalty(length, longest=1024, buffer=256) == expected


@pytest.mark.parametrize(("steps", "expected"), [(1, 0), (10, 0), (20, -0.25), (50, -1), (90, -1)])
def test_steps_beyond_the_free_ones_cost(steps: int, expected: float) -> None:
    assert budget_penalty(steps, free=10, most=50) == expected


def test_bounds_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError):
        length_penalty(1, longest=10, buffer=11)
    with pytest.raises(ValueError):
        length_penalty(1, longest=10, buffer=0)
    with pytest.raises(ValueError):
        budget_penalty(1, free=10, most=10)


def test_replies_count_as_often_as_they_were_said() -> None:
    read, unread = proposal(1, CLICK, count=3), proposal(2, None)
    assert readable_share(trajectory(CLICK, proposals=((read, unread),))) == 0.75
    assert readable_share(trajectory(CLICK)) is None


def test_only_the_policys_own_replies_have_a_length() -> None:
    assert reply_lengths(attempt(5, None, 3)) == (5, 0, 3)


def test_what_only_the_outcome_is_worth_falls_on_the_last_step() -> None:
    found = shape_rewards(attempt(5, 6, 7), RewardShaping())
    assert found is not None
    assert found.steps == (0, 0, 1)


def test_every_term_falls_where_it_belongs() -> None:
    shaping = RewardShaping(
        outcome=2.0, format=0.5, length=1.0, longest=10, buffer=5, budget=0.4, free_steps=0, most_steps=8, onset=0.3
    )
    found = shape_rewards(attempt(5, 6, None, None, 20), shaping)
    assert found is not None
    assert found.steps == pytest.approx((0, -0.2, -0.3, 0, -1 + 2 + 0.5 - 0.25))
    assert (found.outcome, found.format, found.budget) == pytest.approx((2, 0.5, -0.25))
    assert (found.length, found.onset) == pytest.approx((-1.2, -0.3)), "a person steps in once, however long they stay"
    terms = found.outcome + found.format + found.length + found.budget + found.onset
    assert sum(found.steps) == pytest.approx(terms)


def test_a_reply_that_is_no_action_is_paid_for_where_it_was_said() -> None:
    whole = attempt(5, 6, 7)
    lapse = whole.steps[1].model_copy(update={"action": NoAction(said="Hm.")})
    found = shape_rewards(
        whole.model_copy(update={"steps": (whole.steps[0], lapse, whole.steps[2])}), RewardShaping(lapse=0.25)
    )
    assert found is not None
    assert (found.steps, found.lapse) == ((0, -0.25, 1), -0.25)


def test_what_was_taken_back_is_not_paid_for() -> None:
    whole = attempt(5, None, 5)
    undone = whole.steps[1].model_copy(update={"undone": True})
    left = whole.model_copy(update={"steps": (whole.steps[0], undone, whole.steps[2])})
    found = shape_rewards(left, RewardShaping(onset=1.0))
    assert found is not None
    assert found.steps == (0, 1)


def test_an_attempt_without_steps_has_no_reward() -> None:
    assert shape_rewards(trajectory(), RewardShaping()) is None
