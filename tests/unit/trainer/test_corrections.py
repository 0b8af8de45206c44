"""A person's corrections as weights, pairs and judgements."""

from typing import Any

import pytest

from protocol.actions.types import Action, Click, TypeText
from protocol.training.preferences import extract_preferences, extract_unpaired_preferences
from protocol.trajectory.observations import ActionError
from protocol.trajectory.proposals import Proposal
from protocol.trajectory.reviews import Fix, StepReview
from protocol.trajectory.steps import BatchPosition
from protocol.trajectory.trajectories import Trajectory
from tests.unit.protocol.examples import proposal, step, trajectory
from trainer.data.corrections import (
    Role,
    class_weights,
    intervention_onsets,
    intervention_weights,
    share_weights,
    step_roles,
    step_weights,
)

HERE, NEAR, THERE, ELSEWHERE = Click(x=100, y=100), Click(x=104, y=97), Click(x=300, y=100), Click(x=500, y=600)
ROLES: tuple[Role, ...] = ("own",) * 6 + ("before",) * 2 + ("correction",) * 2


def decided(*decisions: str) -> Trajectory:
    """An attempt by its decisions; `demonstration` is a person's step where no policy proposed."""
    fields: dict[str, dict[str, Any]] = {"demonstration": {"decision": "takeover", "policy": None}}
    steps = tuple(step(index, HERE, **fields.get(name, {"decision": name})) for index, name in enumerate(decisions))
    return trajectory(steps=steps, proposals=tuple(() for _ in steps))


def step_with_proposals(done: Action, *row: Proposal, **fields: Any) -> Trajectory:
    """One step with what it was offered."""
    return trajectory(steps=(step(0, done, **fields),), proposals=(row,))


def pairs(whole: Trajectory) -> list[tuple[Action, Action, str]]:
    return [(one.chosen.action, one.rejected.action, one.source) for one in extract_preferences(whole)]


def rated_actions(whole: Trajectory) -> list[tuple[Action, bool, str]]:
    return [(one.candidate.action, one.desirable, one.source) for one in extract_unpaired_preferences(whole)]


def test_each_step_has_its_role() -> None:
    whole = decided("demonstration", "auto", "accept", "accept", "override", "takeover", "auto", "edit", "auto")
    assert step_roles(whole, window=2) == (
        "demonstration",
        "own",
        "before",
        "before",
        "correction",
        "correction",
        "own",
        "correction",
        "own",
    )
    assert [index for index, starts in enumerate(intervention_onsets(whole)) if starts] == [4], (
        "another thought is no other act"
    )
    assert step_roles(whole)[:5] == ("demonstration", "before", "before", "before", "correction")


def test_weights_are_over_the_whole_data_set() -> None:
    first, second = (decided(*row).model_copy(update={"id": name}) for name, row in
                     (("a", ("auto", "auto")), ("b", ("demonstration", "override"))))  # fmt: skip
    weights = step_weights([first, second], "interventions")
    assert weights == {"a": {0: 4 / 6, 1: 4 / 6}, "b": {0: 4 / 6, 1: 2.0}}
    assert step_weights([first, second], "none") == {"a": {0: 1.0, 1: 1.0}, "b": {0: 1.0, 1: 1.0}}
    assert step_weights([second], "classes", {"correction": 5.0}) == {"b": {0: 1.0, 1: 5.0}}
    shares = step_weights([first, second], "shares")
    assert shares["b"][1] == pytest.approx(2.0)
    assert sum(weight for each in shares.values() for weight in each.values()) == pytest.approx(4)


def test_what_nothing_is_learned_from_has_no_role_and_no_share() -> None:
    whole = decided("again", "auto", "auto", "override")
    failed = whole.steps[1].model_copy(update={"error": ActionError(code="no_action", message="?")})
    left = whole.model_copy(update={"steps": (whole.steps[0], failed, *whole.steps[2:])})
    assert step_roles(left) == (None, None, "before", "correction")
    assert step_weights([left], "interventions") == {left.id: {2: 1.0, 3: 1.0}}
    assert intervention_onsets(left) == (False, False, False, True)


def test_what_reviewers_corrected_is_a_correction_and_what_they_rejected_is_nothing() -> None:
    fix = Fix(revision=1, thought="There.", action=THERE)
    reviews = (StepReview(fix=fix), StepReview(verdict="redundant"), StepReview(verdict="right"), None)
    whole = decided("auto", "accept", "accept", "override")
    steps = tuple(one.model_copy(update={"review": said}) for one, said in zip(whole.steps, reviews, strict=True))
    left = whole.model_copy(update={"steps": steps})
    assert step_roles(left) == ("correction", None, "before", "correction")


def test_what_was_taken_back_has_no_role() -> None:
    whole = decided("auto", "override", "auto")
    undone = whole.steps[1].model_copy(update={"undone": True})
    left = whole.model_copy(update={"steps": (whole.steps[0], undone, whole.steps[2])})
    assert step_roles(left) == ("own", "own")
    assert not any(intervention_onsets(left))


def test_corrections_weigh_as_much_as_all_else() -> None:
    weights = intervention_weights(ROLES)
    assert weights == (1.0,) * 8 + (4.0,) * 2
    assert sum(weights[8:]) == sum(weights[:8])
    scaled = intervention_weights(ROLES, mean_one=True)
    assert scaled == (10 / 16,) * 8 + (10 / 4,) * 2
    assert sum(scaled) == pytest.approx(10)


@pytest.mark.parametrize("roles", [(), ("own",) * 3, ("correction",) * 3])
def test_where_there_is_nothing_to_weigh_against_all_weigh_one(roles: tuple[Role, ...]) -> None:
    for weigh in (intervention_weights, share_weights):
        assert weigh(roles) == pytest.approx((1.0,) * len(roles))


def test_each_role_has_its_share() -> None:
    roles: tuple[Role, ...] = (*ROLES, "demonstration", "demonstration")
    weights = share_weights(roles)
    assert sum(weights) == pytest.approx(12)
    total = {role: sum(w for w, r in zip(weights, roles, strict=True) if r == role) / 12 for role in set(roles)}
    assert total == pytest.approx(
        {"demonstration": 2 / 12, "before": 0.002, "correction": 0.5, "own": 1 - 2 / 12 - 0.502}
    )
    assert weights[-1] == pytest.approx(1), "a demonstration is as heavy as it was"


def test_shares_add_up_where_the_policy_did_nothing_well() -> None:
    weights = share_weights(("before", "correction", "correction"), before=0.1)
    assert weights == pytest.approx((0.1 / 0.6 * 3, 0.5 / 0.6 * 1.5, 0.5 / 0.6 * 1.5))


def test_a_role_may_only_be_weighed_down() -> None:
    assert class_weights(("own", "before", "correction"), {"before": 0.1}) == (1.0, 0.1, 1.0)
    assert class_weights(("demonstration", "own", "before", "correction")) == (10.0, 1.0, 0.1, 10.0)
    with pytest.raises(ValueError, match="befor"):
        class_weights(("own",), {"befor": 0.1})  # type: ignore[dict-item]


def test_a_reviewers_correction_is_above_what_was_done_and_offered() -> None:
    review = StepReview(verdict="wrong_element", fix=Fix(revision=1, thought="There.", action=THERE))
    row = (proposal(1, HERE), proposal(2, ELSEWHERE), proposal(3, THERE))
    whole = step_with_proposals(HERE, *row, decision="accept", proposal_id="p1", review=review)
    assert pairs(whole) == [(THERE, HERE, "mark"), (THERE, ELSEWHERE, "accept")]
    assert rated_actions(whole) == [(THERE, True, "accept"), (HERE, False, "mark")]
    alone = step_with_proposals(HERE, *row, decision="auto", proposal_id="p1", review=review)
    assert pairs(alone) == [(THERE, HERE, "mark")], "nobody chose among the others"
    thought = StepReview(fix=Fix(revision=1, thought="Better said.", action=NEAR))
    assert pairs(step_with_proposals(HERE, *row[:2], review=thought)) == [(NEAR, ELSEWHERE, "override")]


def test_what_a_reviewer_rejected_is_above_nothing() -> None:
    review = StepReview(verdict="wrong_action")
    whole = step_with_proposals(HERE, proposal(1, THERE), proposal(2, ELSEWHERE, mark="acceptable"), review=review)
    assert pairs(whole) == [(ELSEWHERE, HERE, "mark")]
    assert rated_actions(whole) == [(ELSEWHERE, True, "mark"), (HERE, False, "mark"), (THERE, False, "override")]


def test_what_a_person_did_is_above_what_they_were_offered() -> None:
    whole = step_with_proposals(HERE, proposal(1, THERE), proposal(2, ELSEWHERE))
    assert pairs(whole) == [(HERE, THERE, "override"), (HERE, ELSEWHERE, "override")]
    (first, _) = extract_preferences(whole)
    assert (first.chosen.proposal, first.chosen.thought) == (None, "Thought of step 0")
    assert first.rejected.proposal == whole.proposals[0][0]
    assert rated_actions(whole) == [
        (HERE, True, "override"),
        (THERE, False, "override"),
        (ELSEWHERE, False, "override"),
    ]


def test_an_accepted_candidate_is_above_the_others_in_its_own_words() -> None:
    whole = step_with_proposals(
        HERE, proposal(1, HERE), proposal(2, THERE), decision="accept", actor="policy", proposal_id="p1"
    )
    assert pairs(whole) == [(HERE, THERE, "accept")]
    (pair,) = extract_preferences(whole)
    assert pair.chosen.proposal == whole.proposals[0][0]
    assert rated_actions(whole) == [(HERE, True, "accept")], "to accept one says nothing of the others"


def test_a_reply_with_several_actions_is_no_candidate() -> None:
    several = proposal(1, THERE, further_actions=(ELSEWHERE,))
    assert pairs(step_with_proposals(HERE, several, proposal(2, ELSEWHERE))) == [(HERE, ELSEWHERE, "override")]
    taken = {"decision": "accept", "proposal_id": "p1", "batch": BatchPosition(index=1, size=2)}
    whole = step_with_proposals(THERE, several, proposal(2, ELSEWHERE), **taken)
    assert (pairs(whole), rated_actions(whole)) == ([], [])


def test_an_act_whose_thought_is_owed_is_no_candidate() -> None:
    whole = step_with_proposals(HERE, proposal(1, THERE), thought="", thought_timing="owed")
    assert (pairs(whole), rated_actions(whole)) == ([], [(THERE, False, "override")])


def test_what_means_the_same_is_no_pair() -> None:
    assert pairs(step_with_proposals(HERE, proposal(1, NEAR), proposal(2, THERE), proposal(3, Click(x=301, y=99)))) == [
        (HERE, THERE, "override")
    ]
    assert pairs(step_with_proposals(HERE, proposal(1, NEAR), decision="edit")) == []
    strict = extract_preferences(step_with_proposals(HERE, proposal(1, NEAR)), tolerance=0)
    assert [one.rejected.action for one in strict] == [NEAR]


def test_marks_say_more_than_what_was_done() -> None:
    typed = TypeText(text="a")
    row = (proposal(1, THERE), proposal(2, ELSEWHERE), proposal(3, typed))
    whole = step_with_proposals(HERE, *row, acceptable_ids=("p1",), wrong_ids=("p2",))
    assert pairs(whole) == [(HERE, ELSEWHERE, "mark"), (THERE, ELSEWHERE, "mark"), (HERE, typed, "override")]
    assert rated_actions(whole) == [
        (HERE, True, "override"),
        (THERE, True, "mark"),
        (ELSEWHERE, False, "mark"),
        (typed, False, "override"),
    ]


def test_a_mark_on_the_candidate_itself_counts_too() -> None:
    whole = step_with_proposals(HERE, proposal(1, THERE, mark="acceptable"), proposal(2, ELSEWHERE, mark="wrong"))
    assert pairs(whole) == [(HERE, ELSEWHERE, "mark"), (THERE, ELSEWHERE, "mark")]


def test_an_unmarked_twin_does_not_hide_a_mark() -> None:
    whole = step_with_proposals(HERE, proposal(1, THERE), proposal(2, Click(x=301, y=99)), wrong_ids=("p2",))
    assert [source for _, _, source in pairs(whole)] == ["mark"]


def test_an_act_that_failed_is_above_nothing() -> None:
    error = ActionError(code="outcome_unknown", message="?")
    row = (proposal(1, THERE), proposal(2, ELSEWHERE))
    whole = step_with_proposals(HERE, *row, error=error, after=None, acceptable_ids=("p1",), wrong_ids=("p2",))
    assert pairs(whole) == [(THERE, ELSEWHERE, "mark")]
    assert rated_actions(whole) == [(THERE, True, "mark"), (ELSEWHERE, False, "mark")]


def test_what_cannot_be_read_and_what_nobody_judged_is_no_pair() -> None:
    assert pairs(step_with_proposals(HERE, proposal(1, None))) == []
    alone = step_with_proposals(
        HERE, proposal(1, HERE), proposal(2, THERE), decision="auto", actor="policy", proposal_id="p1"
    )
    assert pairs(alone) == []
    assert rated_actions(alone) == []
