"""Which task texts say the same in other words. Pure functions.

They do where their literals are equal (quoted texts, numbers, dates, file names and addresses, names), their negations
are about the same, no act differs from another that is known, and nothing stands in place of something else: one of
them may say a little more, but where both have words that the other lacks, these are verbs for one act. Words that
differ in politeness, order and inflection count as equal. English words and Chinese characters are understood; of other
languages words are compared as they are.
"""

import re
from collections import Counter
from dataclasses import dataclass, replace
from enum import Enum, auto

from protocol.wordings.lists import (
    CHINESE_LIGHT,
    CHINESE_NEGATIONS,
    CHINESE_VERBS,
    ENGLISH_VERBS,
    IRREGULAR_VERBS,
    MONTHS,
    NEGATIONS,
    NUMBER_WORDS,
    OBJECTS_BEGINNINGS,
    OPPOSITES,
    QUESTION_ACTS,
    SMALL_TALK,
    STOP_WORDS,
    SUBJECTS_VERBS,
    WEAK_ACTS,
    WEEKDAYS,
)

MIN_SIMILARITY = 0.4
"""Texts that say the same have at least this one."""
MAX_ADDED_SHARE = 0.5
"""Words that one text alone may have, of those that both have."""
MAX_ASIDE = 7
"""Words or Chinese characters."""
MAX_NEGATED = 30
"""Chinese characters behind a negation that are read."""
TAKEN = "§"
"""Stands where a literal was."""
_LOCATION = re.compile(r"\W*(?:in|on|at|from|to|for|with|by|into|onto|under|inside|within|using|of)\b", re.IGNORECASE)
_SWITCHED = re.compile(r"\b(?:turn|switch)(?:ed|ing|es|s)?\b((?:\s+[\w-]+){0,4}?)\s+(on|off)\b", re.IGNORECASE)
_LIGHT_VERB = re.compile(r"\b(?:put|set|make|let|get|give|go|take|use)\b|\b(?:it|them)\W*$", re.IGNORECASE)
_CLAUSE = re.compile(r"(?<=[.!?:;])\s|(?<=[。！？：；，])|(?:(?<=^)|(?<=[.!?]\s))(?=(?i:if|when)\b)|,(?=\s)")
_QUOTED = re.compile(r"[“\"「『]([^”\"」』]*)[”\"」』]|(?<!\w)['‘]([^'’]+)['’](?!\w)")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|\S+@\S+\.\w+|[\w~./-]*[/\\][\w./-]+|\b[\w-]+\.[A-Za-z]\w{0,4}\b")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|[.!?:;,，。！？：；、§]")
_CHINESE = re.compile(r"[一-鿿]")
_ENDING = re.compile(r"(?<=\w{3})(?:ies|es|s|ied|ed|ing)$")
_LIGHT = re.compile("|".join(sorted(CHINESE_LIGHT, key=len, reverse=True)))
_NEGATED = re.compile("|".join(CHINESE_NEGATIONS))
_VERB_OF = {verb: f"<{line[0]}>" for line in CHINESE_VERBS for verb in line}
_CHINESE_VERB = re.compile("|".join(sorted(_VERB_OF, key=len, reverse=True)))


class _Place(Enum):
    """Where in a clause a word stands; JOINED is behind a comma or a conjunction."""

    BEGINNING = auto()
    JOINED = auto()
    INSIDE = auto()


_PLACE_BEHIND = {word: _Place.JOINED for word in ("and", "then", "to", ",")} | {
    word: _Place.BEGINNING for word in ("please", "you", "kindly")
}
_PLACE_BEHIND[TAKEN] = _Place.INSIDE


def _stem(word: str) -> str:
    """A word without its ending, alike for all its forms in most cases."""
    word = word.lower().removesuffix("'s")
    lower = IRREGULAR_VERBS.get(word, word)
    stem = _ENDING.sub(lambda match: "y" if match[0].startswith("ie") else "", lower)
    if stem != lower and len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
        stem = stem[:-1]  # cropped, planned
    return stem.removesuffix("e") if len(stem) > 3 else stem


_WEAK = frozenset(f"<{verb}>" for verb in WEAK_ACTS)
_QUESTION_VERBS = frozenset(f"<{verb}>" for verb in QUESTION_ACTS)
_ACT_OF = {_stem(verb): f"<{line[0]}>" for line in ENGLISH_VERBS for verb in line}


@dataclass(frozen=True)
class Wording:
    """A text as it is compared.

    Attributes:
        literals: What must be equal, with how often it stands there.
        names: Words that stand capitalised within a sentence.
        words: Content words, each by its stem, and Chinese characters.
        acts: Known verbs, by the first of their line.
        leading: Content words where the verb of an imperative stands: first in a sentence, or behind "and" or a comma
            with an object behind them.
        negated: What stands behind negations.
        opposites: Words that another one is the opposite of, such as "before".
        asides: Words of the first and the last clause where these have no literal, known act or negation: "if you have
            a minute", "cheers". They count as nothing where the other text has none of them.
    """

    literals: Counter[str]
    names: frozenset[str]
    words: frozenset[str]
    acts: frozenset[str]
    leading: frozenset[str]
    negated: frozenset[str]
    opposites: frozenset[str] = frozenset()
    asides: tuple[frozenset[str], ...] = ()


def read_wording(text: str) -> Wording:
    """What a text says, apart from how it is put."""
    literals, text = _take_literals(re.sub(SMALL_TALK, " ", text, flags=re.IGNORECASE))
    text = _SWITCHED.sub(lambda match: f"{'enable' if match[2].lower() == 'on' else 'disable'} {match[1]}", text)
    clauses = [clause for clause in _CLAUSE.split(text) if clause.strip()]
    ends = {clauses[0], clauses[-1]} if len(clauses) > 1 else set[str]()
    asides = [_read_clauses(clause, Counter()) for clause in ends if _may_be_aside(clause)]
    return replace(
        _read_clauses(text, literals),
        opposites=frozenset(OPPOSITES.keys() & {*re.findall(r"[a-z]+", text.lower()), *_CHINESE.findall(text)}),
        asides=tuple(one.words for one in asides if not (one.acts or one.negated or one.names)),
    )


def _may_be_aside(clause: str) -> bool:
    return (
        TAKEN not in clause
        and len(clause.split()) <= MAX_ASIDE
        and len(_CHINESE.findall(clause)) <= MAX_ASIDE
        and not re.search("[里上中内在把将]", clause)
        and not _LOCATION.match(clause)
        and not _LIGHT_VERB.search(clause)
    )


def _read_clauses(text: str, literals: Counter[str]) -> Wording:
    chinese, negated_chinese, acts_chinese = _read_chinese(text)
    names, words, acts, leading, negated = set[str](), {*chinese}, {*acts_chinese}, set[str](), {*negated_chinese}
    tokens = _WORD.findall(_CHINESE.sub(" ", text))
    place, is_start, is_negated = _Place.BEGINNING, True, False
    for part, following in zip(tokens, (*tokens[1:], ""), strict=False):
        lower, stem = part.lower(), _stem(part)
        if not part[0].isalpha():
            place = _PLACE_BEHIND.get(part, _Place.BEGINNING)
            is_start = is_start or part in ".!?:"
        elif lower in NEGATIONS or lower.endswith("n't"):
            is_negated, place = True, _Place.BEGINNING
        elif lower in NUMBER_WORDS and lower != "one":
            literals[NUMBER_WORDS[lower]] += 1
        elif lower in STOP_WORDS or lower.removesuffix("'s") in STOP_WORDS:
            place, is_start = _PLACE_BEHIND.get(lower, _Place.INSIDE), False
        else:
            act = _ACT_OF.get(stem, stem)
            if part[0].isupper() and not is_start:
                names.add(stem)
            if is_negated:
                negated.add(act)
            if act != stem:
                acts.add(act)
            elif _is_verb(lower, following, place):
                leading.add(stem)
            words.add(act)
            place, is_start, is_negated = _Place.INSIDE, False, False
    return Wording(
        literals, frozenset(names), frozenset(words), frozenset(acts), frozenset(leading), frozenset(negated)
    )


def _is_verb(word: str, following: str, place: "_Place") -> bool:
    """Whether an unknown word at this place of a clause is taken for the verb of an imperative."""
    if place is _Place.INSIDE or word.endswith("'s") or following.lower() in SUBJECTS_VERBS:
        return False
    return place is _Place.BEGINNING or following == TAKEN or following.lower() in OBJECTS_BEGINNINGS


def similarity(one: Wording, other: Wording) -> float:
    """The share of the words and literals of either that both have; 0.0 where the two do not say the same."""
    if one.literals != other.literals or not _same_negations(one, other):
        return 0.0
    if not (_has_names(one, other) and _has_names(other, one)):
        return 0.0
    if any(OPPOSITES[word] in other.opposites - one.opposites for word in one.opposites - other.opposites):
        return 0.0
    both = one.words & other.words
    mine, theirs = _without_asides(one, both), _without_asides(other, both)
    mine_acts, their_acts = mine & one.acts, theirs & other.acts
    mine_verbs, their_verbs = mine_acts | mine & one.leading, their_acts | theirs & other.leading
    if mine_acts and their_acts and not mine_acts | their_acts <= _QUESTION_VERBS:
        return 0.0
    if not (mine_acts <= _WEAK or their_verbs) or not (their_acts <= _WEAK or mine_verbs):
        return 0.0
    mine_left = mine - mine_verbs
    theirs_left = theirs - their_verbs
    added = mine_left or theirs_left
    if (mine_left and theirs_left) or len(added) > MAX_ADDED_SHARE * max(1, len(both)):
        return 0.0
    shared = len(both) + one.literals.total()
    return shared / (shared + len(mine | theirs)) if shared else 0.0


def say_the_same(one: str, other: str) -> bool:
    """Whether two texts do."""
    return similarity(read_wording(one), read_wording(other)) >= MIN_SIMILARITY


def _without_asides(wording: Wording, both: frozenset[str]) -> frozenset[str]:
    """What one text alone says."""
    dropped = (aside for aside in wording.asides if not aside & both)
    return wording.words.difference(both, *dropped)


def _same_negations(one: Wording, other: Wording) -> bool:
    return bool(one.negated & other.negated) if one.negated or other.negated else True


def _has_names(one: Wording, other: Wording) -> bool:
    """Whether the names of one are words of the other: at the beginning of a sentence a name looks like any word."""
    return one.names <= other.words | other.names


def _take_literals(text: str) -> tuple[Counter[str], str]:
    """Quoted texts, addresses, numbers, months and weekdays, and the text without them."""
    literals = Counter[str]()

    def take(match: re.Match[str]) -> str:
        said = next((group for group in match.groups() if group is not None), match[0]) if match.groups() else match[0]
        literals[" ".join(said.split()).casefold().rstrip(".,;:")] += 1
        return f" {TAKEN} "

    for pattern in (_QUOTED, _ADDRESS):
        text = pattern.sub(take, text)

    def take_number(match: re.Match[str]) -> str:
        literals[re.sub(r",(?=\d{3}\b)", "", match[0])] += 1
        return f" {TAKEN} "

    text = _NUMBER.sub(take_number, text)
    for word in re.findall(r"\b[A-Z][a-z]+", text):
        if word.lower() in (*MONTHS, *WEEKDAYS):
            literals[word.lower()] += 1
    return literals, re.sub(rf"\b(?:{'|'.join((*MONTHS, *WEEKDAYS)).title()})(?:'s)?\b", f" {TAKEN} ", text)


def _read_chinese(text: str) -> tuple[set[str], set[str], set[str]]:
    """Characters of content, what stands behind negations, and known verbs."""
    acts, negated = set[str](), set[str]()
    text = "".join(re.findall(r"[一-鿿]+|[^\w\s]", text))
    for match in _NEGATED.finditer(text):
        rest = _LIGHT.sub("", re.split(r"[^\w]", text[match.end() : match.end() + MAX_NEGATED])[0])
        verb = _CHINESE_VERB.search(rest)
        negated.add(_VERB_OF[verb[0]] if verb else rest[:1])
    text = _NEGATED.sub(" ", text)

    def take(match: re.Match[str]) -> str:
        acts.add(_VERB_OF[match[0]])
        return " "

    text = _LIGHT.sub(" ", _CHINESE_VERB.sub(take, text))
    return {*_CHINESE.findall(text), *acts}, negated, acts
