"""Parses a judging model's reply: a score from 0 to 1, or why there is none; never a guess."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from protocol.base import FrozenModel
from protocol.evaluation.judgements import NoScoreReason, Vote, VoteAggregation

VERDICT_PREFIX_CHARACTERS = " \t\r\n*_`\"'>#"
VERDICT_SUFFIX_CHARACTERS = " \t\r\n*_`\"'."
"""What a verdict may be dressed up in; a point before a number is its own."""
NUMBER = re.compile(r"^[+-]?\d+(\.\d+)?$")
THOUGHT_END = "</think>"
VERDICT_SCORES = {"yes": 1.0, "no": 0.0}


class SampledToken(FrozenModel):
    """A sampled token and what else the server said stood at its place, with logprobs; itself among them."""

    text: str
    alternatives: tuple[tuple[str, float], ...] = ()


def parse_vote(text: str, tokens: Sequence[SampledToken] = (), finish_reason: str | None = None) -> Vote:
    """A reply as a vote. The verdict is its last line, or all of it, and all verdicts in it have to agree; the score
    is how likely the model found `yes` at that very place, where it says so. Never raises, whatever the text."""
    read = "cut_off" if finish_reason == "length" else _score(text, tokens)
    scored = {"unsaid": read} if isinstance(read, str) else {"score": read}
    return Vote.model_validate({**scored, "words": text, "finish_reason": finish_reason})


def aggregate_votes(votes: Sequence[Vote], combine: VoteAggregation, requested: int) -> float | NoScoreReason:
    """What several votes come to, where `asked` were asked for; see `VoteAggregation`."""
    valid = [vote.score for vote in votes if vote.score is not None]
    reasons = Counter[NoScoreReason](vote.unsaid for vote in votes if vote.unsaid is not None)
    reasons["missing"] += max(requested - len(votes), 0)
    reason = reasons.most_common(1)[0][0] if len(valid) < requested else "undecided"
    match combine:
        case "mean":
            return fmean(valid) if 2 * len(valid) > requested else reason
        case "majority":
            yes = sum(score >= 0.5 for score in valid)
            if 2 * max(yes, len(valid) - yes) <= requested:
                return "undecided" if 2 * len(valid) > requested else reason
            return 1.0 if 2 * yes > requested else 0.0
        case "unanimous":
            return min(valid) if len(valid) == requested else reason


def _score(text: str, tokens: Sequence[SampledToken]) -> float | NoScoreReason:
    begin = text.rfind(THOUGHT_END) + len(THOUGHT_END) if THOUGHT_END in text else 0
    if "<think>" in text[begin:]:
        return "cut_off"
    stated = _find_verdicts(text, begin)
    values = {verdict.value for verdict in stated}
    if len(values) > 1 or any(VERDICT_SCORES.keys() <= set(re.findall(r"\w+", value)) for value in values):
        return "contradictory"
    if not stated or text[stated[-1].end :].strip(VERDICT_SUFFIX_CHARACTERS):
        return "unreadable"
    value = stated[-1].value
    if value in VERDICT_SCORES:
        return _likelihood(value, _token_at(text, tokens, stated[-1].place, value))
    if not NUMBER.match(value):
        return "unreadable"
    return float(value) if 0 <= float(value) <= 1 else "out_of_range"


class _StatedVerdict(NamedTuple):
    value: str
    place: int
    """Where it begins in the text."""
    end: int
    """Where its line ends."""


def _find_verdicts(text: str, begin: int) -> list[_StatedVerdict]:
    """All verdicts: the text after `Verdict:`, or a reply of one word."""
    found: list[_StatedVerdict] = []
    place = begin
    for line in text[begin:].splitlines(keepends=True):
        name, colon, rest = line.replace("：", ":").partition(":")
        place += len(line)
        if colon and name.strip(VERDICT_PREFIX_CHARACTERS).lower() == "verdict":
            value = rest.lstrip(VERDICT_PREFIX_CHARACTERS)
            found.append(_StatedVerdict(value.rstrip(VERDICT_SUFFIX_CHARACTERS).lower(), place - len(value), place))
    bare = text[begin:].lstrip(VERDICT_PREFIX_CHARACTERS)
    if not found and len(bare.split()) == 1:
        found.append(_StatedVerdict(bare.rstrip(VERDICT_SUFFIX_CHARACTERS).lower(), len(text) - len(bare), len(text)))
    return found


def _token_at(text: str, tokens: Sequence[SampledToken], place: int, word: str) -> SampledToken | None:
    """The token that decided: the one at the place of the word, else the last that is the word."""
    end = 0
    if "".join(token.text for token in tokens) == text:
        for token in tokens:
            end += len(token.text)
            if end > place:
                return token
    return next((token for token in reversed(tokens) if _normalise_word(token.text) == word), None)


def _likelihood(word: str, token: SampledToken | None) -> float:
    """How likely `yes` was where the model said `word`, of `yes` and `no` alone."""
    mass = dict.fromkeys(VERDICT_SCORES, 0.0)
    for text, logprob in token.alternatives if token else ():
        if (valid := _normalise_word(text)) in mass:
            mass[valid] += math.exp(min(logprob, 0.0))
    total = sum(mass.values())
    return mass["yes"] / total if total and mass[word] else VERDICT_SCORES[word]


def _normalise_word(token: str) -> str:
    return token.strip(VERDICT_SUFFIX_CHARACTERS + ":：").lower()
