"""What a person said during a recorded session: words, and thoughts that belong to steps. Pure functions.

The words are as an engine heard them and are never changed, but for redaction. Reviewers change thoughts.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from protocol.base import FrozenModel
from protocol.trajectory.steps import Step
from protocol.trajectory.trajectories import Trajectory

Role = Literal["plan", "evaluation", "correction", "filler"]
Relation = Literal["before", "during", "after"]
ThoughtText = Annotated[str, StringConstraints(max_length=20_000, pattern=r"^[^\x00]*$")]
Word = tuple[float, float, str]
"""Its begin and end in seconds of the session, and its text; a redacted word has none."""

CJK = r"\u3040-\u30ff\u3400-\u9fff"


class InvalidThoughts(ValueError):
    """What was asked for cannot be done with these thoughts."""


class LoudnessRun(FrozenModel):
    """How loud it was: `rate` values a second from `begin` (seconds), 0 (silence) to 255 (full scale)."""

    begin: float
    rate: float = Field(gt=0, le=20)
    values: str
    """Bytes in base64."""


class SpokenThought(FrozenModel):
    """A thought of a session. `words` are the first and the last word of it. `steps` are those that it is about; none
    for filler. `text` is what a reviewer wrote; None: its words as they were heard."""

    begin: float
    end: float
    words: tuple[int, int]
    role: Role
    relation: Relation | None = None
    steps: tuple[int, ...] = ()
    text: ThoughtText | None = None


Thoughts = tuple[SpokenThought, ...]


class RefinedText(FrozenModel):
    """A sentence that a model wrote of what was said, and where it comes from."""

    text: ThoughtText
    support: Literal["verbatim", "paraphrased", "added"]


class RefinedThought(FrozenModel):
    """A thought as it was said (`original`), and as a model refined it. `problem` says why it stayed as it was said."""

    thought: int = Field(ge=0)
    original: ThoughtText
    sentences: tuple[RefinedText, ...]
    problem: str = ""


RefinedThoughts = tuple[RefinedThought, ...]


class SpeechRecord(FrozenModel):
    """The speech of a session, as `task.parameters["recording"]["speech"]` holds it."""

    engine: str = ""
    language: str = ""
    words: tuple[Word, ...] = ()
    thoughts: Thoughts = ()


def is_session(trajectory: Trajectory) -> bool:
    """Whether this is a session of the recorder."""
    return isinstance(trajectory.task.parameters.get("recording"), dict)


def without_levels(trajectory: Trajectory) -> Trajectory:
    """The session without how loud it was."""
    recorded: Any = trajectory.task.parameters["recording"]
    if "levels" not in recorded:
        return trajectory
    remaining = {name: value for name, value in recorded.items() if name != "levels"}
    task = trajectory.task.model_copy(update={"parameters": {**trajectory.task.parameters, "recording": remaining}})
    return trajectory.model_copy(update={"task": task})


def speech_of(trajectory: Trajectory) -> SpeechRecord | None:
    """The speech of a recorded session; None where nothing was said, or it is no session of the recorder. Raises
    ValidationError."""
    recorded = trajectory.task.parameters.get("recording")
    speech = recorded.get("speech") if isinstance(recorded, dict) else None
    return None if speech is None else SpeechRecord.model_validate(speech)


def join_words(words: Iterable[str]) -> str:
    """Words as text, without those that were redacted. Characters of Chinese and Japanese stand without spaces."""
    text = " ".join(filter(None, words))
    return re.sub(rf"(?<=[{CJK}，。！？、]) (?=[{CJK}，。！？、])", "", text)


def thought_text(words: Sequence[Word], thought: SpokenThought) -> str:
    """What a thought says."""
    if thought.text is not None:
        return thought.text
    first, last = thought.words
    return join_words(word[2] for word in words[first : last + 1])


def step_of_thought(thought: SpokenThought) -> int | None:
    """The step whose thought holds it. Outcomes, and what was said about a step after it, belong to the next step: an
    outcome is not known before the act. A plan of several steps stands at the first."""
    if not thought.steps:
        return None
    if thought.role == "evaluation":
        known_later = thought.relation != "before"
    else:
        known_later = thought.relation == "after" and len(thought.steps) == 1
    return thought.steps[-1] + 1 if known_later else thought.steps[0]


def step_thoughts(words: Sequence[Word], thoughts: Thoughts, count: int) -> tuple[str, ...]:
    """The thought of each of `count` steps."""
    texts: list[list[str]] = [[] for _ in range(count)]
    for thought in thoughts:
        place = step_of_thought(thought)
        if place is not None and place < count:
            texts[place].append(thought_text(words, thought))
    return tuple(join_words(one) for one in texts)


def write_thought(thoughts: Thoughts, place: int, text: str | None) -> Thoughts:
    """Let a thought say this; None: its words. Raises InvalidThoughts."""
    return _replace(thoughts, place, _at(thoughts, place).model_copy(update={"text": text}))


def split_thought(words: Sequence[Word], thoughts: Thoughts, place: int, word: int) -> Thoughts:
    """Two thoughts of one, the second one from this word on. A text that was written is divided where as much of it
    was said. Raises InvalidThoughts."""
    thought = _at(thoughts, place)
    first, last = thought.words
    if not first < word <= last:
        raise InvalidThoughts("a thought is split between two of its words")
    before, after = (None, None) if thought.text is None else _divide(thought.text, (word - first) / (last - first + 1))
    one = thought.model_copy(update={"words": (first, word - 1), "end": words[word - 1][1], "text": before})
    other = thought.model_copy(update={"words": (word, last), "begin": words[word][0], "text": after})
    return (*thoughts[:place], one, other, *thoughts[place + 1 :])


def merge_thoughts(words: Sequence[Word], thoughts: Thoughts, place: int) -> Thoughts:
    """One thought of this one and the next. It is about the steps of both. Raises InvalidThoughts."""
    one, other = _at(thoughts, place), _at(thoughts, place + 1)
    is_written = one.text is not None or other.text is not None
    text = join_words((thought_text(words, one), thought_text(words, other))) if is_written else None
    source = one if one.steps else other
    merged = one.model_copy(
        update={
            "end": max(one.end, other.end),
            "words": (one.words[0], other.words[1]),
            "role": source.role,
            "relation": source.relation,
            "steps": tuple(sorted({*one.steps, *other.steps})),
            "text": text,
        }
    )
    return (*thoughts[:place], merged, *thoughts[place + 2 :])


def assign_thought(
    thoughts: Thoughts, place: int, steps: Sequence[int], spans: Sequence[tuple[float, float]]
) -> Thoughts:
    """Let a thought be about these steps; `spans` are the begin and the end of every step in seconds. Raises
    InvalidThoughts."""
    thought = _at(thoughts, place)
    chosen = tuple(sorted(set(steps)))
    if any(not 0 <= step < len(spans) for step in chosen):
        raise InvalidThoughts("there is no such step")
    if not chosen:
        return _replace(thoughts, place, thought.model_copy(update={"steps": (), "relation": None}))
    begin, end = spans[chosen[0]]
    relation: Relation = "before" if begin >= thought.end else "after" if end <= thought.begin else "during"
    role: Role = "plan" if thought.role == "filler" else thought.role
    changed = thought.model_copy(update={"steps": chosen, "relation": relation, "role": role})
    return _replace(thoughts, place, changed)


def redact_words(words: Sequence[Word], redacted: Iterable[int]) -> tuple[Word, ...]:
    """The words, without the text of these."""
    gone = set(redacted)
    return tuple((begin, end, "" if place in gone else text) for place, (begin, end, text) in enumerate(words))


def redact_text(text: str, secrets: Iterable[str]) -> str:
    """A text without these words, wherever they occur in it, in any case."""
    for secret in sorted({one for word in secrets if (one := _bare(word))}, key=len, reverse=True):
        edge = "" if re.search(rf"[{CJK}]", secret) else r"\b"
        left = edge if re.match(r"\w", secret) else ""
        right = edge if re.search(r"\w$", secret) else ""
        text = re.sub(rf"{left}{re.escape(secret)}(?:['’]s)?{right}", "", text, flags=re.IGNORECASE)
    return re.sub(r"\s+([,.!?，。！？]|$)", r"\1", re.sub(r"[ \t]{2,}", " ", text)).strip()


def redact_thoughts(words: Sequence[Word], thoughts: Thoughts, redacted: Iterable[int]) -> Thoughts:
    """The thoughts, with the words gone from what was written of those that hold them."""
    gone = set(redacted)
    found = []
    for thought in thoughts:
        own = gone.intersection(range(thought.words[0], thought.words[1] + 1))
        if own and thought.text is not None:
            text = redact_text(thought.text, (words[place][2] for place in own))
            thought = thought.model_copy(update={"text": text})
        found.append(thought)
    return tuple(found)


def redact_refined(
    words: Sequence[Word], thoughts: Iterable[Thoughts], refined: RefinedThoughts, redacted: Iterable[int]
) -> RefinedThoughts:
    """What a model wrote, without what it wrote of thoughts that held these words, in any version."""
    gone = set(redacted)
    affected = {
        thought_text(words, one)
        for version in thoughts
        for one in version
        if gone.intersection(range(one.words[0], one.words[1] + 1))
    }
    return tuple(one for one in refined if one.original not in affected)


def with_thoughts(trajectory: Trajectory, speech: SpeechRecord, thoughts: Thoughts) -> Trajectory:
    """The session with these thoughts: in its speech, and in the steps whose own thought was made of what they
    replace."""
    count = len(trajectory.steps)
    before = step_thoughts(speech.words, speech.thoughts, count)
    after = step_thoughts(speech.words, thoughts, count)
    steps: list[Step] = [
        step if old == new else step.model_copy(update={"thought": new})
        for step, old, new in zip(trajectory.steps, before, after, strict=True)
    ]
    changed = trajectory.model_copy(update={"steps": tuple(steps)})
    return with_speech(changed, speech.model_copy(update={"thoughts": thoughts}))


def with_speech(trajectory: Trajectory, speech: SpeechRecord) -> Trajectory:
    """The session with this speech in its parameters."""
    recorded: Any = trajectory.task.parameters["recording"]
    stored = speech.model_dump(mode="json", exclude_none=True)
    parameters = {**trajectory.task.parameters, "recording": {**recorded, "speech": stored}}
    return trajectory.model_copy(update={"task": trajectory.task.model_copy(update={"parameters": parameters})})


def speech_of_part(speech: SpeechRecord, first: int, last: int) -> SpeechRecord:
    """What was said of the steps from `first` to `last`, numbered from 0; all other words are gone."""
    thoughts = []
    remaining: set[int] = set()
    for thought in speech.thoughts:
        steps = tuple(step - first for step in thought.steps if first <= step <= last)
        if steps:
            thoughts.append(thought.model_copy(update={"steps": steps}))
            remaining.update(range(thought.words[0], thought.words[1] + 1))
    words = redact_words(speech.words, set(range(len(speech.words))) - remaining)
    return speech.model_copy(update={"words": words, "thoughts": tuple(thoughts)})


def is_same(words: Sequence[Word], one: Thoughts, other: Thoughts) -> bool:
    """Whether two reviewers left the same: the same words at the same steps, whatever the case and punctuation."""
    return _essence(words, one) == _essence(words, other)


def steps_of_words(count: int, thoughts: Thoughts) -> list[str]:
    """For each of `count` words the steps that it is about, as a name; empty: none."""
    found = [""] * count
    for thought in thoughts:
        name = " ".join(map(str, thought.steps))
        for place in range(thought.words[0], min(thought.words[1] + 1, count)):
            found[place] = name
    return found


def _essence(words: Sequence[Word], thoughts: Thoughts) -> list[tuple[tuple[int, ...], list[str]]]:
    return [
        (thought.steps, re.findall(r"\w+", thought_text(words, thought).casefold()))
        for thought in thoughts
        if thought.steps
    ]


def _at(thoughts: Thoughts, place: int) -> SpokenThought:
    if not 0 <= place < len(thoughts):
        raise InvalidThoughts("there is no such thought")
    return thoughts[place]


def _replace(thoughts: Thoughts, place: int, thought: SpokenThought) -> Thoughts:
    return (*thoughts[:place], thought, *thoughts[place + 1 :])


def _divide(text: str, share: float) -> tuple[str, str]:
    """Two parts of a text, the first one about this share of it, between two words where it has several."""
    at = round(len(text) * share)
    spaces = [match.start() for match in re.finditer(r"\s+", text)]
    at = min(spaces, key=lambda space: abs(space - at)) if spaces else at
    return text[:at].strip(), text[at:].strip()


def _bare(word: str) -> str:
    """A word without the punctuation around it, and without an 's."""
    return re.sub(r"['’]s$", "", word.strip("\"'“”‘’.,;:!?()[]，。！？、；：（）… "))
