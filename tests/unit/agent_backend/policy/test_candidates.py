"""Replies become candidates: merged, weighed, ranked; unreadable ones are shown last."""

import math

import pytest

from agent_backend.policy.candidates import build_proposals
from agent_backend.policy.samples import Sample, Samples
from protocol.actions.types import Click, Wait
from protocol.dialects.dialect import ParsedReply, UnparsedReply
from protocol.trajectory.proposals import ParseError, PolicyRef, Proposal

REF = PolicyRef(name="p", revision="1", dialect="d")


def parse(text: str) -> ParsedReply | UnparsedReply:
    """`x,y` is a click, `wait` waits, `;` stands between two, all else cannot be read."""
    if ";" in text:
        first, second = (parse(part) for part in text.split(";"))
        assert isinstance(first, ParsedReply)
        assert isinstance(second, ParsedReply)
        return first.model_copy(update={"further_actions": second.actions})
    if text == "wait":
        return ParsedReply(thought="patience", action=Wait(), action_text=text)
    numbers = text.split(",")
    if len(numbers) != 2:
        return UnparsedReply(thought="", action_text=text, error=ParseError(code="unknown", message="no action"))
    return ParsedReply(thought=f"at {text}", action=Click(x=int(numbers[0]), y=int(numbers[1])), action_text=text)


def offered(*replies: tuple[str, list[float]]) -> tuple[Proposal, ...]:
    samples = Samples(prompt_token_ids=[1, 2])
    for index, (text, logprobs) in enumerate(replies):
        samples.by_index[index] = Sample(text=text, token_ids=list(range(len(logprobs))), logprobs=logprobs)
    return build_proposals(samples, parse, policy=REF, sampling={"n": len(replies)}, latency_ms=3.0)


def test_likelihood_is_the_share_of_weights() -> None:
    best, second = offered(("wait", [math.log(0.2)]), ("10,10", [math.log(0.6), math.log(0.6)]))
    assert (best.action, second.action) == (Click(x=10, y=10), Wait())
    assert best.likelihood == pytest.approx(0.75)
    assert second.likelihood == pytest.approx(0.25)
    assert (best.rank, second.rank) == (1, 2)


def test_equivalent_actions_are_one_candidate_that_speaks_with_its_likeliest_reply() -> None:
    (only,) = offered(("10,10", [-2.0]), ("12,9", [-1.0, -1.0]))
    assert only.count == 2
    assert only.action == Click(x=12, y=9)
    assert only.likelihood == pytest.approx(1.0)
    assert (only.completion_token_ids, only.logprobs) == ((0, 1), (-1.0, -1.0))
    assert only.prompt_token_ids == (1, 2)


def test_replies_with_several_actions_agree_where_all_do() -> None:
    first, second, third = offered(
        ("10,10;wait", [-1.0]), ("11,9;wait", [-1.1]), ("10,10", [-2.0]), ("wait;10,10", [-3.0])
    )
    assert (first.actions, first.count) == ((Click(x=10, y=10), Wait()), 2)
    assert (second.actions, second.count) == ((Click(x=10, y=10),), 1)
    assert third.actions == (Wait(), Click(x=10, y=10))


def test_two_votes_outweigh_one_as_sure() -> None:
    best, _ = offered(("wait", [-1.0]), ("10,10", [-1.0]), ("11,11", [-1.0]))
    assert best.action == Click(x=10, y=10)
    assert best.likelihood == pytest.approx(2 / 3)


def test_without_logprobs_votes_decide() -> None:
    best, second = offered(("wait", []), ("10,10", []), ("11,11", []))
    assert (best.count, second.count) == (2, 1)
    assert best.likelihood is None
    assert best.completion_token_ids is None


def test_unreadable_replies_come_last_with_their_error() -> None:
    first, second, third = offered(("gibberish", [-0.1]), ("noise", [-0.2]), ("wait", [-9.0]))
    assert first.action == Wait()
    assert first.likelihood == pytest.approx(1.0)
    assert [p.raw_text for p in (second, third)] == ["gibberish", "noise"]
    assert second.error is not None
    assert (second.action, second.likelihood) == (None, None)


def test_the_same_unreadable_text_is_shown_once() -> None:
    (only,) = offered(("noise", [-1.0]), ("noise", [-1.0]))
    assert only.count == 2


def test_no_reply_is_no_candidate() -> None:
    assert offered() == ()


def test_impossible_logprobs_do_not_break_the_ranking() -> None:
    best, _ = offered(("wait", [-1e9]), ("noise", [-1.0]))
    assert best.likelihood is None, "next to certain noise nothing can be said of it"
    best, worst = offered(("wait", [-1.0]), ("10,10", [-1e9]))
    assert best.likelihood == pytest.approx(1.0)
    assert worst.likelihood == pytest.approx(0.0)


def test_all_replies_of_a_candidate_are_kept_as_tokens() -> None:
    (only,) = offered(("10,10", [-2.0]), ("12,9", [-1.0, -1.0]))
    (other,) = only.others
    assert (other.token_ids, other.logprobs) == ((0,), (-2.0,))


def test_what_is_kept_of_replies_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_backend.policy.candidates.MAX_OTHER_TOKENS", 3)
    (only,) = offered(*[("wait", [-1.0, -1.0])] * 4)
    assert (only.count, len(only.others)) == (4, 1)


def test_over_several_temperatures_votes_decide_and_the_coolest_speaks() -> None:
    samples = Samples()
    drawn = [("10,10", -0.1, 1.5), ("wait", -3.0, 1.5), ("wait", -1.0, 0.5), ("20,20", -0.2, 0.5)]
    for index, (text, logprob, temperature) in enumerate(drawn):
        samples.by_index[index] = Sample(text=text, token_ids=[index], logprobs=[logprob], temperature=temperature)
    best, second, third = build_proposals(samples, parse, policy=REF, sampling={"temperature": 0.8}, latency_ms=3.0)
    assert (best.action, best.count) == (Wait(), 2)
    assert (second.action, third.action) == (Click(x=20, y=20), Click(x=10, y=10))
    assert best.sampling["temperature"] == 0.5
    assert [(other.token_ids, other.temperature) for other in best.others] == [((1,), 1.5)]
    assert best.likelihood is None, "their logprobs are of several distributions"
