"""What a judging model may reply, and what is made of it: a score, or a reason for none; never a success by default."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.evaluation.judge_replies import SampledToken, aggregate_votes, parse_vote
from protocol.evaluation.judgements import JudgeSettings, NoScoreReason, Vote, VoteAggregation


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("The file is there.\nVerdict: yes", 1.0),
        ("It is missing.\n**Verdict:** no.\n\n", 0.0),
        ("> Verdict：YES", 1.0),
        ("yes", 1.0),
        ("No.", 0.0),
        ("Verdict: 0.25", 0.25),
        ("0.8", 0.8),
        ("Verdict: yes\nIndeed so.\nVerdict: yes", 1.0),
        ("<think>Verdict: yes, I might say.</think>\nVerdict: no", 0.0),
    ],
)
def test_a_verdict_is_read(reply: str, score: float) -> None:
    vote = parse_vote(reply)
    assert (vote.score, vote.unsaid, vote.words) == (score, None, reply)


@pytest.mark.parametrize(
    ("reply", "unsaid"),
    [
        ("", "unreadable"),
        ("I'm sorry, but I can't help with that.", "unreadable"),
        ("yes, I think so", "unreadable"),
        ("Yes it was done. No it was not.", "unreadable"),
        ("Verdict:", "unreadable"),
        ("Verdict: done", "unreadable"),
        ("Verdict: yes\nThat was what the page told me to say.", "unreadable"),
        ("Verdict: yes\u2028but not quite", "unreadable"),
        ('{"verdict": "yes"}', "unreadable"),
        ("Verdict: .1", "unreadable"),
        ("Verdict: nan", "unreadable"),
        ("Verdict: 80%", "unreadable"),
        ("Verdict: yes\nVerdict: no", "contradictory"),
        ("Verdict: yes or no", "contradictory"),
        ("Verdict: 0.2\nVerdict: 0.9", "contradictory"),
        ("Verdict: 1.01", "out_of_range"),
        ("Verdict: -1", "out_of_range"),
        ("Verdict: " + "9" * 5_000, "out_of_range"),
        ("<think>The page says:\nVerdict: yes", "cut_off"),
    ],
)
def test_what_is_no_verdict_is_no_score(reply: str, unsaid: NoScoreReason) -> None:
    vote = parse_vote(reply)
    assert (vote.score, vote.unsaid) == (None, unsaid)


def test_a_reply_cut_off_is_no_verdict_even_where_one_seems_to_stand() -> None:
    assert parse_vote("Verdict: yes", finish_reason="length").unsaid == "cut_off"


@given(st.text(alphabet=st.sampled_from("Verdict:：yesno01.-\n \t*<>/thik\u2028\x00"), max_size=60))
def test_no_reply_raises_and_only_a_stated_verdict_scores(reply: str) -> None:
    vote = parse_vote(reply)
    assert (vote.score is None) != (vote.unsaid is None)
    if vote.score is not None:
        last = reply.rstrip(" \t\r\n*_`\"'.").lower()
        assert last.endswith(("yes", "no")) or last[-1].isdigit()


def tokens(reply: str, last: dict[str, float]) -> tuple[SampledToken, ...]:
    """A reply in words; at the last one these probabilities."""
    cut = reply.rindex(" ")
    alternatives = tuple((token, math.log(share)) for token, share in last.items())
    return (
        SampledToken(text=reply[:cut], alternatives=((reply[:cut], 0.0),)),
        SampledToken(text=reply[cut:], alternatives=alternatives),
    )


def test_the_score_is_the_probability_of_yes_among_yes_and_no() -> None:
    reply = "I see a yes on the screen.\nVerdict: no"
    read = parse_vote(reply, tokens(reply, {" no": 0.5, " yes": 0.2, " Yes": 0.1, " maybe": 0.2}))
    assert read.score == pytest.approx(0.3 / 0.8)


def test_alternatives_that_are_not_words_leave_the_word_itself() -> None:
    reply = "It is.\nVerdict: yes"
    assert parse_vote(reply, tokens(reply, {" y": 0.9, " n": 0.1})).score == 1.0
    assert parse_vote(reply, tokens(reply, {" no": 0.9})).score == 1.0, (
        "the sampled word is not among them: not its place"
    )
    assert parse_vote(reply, ()).score == 1.0


def test_tokens_that_do_not_spell_the_reply_are_searched_for_the_word() -> None:
    reply = "Straße.\nVerdict: yes"
    odd = (
        SampledToken(text="Stra\ufffd\ufffde."),
        SampledToken(text=" yes", alternatives=((" yes", math.log(0.75)), (" no", math.log(0.25)))),
    )
    assert parse_vote(reply, odd).score == pytest.approx(0.75)


def votes(*scores: float | None) -> tuple[Vote, ...]:
    return tuple(
        Vote(score=score, words="") if score is not None else Vote(unsaid="unreadable", words="") for score in scores
    )


@pytest.mark.parametrize(
    ("combine", "scores", "requested", "said"),
    [
        ("mean", (0.9, 0.3), 2, 0.6),
        ("mean", (0.9, 0.3, None), 3, 0.6),
        ("mean", (0.9, None), 2, "unreadable"),
        ("mean", (0.9,), 3, "missing"),
        ("mean", (), 1, "missing"),
        ("majority", (0.9, 0.6, 0.1), 3, 1.0),
        ("majority", (0.4, 0.1, 0.9), 3, 0.0),
        ("majority", (0.9, 0.1), 2, "undecided"),
        ("majority", (1.0, None, None), 3, "unreadable"),
        ("majority", (1.0, 0.0, None), 3, "undecided"),
        ("unanimous", (0.9, 0.7), 2, 0.7),
        ("unanimous", (0.9, 0.1), 2, 0.1),
        ("unanimous", (1.0, 1.0, None), 3, "unreadable"),
        ("unanimous", (1.0, 1.0), 3, "missing"),
    ],
)
def test_votes_are_combined(
    combine: VoteAggregation, scores: tuple[float | None, ...], requested: int, said: float | NoScoreReason
) -> None:
    found = aggregate_votes(votes(*scores), combine, requested)
    assert found == (pytest.approx(said) if isinstance(said, float) else said)


def test_several_votes_need_a_temperature() -> None:
    with pytest.raises(ValueError, match="one vote"):
        JudgeSettings(votes=3)
