"""Samples say what the policy would have been asked, and what was done."""

from typing import Any

import pytest

from protocol.actions.types import CONTROL_KINDS, Action, Click, Drag, NoAction, Point, SetClipboard, Swipe, TypeText
from protocol.dialects.dialect import ImagePart, ParsedReply, ScreenSize, TextPart
from protocol.dialects.families import get_dialect, list_dialects
from protocol.training.replies import reply_lengths
from protocol.training.samples import training_samples
from protocol.trajectory.memory import HistoryBudget
from protocol.trajectory.observations import ActionError
from protocol.trajectory.proposals import WeightSpan
from protocol.trajectory.reviews import Fix, StepReview, StepVerdict
from protocol.trajectory.steps import BatchPosition, write_thought_later
from protocol.trajectory.trajectories import Trajectory
from tests.unit.protocol.examples import TASK, observation, proposal, spans, step, trajectory
from trainer.data.samples import sampled_decisions

DIALECT = get_dialect("ui_tars_1_5")
CLICK = Click(x=512, y=388)
TYPED = TypeText(text="final.txt\n")


@pytest.mark.parametrize("name", list_dialects())
def test_each_step_is_asked_and_answered_as_when_serving(name: str) -> None:
    dialect = get_dialect(name)
    whole = trajectory(CLICK, TYPED, capabilities=("click", "type_text"))
    first, second = training_samples(whole, dialect)
    kinds = CONTROL_KINDS | {"click", "type_text"}
    assert first.messages == dialect.render(TASK, (), observation("screen-0"), kinds=kinds)
    assert second.messages == dialect.render(TASK, whole.steps[:1], whole.steps[1].before, kinds=kinds)
    answer = dialect.parse(second.target, ScreenSize(width=1280, height=720))
    assert isinstance(answer, ParsedReply)
    assert (answer.thought, answer.action) == ("Thought of step 1", TYPED)
    assert (second.actor, second.decision, second.weight) == ("human", "override", 1.0)


def test_what_cannot_be_said_is_history_but_no_target() -> None:
    samples = list(training_samples(trajectory(CLICK, SetClipboard(text="ls"), TYPED), DIALECT))
    assert [sample.index for sample in samples] == [0, 2]
    texts = [part.text for message in samples[1].messages for part in message.content if isinstance(part, TextPart)]
    assert any("Copy “ls” to the clipboard" in text for text in texts)


def test_a_failed_or_unknown_act_is_no_target() -> None:
    failed = step(0, CLICK, error=ActionError(code="outcome_unknown", message="?"), after=None)
    samples = list(training_samples(trajectory(steps=(failed, step(1, TYPED))), DIALECT))
    assert [sample.index for sample in samples] == [1]


def test_a_teachers_words_are_taught_and_are_never_the_policys_own_samples() -> None:
    tokens = {"prompt_token_ids": (1, 2), "completion_token_ids": (3, 4), "logprobs": (-0.1, -0.2)}
    own = proposal(1, CLICK, **tokens)
    taught = own.model_copy(update={"policy": own.policy.model_copy(update={"teacher": True})})
    for offered, count in ((own, 1), (taught, 0)):
        done = step(0, CLICK, actor="policy", decision="accept", proposal_id=offered.id)
        whole = trajectory(steps=(done,)).model_copy(update={"proposals": ((offered,),)})
        assert len(list(sampled_decisions(whole))) == count
        assert [sample.index for sample in training_samples(whole, DIALECT)] == [0]


def test_what_was_drawn_is_told_whatever_came_of_it() -> None:
    wrong = ActionError(code="no_action", message="The reply holds no action.")
    lapse = step(0, NoAction(said="Hm."), decision="auto", error=wrong)
    failed = step(1, CLICK, decision="auto", error=wrong)
    whole = trajectory(steps=(lapse, failed, step(2, TYPED), step(3, CLICK, error=wrong)))
    assert [sample.index for sample in training_samples(whole, DIALECT)] == [2], "nobody is taught what went wrong"
    first, second, third = training_samples(whole, DIALECT, sampled_steps={0, 1})
    assert (first.index, first.target) == (0, "")
    assert (second.index, third.index) == (1, 2), "a person's act that failed is no sample of anybody's"
    texts = [part.text for message in second.messages for part in message.content if isinstance(part, TextPart)]
    assert texts[-2:] == ["Hm.", "The last action failed: The reply holds no action."]


def reviewed(verdict: StepVerdict | None = None, fix: Fix | None = None) -> dict[str, StepReview]:
    return {"review": StepReview(verdict=verdict, fix=fix)}


def test_a_reviewers_correction_is_the_target_and_what_was_done_is_history() -> None:
    fix = Fix(revision=1, thought="The name first.", action=TypeText(text="a"))
    failed = ActionError(code="outcome_unknown", message="?")
    for fields in ({}, {"error": failed}, {"thought_timing": "owed"}):
        corrected = step(0, CLICK, **reviewed("wrong_action", fix), **fields)
        first, second = training_samples(trajectory(steps=(corrected, step(1, TYPED))), DIALECT)
        answer = DIALECT.parse(first.target, ScreenSize(width=1280, height=720))
        assert isinstance(answer, ParsedReply)
        assert (answer.thought, answer.action) == ("The name first.", TypeText(text="a"))
    plain = list(training_samples(trajectory(steps=(step(0, CLICK, thought_timing="owed"), step(1, TYPED))), DIALECT))
    assert [second.messages] == [one.messages for one in plain]


@pytest.mark.parametrize("verdict", ["wrong_element", "wrong_action", "redundant", "hallucinated"])
def test_what_a_reviewer_found_wrong_is_history_but_no_target(verdict: StepVerdict) -> None:
    steps = (step(0, CLICK, **reviewed("right")), step(1, CLICK, **reviewed(verdict)), step(2, TYPED))
    assert [sample.index for sample in training_samples(trajectory(steps=steps), DIALECT)] == [0, 2]


def test_what_was_done_again_is_history_but_no_target() -> None:
    again, decided = step(0, CLICK, decision="again"), step(1, TYPED)
    (sample,) = training_samples(trajectory(steps=(again, decided)), DIALECT)
    (alone,) = list(training_samples(trajectory(steps=(step(0, CLICK), decided)), DIALECT))[1:]
    assert (sample.index, sample.messages) == (1, alone.messages)


def test_a_step_without_the_thought_it_owes_is_history_but_no_target() -> None:
    whole = trajectory(CLICK, TYPED)
    owed = whole.steps[0].model_copy(update={"thought": "", "thought_timing": "owed"})
    assert [
        sample.index for sample in training_samples(whole.model_copy(update={"steps": (owed, whole.steps[1])}), DIALECT)
    ] == [1]
    later = write_thought_later(owed, "I open it.")
    first, _ = training_samples(whole.model_copy(update={"steps": (later, whole.steps[1])}), DIALECT)
    assert "I open it." in first.target


def test_a_swipe_is_trained_as_the_family_says_it() -> None:
    swipe = Swipe(start=Point(x=100, y=600), end=Point(x=100, y=100))
    (sample,) = training_samples(trajectory(swipe), DIALECT)
    parsed = DIALECT.parse(sample.target, ScreenSize(width=1280, height=720))
    assert isinstance(parsed, ParsedReply)
    assert parsed.action == Drag(start=swipe.start, end=swipe.end)


def test_the_window_of_screens_is_kept() -> None:
    *_, last = training_samples(trajectory(*[CLICK] * 6), DIALECT, budget=HistoryBudget(images=2))
    assert sum(isinstance(part, ImagePart) for message in last.messages for part in message.content) == 2


def test_what_serving_forgets_is_forgotten() -> None:
    *_, last = training_samples(trajectory(*[CLICK] * 6), DIALECT, budget=HistoryBudget(images=1, tokens=0))
    assert [message.role for message in last.messages] == ["user", "user"]


def test_a_trajectory_without_recorded_capabilities_offers_everything() -> None:
    (sample,) = training_samples(trajectory(CLICK), DIALECT)
    assert sample.messages == DIALECT.render(TASK, (), observation("screen-0"))


def accepted(**fields: object) -> Trajectory:
    """One accepted step whose proposal has its tokens."""
    drawn: dict[str, object] = {"prompt_token_ids": (1, 2), "completion_token_ids": (3,), "logprobs": (-0.5,), **fields}
    offer = proposal(1, CLICK).model_copy(update=drawn)
    taken = step(0, CLICK, actor="policy", decision="accept", proposal_id=offer.id)
    return trajectory(steps=(taken, step(1, TYPED)), proposals=((offer,), ()))


def test_the_policys_own_words_come_as_tokens() -> None:
    (sampled,) = sampled_decisions(accepted(weight_versions=spans(v1=1)))
    assert (sampled.index, sampled.prompt_token_ids, sampled.completion_token_ids) == (0, (1, 2), (3,))
    assert (sampled.logprobs, sampled.weight_versions, sampled.exact) == ((-0.5,), spans(v1=1), True)


@pytest.mark.parametrize(
    ("told", "read", "exact"),
    [
        (spans(v1=2, v2=1), spans(v1=2, v2=1), True),
        (spans(v1=None), spans(v1=3), True),
        (spans(v1=None, v2=None), spans(v1=None, v2=None), False),
        ((), (WeightSpan(version="12", tokens=3),), True),
    ],
)
def test_it_is_known_which_weights_drew_each_token_or_nothing_is_compared(
    told: tuple[WeightSpan, ...], read: tuple[WeightSpan, ...], exact: bool
) -> None:
    drawn = {"completion_token_ids": (3, 4, 5), "logprobs": (-0.5, -0.5, -0.5)}
    (sampled,) = sampled_decisions(accepted(weight_versions=told, **drawn))
    assert (sampled.weight_versions, sampled.exact) == (read, exact)


@pytest.mark.parametrize("fields", [{"sampling": {"top_p": 0.9}}, {"sampling": {"top_k": 5}}])
def test_logprobs_that_cannot_be_compared_say_so(fields: dict[str, object]) -> None:
    (sampled,) = sampled_decisions(accepted(**fields))
    assert not sampled.exact


@pytest.mark.parametrize("fields", [{"prompt_token_ids": None}, {"logprobs": None}, {"logprobs": (-0.5, -0.5)}])
def test_tokens_that_are_not_whole_are_none(fields: dict[str, object]) -> None:
    assert list(sampled_decisions(accepted(**fields))) == []


def in_one_reply(*actions: Action, **fields: Any) -> Trajectory:
    """A reply that said several actions, with its tokens; `fields` are those of the last step."""
    said = proposal(1, actions[0], further_actions=actions[1:], **TOKENS)
    done = actions[: len(actions) - len(fields.get("not_done", ()))]
    steps = [
        step(index, action, decision="auto", proposal_id="p1", batch=BatchPosition(index=index + 1, size=len(actions)))
        for index, action in enumerate(done)
    ]
    steps[-1] = steps[-1].model_copy(update=fields)
    return trajectory(steps=tuple(steps), proposals=((said,), *((),) * (len(done) - 1)))


TOKENS = {"prompt_token_ids": (1,), "completion_token_ids": (2, 3), "logprobs": (-1.0, -2.0)}
WRONG = ActionError(code="invalid_action", message="There is no field.")


@pytest.mark.parametrize("fields", [{}, {"error": WRONG, "not_done": (CLICK,)}])
def test_a_reply_with_several_actions_is_one_decision(fields: dict[str, Any]) -> None:
    whole = in_one_reply(CLICK, TYPED, CLICK, **fields)
    assert [decision.index for decision in sampled_decisions(whole)] == [0]
    assert reply_lengths(whole) == (2, *(0 for _ in whole.steps[1:]))


def test_a_reply_of_which_a_step_was_taken_back_is_none() -> None:
    assert list(sampled_decisions(in_one_reply(CLICK, TYPED, undone=True))) == []


def test_the_policy_reads_which_of_its_actions_were_not_done() -> None:
    stopped = in_one_reply(CLICK, TYPED, CLICK, error=WRONG, not_done=(CLICK,)).steps
    messages = DIALECT.render(TASK, stopped, observation("screen-2"))
    assert messages[-1].content[0] == TextPart(
        text="The last action failed: There is no field.\nThe last action of your reply was not done."
    )
