"""What a person said while they worked, as thoughts that belong to acts. Pure functions.

A thought is a sentence, or what was said between two pauses. Its wording and its time say whether it is about an act
that follows, that is being done, or that was done. Filler, and what was said far from every act, belongs to none.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from protocol.formats.recorded_acts import RecordedAct
from protocol.trajectory.speech import CJK, Relation, Role, SpeechRecord, SpokenThought, join_words

PAUSE_NS = 700_000_000
"""A pause in speech that ends a thought."""
NEAR_NS = 12_000_000_000
"""A thought and an act with more time between them have nothing to do with each other."""
REACTION_NS = 300_000_000
"""An act that began this shortly before a thought may be what the thought announces."""
UNIT_NS = 5_000_000_000
"""A click into a field and typing into it within this time are one part of an enumeration."""

SENTENCE_END = re.compile(r"[.!?。！？…]$")


def _any_of(*phrases: str) -> str:
    return rf"(?:{'|'.join(phrases)})"


FILLER = _any_of(
    *(
        "u+h+",
        "u+m+",
        "e+r+m*",
        "h+m+",
        "m+h*m+",
        "ah",
        "oh",
        "okay",
        "ok",
        "so",
        "well",
        "right",
        "yeah",
        "yes",
        "like",
    ),
    *("now", "alright", "all right", "you know", "i mean", "let me see", "let's see", "let me think", "where was i"),
    *("嗯+", "呃+", "啊", "哦", "那个", "这个", "就是", "好的?", "我想想", "让我想想"),
)
EMPTY = _any_of("and", "but", "or", "then", "the", "a", "an", "that", "it")
"""Words that say nothing alone; engines hear them in place of a hesitation."""
FILLERS = re.compile(rf"(?:(?:{FILLER}|{EMPTY})(?![\w'])[\s,.!?，。…]*)+", re.IGNORECASE)
LEADING = re.compile(
    rf"(?:{_any_of('okay', 'ok', 'so', 'well', 'right', 'alright', 'all right', 'u+m+', 'u+h+', 'and', 'ah', 'oh')}"
    r"[\s,.]+|(?:嗯+|呃+|好的?)[\s，。]+)+",
    re.IGNORECASE,
)
CORRECTION = re.compile(
    _any_of(
        *(r"no\b", r"wait\b", r"actually\b", r"oops\b", r"whoops\b", r"hold on\b", r"wrong\b", r"sorry\b"),
        r"(?:that|this|it)(?:'s| is| was) (?:not|the wrong|wrong)\b",
        r"(?:that|this|it) (?:was|is|did)n't\b",
        r"(?:i|we) (?:made a mistake|(?:picked|took|clicked|chose|opened) the wrong|mistyped)\b",
        *("不对", "等等", "等一下", "错了", "哎呀"),
    ),
    re.IGNORECASE,
)
INTENT = re.compile(
    r"\b"
    + _any_of(
        *("i'll", "i will", "we'll", "i'm going to", "i am going to", "going to", "let me", "let's", "time to"),
        r"i (?:need|want|have|should|must|can|could)\b(?: \w+){0,2} to",
        *("i'd like", "i would like", "next", "then", "first", r"now (?:i|we|the)\b"),
    )
    + "|"
    + _any_of("我要", "我先", "接下来", "然后", "首先", "现在"),
    re.IGNORECASE,
)
STATES = _any_of(
    *("open", "there", "saved", "here", "gone", "visible", "right", "correct", "sent", "shown", "closed", "selected"),
    *("checked", "done", "complete", "filled", "fine", "good", "great", "perfect"),
)
EVALUATION = re.compile(
    _any_of(
        rf"\b(?:that|it|this) (?:is|was) (?:it|easy|quick|the right|{STATES})\b",
        r"\b(?:that|it|this) (?:worked|works|opened|closed|looks|did|seems|went|shows|says)\b",
        r"\b(?:that|it|this) has (?:opened|worked|been)\b",
        r"^(?:(?:very|pretty|all) )?(?:good|great|perfect|nice|done|excellent|fine)\b",
        *(r"(?:i'm|i am|we're|we are) done\b", r"\bthere (?:it is|we go|we are)\b"),
        rf"(?:the|my) (?:\w+ ){{1,4}}(?:is|are) (?:now )?{STATES}\b",
        r"(?:i|we) (?:just |have |already )?(?:clicked|typed|pressed|opened|chose|picked|saved|entered|selected|closed|"
        r"dragged|scrolled|moved|found|filled)\b",
        r"now (?:it|the \w+) (?:is|shows|says)\b",
        *(r"looks (?:good|right|fine|okay|correct)\b", r"nothing (?:happened|changed)\b", r"(?:i|we) can see\b"),
        *("成功", "好了", "打开了", "完成了", "可以了"),
    ),
    re.IGNORECASE,
)
PROGRESSIVE = re.compile(r"(?:(?:i'm|i am|now i'm|we're)\s+)?(?:\w+ing)\b", re.IGNORECASE)
AND_THEN = r"(?<![我你他她它们要会能])再(?![次见试])"
"""The Chinese `再` of a sequence; said after a person or a wish it is `again`."""
PART = re.compile(
    rf"\s*[,;，；、]\s*(?:and then\s+|and\s+|then\s+)?|\s+(?:and then|and|then)\s+|然后|{AND_THEN}", re.IGNORECASE
)
ENUMERATION = re.compile(
    rf"\w,?\s+(?:and\s+)?then\b|,.*\band\b|、|\w[，,]?\s*然后|\w[，,]?\s*{AND_THEN}", re.IGNORECASE
)
"""Said of several acts; a `then` at the begin is not."""
MIN_TYPED_CHARACTERS, MIN_TYPED_CJK = 3, 2
"""Shorter typed texts stand in a thought by chance. Two Chinese characters say as much as a word."""
MAX_WORD_CHARACTERS = 200


class SpokenWord(BaseModel):
    """One word as an engine heard it, and when it was said (monotonic nanoseconds)."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    t_ns: int = Field(ge=0)
    end_ns: int = Field(ge=0)
    text: str = Field(min_length=1, max_length=MAX_WORD_CHARACTERS)
    score: float | None = None


class Speech(BaseModel):
    """The words of a session, and which engine heard them."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    engine: str = Field(max_length=200)
    language: str = Field(max_length=20)
    words: tuple[SpokenWord, ...] = ()

    @field_validator("words", mode="before")
    @classmethod
    def _clean_words(cls, words: object) -> object:
        """Engines give empty words, and whole sentences as one: neither refuses a session."""
        if not isinstance(words, list | tuple):
            return words
        return [_shorten(one) for one in words if not _is_blank(one)]


def _is_blank(word: object) -> bool:
    return isinstance(word, dict) and isinstance(word.get("text"), str) and not word["text"].strip()


def _shorten(word: object) -> object:
    if isinstance(word, dict) and isinstance(word.get("text"), str):
        return {**word, "text": word["text"].strip()[:MAX_WORD_CHARACTERS]}
    return word


@dataclass(frozen=True)
class Thought:
    """What was said in one go. `acts` are the places of the acts that it is about; none for filler."""

    text: str
    first_word: int
    last_word: int
    begin_ns: int
    end_ns: int
    role: Role
    relation: Relation | None
    acts: tuple[int, ...]


def align_thoughts(words: Sequence[SpokenWord], acts: Sequence[RecordedAct]) -> list[Thought]:
    """The thoughts in order of time, each with its acts. `acts` are in order of time too."""
    thoughts = [_align(first, last, words, acts) for first, last in split_thoughts(words)]
    described = {one.acts[0] for one in thoughts if len(one.acts) == 1 and one.relation == "during"}
    return [_without_described(one, described) for one in thoughts]


def _without_described(thought: Thought, described: set[int]) -> Thought:
    """An enumeration without the acts at its end that another thought describes while they are done."""
    acts = thought.acts
    while len(acts) > 1 and acts[-1] in described:
        acts = acts[:-1]
    return replace(thought, acts=acts)


def split_thoughts(words: Sequence[SpokenWord]) -> Iterator[tuple[int, int]]:
    """The first and the last word of each thought."""
    first = 0
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else None
        if following is None or following.t_ns - word.end_ns >= PAUSE_NS or _ends_sentence(word, following):
            yield first, place
            first = place + 1


def find_role(text: str) -> Role:
    """What a thought does, by its wording."""
    if FILLERS.fullmatch(text):
        return "filler"
    core = LEADING.sub("", text, count=1) if LEADING.match(text) else text
    if CORRECTION.match(core):
        return "correction"
    if (found := EVALUATION.search(core)) is not None:
        intent = INTENT.search(core)
        if intent is None or found.start() <= intent.start():
            return "evaluation"
    return "plan"


def _align(first: int, last: int, words: Sequence[SpokenWord], acts: Sequence[RecordedAct]) -> Thought:
    text = join_words([word.text for word in words[first : last + 1]])
    begin_ns, end_ns = words[first].t_ns, words[last].end_ns
    role = find_role(text)
    chosen = () if role == "filler" else _find_acts(text, role, begin_ns, end_ns, acts)
    relation = _find_relation(role, begin_ns, end_ns, acts[chosen[0]]) if chosen else None
    return Thought(text, first, last, begin_ns, end_ns, role, relation, chosen)


def _find_acts(text: str, role: Role, begin_ns: int, end_ns: int, acts: Sequence[RecordedAct]) -> tuple[int, ...]:
    """The acts that a thought is about."""
    running = next((place for place, act in enumerate(acts) if act.started_ns < begin_ns <= act.ended_ns), None)
    before = next(
        (place for place in reversed(range(len(acts))) if acts[place].ended_ns <= begin_ns + REACTION_NS), None
    )
    after = next((place for place, act in enumerate(acts) if act.started_ns >= begin_ns - REACTION_NS), None)
    if before is not None and begin_ns - acts[before].ended_ns > NEAR_NS:
        before = None
    if after is not None and acts[after].started_ns - end_ns > NEAR_NS:
        after = None
    if role == "evaluation":
        about = next((one for one in (before, running, after) if one is not None), None)
        return () if about is None else (about,)
    if (typed := _typed_act(text, before, after, running, acts)) is not None and not ENUMERATION.search(text):
        return (typed,)
    if running is not None and (PROGRESSIVE.match(text) or not INTENT.search(text)) and role == "plan":
        return (running,)
    if after is None:
        about = running if running is not None else before
        return () if about is None else (about,)
    if role == "plan" and ENUMERATION.search(text):
        return _enumerated(text, after, acts)
    return (after,)


def _typed_act(
    text: str, before: int | None, after: int | None, running: int | None, acts: Sequence[RecordedAct]
) -> int | None:
    """The act nearby that typed what the thought says."""
    said = text.casefold()
    for place in dict.fromkeys(one for one in (running, after, before) if one is not None):
        typed = str(getattr(acts[place].action, "text", "")).strip().casefold()
        shortest = MIN_TYPED_CJK if re.search(f"[{CJK}]", typed) else MIN_TYPED_CHARACTERS
        if len(typed) >= shortest and typed in said:
            return place
    return None


def _enumerated(text: str, first: int, acts: Sequence[RecordedAct]) -> tuple[int, ...]:
    """As many acts as the thought has parts; a click into a field and what is typed there are one."""
    parts = sum(bool(part.strip()) and not FILLERS.fullmatch(part.strip()) for part in PART.split(text))
    chosen: list[int] = []
    place = first
    for _ in range(max(1, parts)):
        if place >= len(acts) or (chosen and acts[place].started_ns - acts[chosen[-1]].ended_ns > NEAR_NS):
            break
        chosen.append(place)
        place += 1
        if place < len(acts) and _is_unit(acts[place - 1], acts[place]):
            chosen.append(place)
            place += 1
    return tuple(chosen)


def _is_unit(one: RecordedAct, other: RecordedAct) -> bool:
    kinds: tuple[Any, Any] = one.action.kind, other.action.kind
    return kinds == ("click", "type_text") and other.started_ns - one.ended_ns <= UNIT_NS


def _find_relation(role: Role, begin_ns: int, end_ns: int, act: RecordedAct) -> Relation:
    is_outcome = role == "evaluation" and act.ended_ns <= begin_ns + REACTION_NS
    if act.started_ns >= end_ns and not is_outcome:
        return "before"
    return "after" if act.ended_ns <= begin_ns else "during"


def _ends_sentence(word: SpokenWord, following: SpokenWord) -> bool:
    """Whether a word is the last of a sentence; a number with a point is not."""
    return SENTENCE_END.search(word.text) is not None and not following.text[:1].isdigit()


def describe_speech(speech: Speech, thoughts: Sequence[Thought], begin_ns: int) -> SpeechRecord:
    """The words as they were heard and what was made of them, in seconds from the begin of the session: what shows
    where a step's thought comes from."""

    def seconds(t_ns: int) -> float:
        return round((t_ns - begin_ns) / 1e9, 3)

    return SpeechRecord(
        engine=speech.engine,
        language=speech.language,
        words=tuple((seconds(word.t_ns), seconds(word.end_ns), word.text) for word in speech.words),
        thoughts=tuple(
            SpokenThought(
                begin=seconds(one.begin_ns),
                end=seconds(one.end_ns),
                words=(one.first_word, one.last_word),
                role=one.role,
                relation=one.relation,
                steps=one.acts,
            )
            for one in thoughts
        ),
    )
