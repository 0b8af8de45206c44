"""Need follows from counts, and a draw from its seed."""

import pytest

from annotation_app.tasks.task_sampling import (
    ProposalCounts,
    count_decisions,
    need_score,
    sampling_weight,
    weighted_order,
)
from protocol.actions.types import Click
from protocol.trajectory.proposals import PolicyRef
from protocol.trajectory.steps import BatchPosition, Decision, Step
from tests.unit.protocol.examples import POLICY, step

OTHER = PolicyRef(name="tars", revision="9", dialect="ui_tars_1_5")


def make_steps(*decisions: Decision, policy: PolicyRef | None = POLICY) -> list[Step]:
    return [step(index, Click(x=1, y=1), decision=decision, policy=policy) for index, decision in enumerate(decisions)]


def test_what_was_never_tried_is_needed() -> None:
    assert need_score(ProposalCounts()) == 0.75
    assert need_score(ProposalCounts(accepted=50, succeeded=10)) < 0.15
    assert need_score(ProposalCounts(overridden=50, failed=10)) > 0.98


@pytest.mark.parametrize("column", ["accepted", "overridden", "succeeded", "failed"])
def test_need_rises_with_what_went_wrong_and_falls_with_what_went_right(column: str) -> None:
    counts = ProposalCounts(accepted=3, overridden=2, succeeded=1, failed=4)
    more = counts.model_copy(update={column: getattr(counts, column) + 1})
    assert (need_score(more) > need_score(counts)) == (column in ("overridden", "failed"))


def test_a_task_done_before_shares_its_need_among_the_times() -> None:
    assert sampling_weight(ProposalCounts(), 2) == need_score(ProposalCounts()) / 3


def test_the_same_seed_draws_the_same_order() -> None:
    weights = {key: 1.0 + key for key in range(20)}
    assert weighted_order(weights, "a") == weighted_order(dict(reversed(weights.items())), "a")
    assert weighted_order(weights, "a") != weighted_order(weights, "b")
    assert sorted(weighted_order(weights, "a")) == sorted(weights)
    assert weighted_order({}, "a") == []


def test_a_task_comes_first_as_often_as_its_weight_says() -> None:
    weights = {1: 0.6, 2: 0.3, 3: 0.1}
    first = [weighted_order(weights, str(seed))[0] for seed in range(3_000)]
    assert [first.count(key) / 3_000 for key in weights] == pytest.approx([0.6, 0.3, 0.1], abs=0.03)


def test_decisions_of_people_count_and_those_of_an_autopilot_do_not() -> None:
    counts = count_decisions(make_steps("accept", "edit", "override", "takeover", "auto"), None)
    assert counts == {POLICY: ProposalCounts(accepted=2, overridden=2)}


def test_a_reply_with_several_actions_is_one_decision() -> None:
    steps = [
        each.model_copy(update={"batch": BatchPosition(index=index, size=3)})
        for index, each in enumerate(make_steps("accept", "accept", "accept"), 1)
    ]
    assert count_decisions([*steps, *make_steps("override")], None) == {
        POLICY: ProposalCounts(accepted=1, overridden=1)
    }


def test_a_success_counts_only_where_nobody_helped_and_a_failure_always() -> None:
    assert count_decisions(make_steps("accept", "auto"), True)[POLICY].succeeded == 1
    assert count_decisions(make_steps("accept", "override"), True)[POLICY].succeeded == 0
    assert count_decisions(make_steps("accept", "override"), False)[POLICY].failed == 1


def test_an_end_counts_for_the_policy_that_proposed_last() -> None:
    counts = count_decisions(
        [*make_steps("accept"), *make_steps("accept", policy=OTHER), *make_steps("takeover", policy=None)], False
    )
    assert counts == {POLICY: ProposalCounts(accepted=1), OTHER: ProposalCounts(accepted=1, failed=1)}


def test_nobody_is_counted_where_nobody_proposed() -> None:
    assert count_decisions(make_steps("override", policy=None), False) == {}
    assert count_decisions([], False) == {}
