"""Where each sentence of a refined thought comes from, and whether its facts are those that were said. Pure functions.

A model's own claims about its sentences are not used: only the texts decide.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

Support = Literal["verbatim", "paraphrased", "added"]

SUPPORTED_SHARE = 0.75
"""Share of the content words of an added sentence that what is known of the step must hold; the first one always."""
KNOWN_LETTERS = 4
"""Words that begin with the same letters are one here: *need* and *needs*."""
REWORDED_SHARE = 0.3
"""Share of the content words of a thought that another wording of it must keep."""
MAX_REWORDED_LENGTH = 2.0
"""How many times as many words another wording may have."""
NEAR_IDENTICAL = 0.85
"""Two wordings whose words are in the same order to this degree are one."""

PARAPHRASE_SHARE = 0.5
"""Share of a sentence's content words that were said. With less it says something of its own."""
KEPT_SHARE = 0.4
"""Share of the content words of what was said that the supported sentences must keep. False starts may go."""
MAX_ADDED_SENTENCES = 1
STEM = 5
"""Words that begin with the same letters are forms of one word: *opened*, *opening*."""

SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*")
TOKEN = re.compile(r"[a-z]+(?:['’][a-z]+)*|\d+(?:[.,:]\d+)*|[\u3400-\u9fff]")
NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
NAME = re.compile(
    r"(?<![.!?。！？]\s)(?<!^)\b[A-Z][\w-]*|\b\w*(?:[a-z][A-Z]|\d[A-Za-z]|[A-Za-z]\d|[@_/]\w)[\w@./-]*|[\"“«][^\"”»]+[\"”»]"
)
INTERJECTION = re.compile(r"(?:^|(?<=[.!?,]\s))(?:oh |oops |um )*no(?=[,.!]| wait| no|$)", re.IGNORECASE)
NEGATION = re.compile(
    r"\b(?:not|no|never|none|nothing|nobody|neither|nor|without|cannot)\b|n['’]t\b|不|没|别|无|未", re.IGNORECASE
)
ONES = {
    word: value
    for value, word in enumerate(
        (
            *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
            *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
        )
    )
}
TENS = {
    word: 10 * value
    for value, word in enumerate(("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), 2)
}
SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
STOP_WORDS = frozenset(
    re.findall(
        r"\S+",
        "a an the this that these those it its i i'm i'll i've i'd we my our you he she they is are was were be been "
        "am do does did done have has had will would can could should must may might to of in on at for from with by "
        "and or but so as if then than now here there just also very um uh okay ok well hmm like first next",
    )
)
"""Words without a meaning of their own."""
SCREEN_WORDS = (
    "screen window page button field text click type press open show shown visible front application menu list step "
    "task goal need needed bring brings toward towards work cursor see want current "
    "屏幕窗口页面按钮字段文本点击输入打开显示前应用菜单列表步任务目标下一在的是了我要这上中能看到以"
)
"""Words by which any step can be described; they state no fact of their own."""


@dataclass(frozen=True)
class Facts:
    """What a refined text must not change."""

    numbers: Counter[str]
    names: frozenset[str]
    negations: int


@dataclass(frozen=True)
class RefinedSentence:
    """One sentence and where it comes from: the places of the sentences that were said."""

    text: str
    support: Support
    sources: tuple[int, ...] = ()


def split_sentences(text: str) -> list[str]:
    """The sentences of a text; what has no end is one."""
    return [one for one in SENTENCE_END.split(text.strip()) if one]


def find_facts(text: str, names: frozenset[str] = frozenset()) -> Facts:
    """The numbers, names and negations of a text. `names` are words that are always names, in lower case: speech has no
    capital letters that mark them. A *no* that only interrupts is no negation."""
    marked = {one.strip('"“”«».,').casefold() for one in NAME.findall(text)} - {"i", "i'm", "i'll", "i've", "i'd", "ok"}
    known = {token for token in TOKEN.findall(text.casefold()) if token in names}
    return Facts(
        numbers=Counter(_numbers(text)),
        names=frozenset({one for one in marked | known if one and not NUMBER.fullmatch(one) and one not in ONES}),
        negations=len(NEGATION.findall(INTERJECTION.sub("", text))),
    )


def trace_sentences(said: str, refined: str) -> list[RefinedSentence]:
    """Where each sentence of `refined` comes from in what was `said`."""
    originals = split_sentences(said)
    contents = [_content(one) for one in originals]
    everything: set[str] = set().union(*contents)
    traced = []
    for sentence in split_sentences(refined):
        own = _content(sentence)
        same = [place for place, one in enumerate(originals) if _plain(one) == _plain(sentence)]
        if same:
            traced.append(RefinedSentence(sentence, "verbatim", (same[0],)))
        elif own and len(own & everything) / len(own) >= PARAPHRASE_SHARE:
            sources = tuple(place for place, one in enumerate(contents) if own & one)
            traced.append(RefinedSentence(sentence, "paraphrased", sources))
        else:
            traced.append(RefinedSentence(sentence, "added"))
    return traced


def find_lost_meaning(said: str, sentences: list[RefinedSentence]) -> str:
    """Why the sentences are no edit of what was said: it is left out, or too much is added. Empty where they are."""
    supported = " ".join(one.text for one in sentences if one.support != "added")
    if not supported:
        return "nothing of it was said"
    if sum(one.support == "added" for one in sentences) > MAX_ADDED_SENTENCES:
        return "more than one sentence was added"
    content = _content(said)
    if len(content & _content(supported)) < KEPT_SHARE * len(content):
        return "most of what was said is left out"
    return ""


def find_changed_fact(said: str, sentences: list[RefinedSentence], names: frozenset[str] = frozenset()) -> str:
    """The first fact that differs between what was said and the sentences; empty where none does. Added sentences may
    hold no number, name or negation that was not said."""
    supported = " ".join(one.text for one in sentences if one.support != "added")
    added = " ".join(one.text for one in sentences if one.support == "added")
    before, after, invented = find_facts(said, names), find_facts(supported, names), find_facts(added, names)
    if lost := (set(before.numbers) - set(after.numbers)) or (before.names - _words(supported)):
        return f"left out: {min(lost)}"
    if new := (set(after.numbers) | set(invented.numbers)) - set(before.numbers):
        return f"never said: {min(new)}"
    if unknown := (after.names | invented.names) - _words(said):
        return f"never said: {min(unknown)}"
    if before.negations != after.negations or invented.negations:
        return "a negation was changed"
    return ""


def find_unsupported(sentence: str, evidence: str, names: frozenset[str] = frozenset()) -> str:
    """Why an added sentence does not follow from what is known of a step (`evidence`): a number, a name, a negation or
    too many words that are not in it. Empty where it does."""
    facts = find_facts(sentence, names)
    if new := set(facts.numbers) - set(_numbers(evidence)):
        return f"not known: {min(new)}"
    if unknown := facts.names - _words(evidence):
        return f"not known: {min(unknown)}"
    if facts.negations:
        return "a negation was added"
    known = {word[:KNOWN_LETTERS] for word in _content(evidence) | _content(SCREEN_WORDS)}
    tokens = TOKEN.findall(sentence.casefold())
    own = [token for token in tokens if token not in STOP_WORDS and not token[0].isdigit()]
    unknown_words = [token for token in own if token[:KNOWN_LETTERS] not in known]
    if tokens and tokens[0] in unknown_words:
        return f"not known: {tokens[0]}"  # a capital letter at the beginning does not show whether it is a name
    if not own or len(unknown_words) > (1 - SUPPORTED_SHARE) * len(own):
        return "most of it is not known"
    return ""


def find_other_meaning(said: str, reworded: str, names: frozenset[str] = frozenset()) -> str:
    """Why a text is no other wording of what was said: a number, a name or a negation differs, too little of it is left
    or too much is said. Empty where it is one."""
    before, after = find_facts(said, names), find_facts(reworded, names)
    if lost := (set(before.numbers) - set(after.numbers)) or (before.names - _words(reworded)):
        return f"left out: {min(lost)}"
    if new := (set(after.numbers) - set(before.numbers)) or (after.names - _words(said)):
        return f"never said: {min(new)}"
    if before.negations != after.negations:
        return "a negation was changed"
    content = _content(said)
    if len(content & _content(reworded)) < REWORDED_SHARE * len(content):
        return "most of what was said is left out"
    if len(TOKEN.findall(reworded.casefold())) > MAX_REWORDED_LENGTH * max(5, len(TOKEN.findall(said.casefold()))):
        return "it says more than was said"
    return ""


def is_near_identical(text: str, others: Iterable[str]) -> bool:
    """Whether a text has nearly the words of one of the others, in nearly their order."""
    own = TOKEN.findall(text.casefold())
    return any(
        SequenceMatcher(None, own, TOKEN.findall(other.casefold()), autojunk=False).ratio() >= NEAR_IDENTICAL
        for other in others
    )


def _words(text: str) -> set[str]:
    """Every word of a text, and every name in it, in lower case."""
    folded = text.casefold()
    return {*TOKEN.findall(folded), *re.findall(r"[\w@./-]*[\w@/-]", folded), *find_facts(text).names}


def _plain(text: str) -> str:
    return " ".join(TOKEN.findall(text.casefold()))


def _content(text: str) -> set[str]:
    """The words that carry a meaning, numbers as digits, forms of one word as one."""
    words = {
        token[:STEM] for token in TOKEN.findall(text.casefold()) if token not in STOP_WORDS and not token[0].isdigit()
    }
    return words - {word[:STEM] for word in (*ONES, *TENS)} | set(_numbers(text))


def _numbers(text: str) -> list[str]:
    """Numbers in digits and in words, as digits: `forty two` and `42` are one."""
    found: list[str] = []
    total = current = 0
    open_ = False
    for word in [*TOKEN.findall(text.casefold().replace("-", " ")), ""]:
        if word in TENS and not (open_ and current % 100):
            current, open_ = current + TENS[word], True
        elif word in ONES and not (open_ and (current % 10 or (current % 100 and ONES[word] > 9))):
            if word == "one" and not open_:
                continue  # "the right one" is no number
            current, open_ = current + ONES[word], True
        elif word in SCALES and open_:
            if word == "hundred":
                current *= 100
            else:
                total, current = total + current * SCALES[word], 0
        elif not (word == "and" and open_ and current % 100 == 0):
            if open_:
                found.append(str(total + current))
            total, current, open_ = 0, TENS.get(word, ONES.get(word, 0)), word in TENS or word in ONES
            if NUMBER.fullmatch(word):
                found.append(word.replace(",", ""))
    return found
