"""Reading what a judging model replied: a score from 0 to 1, or why there is none; never a guess."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from vocabulary.base import Frozen
from vocabulary.judgements import Combine, Unsaid, Vote

BEFORE = " \t\r\n*_`\"'>#"
AFTER = " \t\r\n*_`\"'."
"""What a verdict may be dressed up in; a point before a number is its own."""
NUMBER = re.compile(r"^[+-]?\d+(\.\d+)?$")
THOUGHT_END = "</think>"
WORDS = {"yes": 1.0, "no": 0.0}


class Token(Frozen):
    """A sampled token and what else the server said stood at its place, with logprobs; itself among them."""

    text: str
    alternatives: tuple[tuple[str, float], ...] = ()


def vote_read(text: str, tokens: Sequence[Token] = (), finish_reason: str | None = None) -> Vote:
    """A reply as a vote. The verdict is its last line, or all of it, and all verdicts in it have to agree; the score
    is how likely the model found `yes` at that very place, where it says so. Never raises, whatever the text."""
    read = "cut_off" if finish_reason == "length" else _score(text, tokens)
    scored = {"unsaid": read} if isinstance(read, str) else {"score": read}
    return Vote.model_validate({**scored, "words": text, "finish_reason": finish_reason})


def combined(votes: Sequence[Vote], combine: Combine, asked: int) -> float | Unsaid:
    """What several votes come to, where `asked` were asked for; see `Combine`."""
    said = [vote.score for vote in votes if vote.score is not None]
    reasons = Counter[Unsaid](vote.unsaid for vote in votes if vote.unsaid is not None)
    reasons["missing"] += max(asked - len(votes), 0)
    reason = reasons.most_common(1)[0][0] if len(said) < asked else "undecided"
    match combine:
        case "mean":
            return fmean(said) if 2 * len(said) > asked else reason
        case "majority":
            yes = sum(score >= 0.5 for score in said)
            if 2 * max(yes, len(said) - yes) <= asked:
                return "undecided" if 2 * len(said) > asked else reason
            return 1.0 if 2 * yes > asked else 0.0
        case "unanimous":
            return min(said) if len(said) == asked else reason


def _score(text: str, tokens: Sequence[Token]) -> float | Unsaid:
    begin = text.rfind(THOUGHT_END) + len(THOUGHT_END) if THOUGHT_END in text else 0
    if "<think>" in text[begin:]:
        return "cut_off"
    stated = _stated(text, begin)
    values = {verdict.value for verdict in stated}
    if len(values) > 1 or any(WORDS.keys() <= set(re.findall(r"\w+", value)) for value in values):
        return "contradictory"
    if not stated or text[stated[-1].end :].strip(AFTER):
        return "unreadable"
    value = stated[-1].value
    if value in WORDS:
        return _likelihood(value, _token_at(text, tokens, stated[-1].place, value))
    if not NUMBER.match(value):
        return "unreadable"
    return float(value) if 0 <= float(value) <= 1 else "out_of_range"


class _Stated(NamedTuple):
    value: str
    place: int
    """Where it begins in the text."""
    end: int
    """Where its line ends."""


def _stated(text: str, begin: int) -> list[_Stated]:
    """Every verdict: what stands behind `Verdict:`, or a reply of one word."""
    found: list[_Stated] = []
    place = begin
    for line in text[begin:].splitlines(keepends=True):
        name, colon, rest = line.replace("：", ":").partition(":")
        place += len(line)
        if colon and name.strip(BEFORE).lower() == "verdict":
            value = rest.lstrip(BEFORE)
            found.append(_Stated(value.rstrip(AFTER).lower(), place - len(value), place))
    bare = text[begin:].lstrip(BEFORE)
    if not found and len(bare.split()) == 1:
        found.append(_Stated(bare.rstrip(AFTER).lower(), len(text) - len(bare), len(text)))
    return found


def _token_at(text: str, tokens: Sequence[Token], place: int, word: str) -> Token | None:
    """The token that decided: the one at the place of the word, else the last that is the word."""
    end = 0
    if "".join(token.text for token in tokens) == text:
        for token in tokens:
            end += len(token.text)
            if end > place:
                return token
    return next((token for token in reversed(tokens) if _word(token.text) == word), None)


def _likelihood(word: str, token: Token | None) -> float:
    """How likely `yes` was where the model said `word`, of `yes` and `no` alone."""
    mass = dict.fromkeys(WORDS, 0.0)
    for text, logprob in token.alternatives if token else ():
        if (said := _word(text)) in mass:
            mass[said] += math.exp(min(logprob, 0.0))
    total = sum(mass.values())
    return mass["yes"] / total if total and mass[word] else WORDS[word]


def _word(token: str) -> str:
    return token.strip(AFTER + ":：").lower()
