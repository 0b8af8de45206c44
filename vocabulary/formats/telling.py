"""Samples and choices as conversations of plain text, checked: what the training formats share."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from vocabulary.actions import Action
from vocabulary.blobs import BlobRef
from vocabulary.dialect import ChatMessage, Dialect, Screen, TextPart
from vocabulary.formats.checks import consumer_check, images_of, points_check, reading_check
from vocabulary.formats.record import Choice, RowRefused
from vocabulary.formats.special_words import Consumer, earlier_turn, learned_text, prompt_text
from vocabulary.preferences import Candidate, judgements_of, preferences_of
from vocabulary.samples import Sample, samples_of
from vocabulary.steps import Step
from vocabulary.trajectories import Trajectory, trajectory_standing

IMAGE = "<image>"
_LINES = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True)
class Turn:
    """One side's words; pictures are placeholders in it."""

    role: str
    text: str


@dataclass(frozen=True)
class Reply:
    """What one side said, as it is learned from."""

    text: str
    thought: str | None = None
    """With `action`: what the dialect wrote it from; None for a model's own words."""
    action: Action | None = None


@dataclass(frozen=True)
class Told:
    """One decision: the conversation before it, what is learned, and the step."""

    key: str
    messages: tuple[ChatMessage, ...]
    images: tuple[BlobRef, ...]
    target: Reply
    step: Step
    dialect: Dialect
    texts: dict[int, tuple[ChatMessage, str]] = field(default_factory=dict, compare=False)
    """Messages as text, by their identity: the decisions of one trajectory have most of them in common."""

    @property
    def screen(self) -> Screen:
        """What was acted on."""
        return Screen.of(self.step.before)


@dataclass(frozen=True)
class Contrast:
    """One state, and two replies to it, the better one first."""

    told: Told
    chosen: Reply
    rejected: Reply


@dataclass(frozen=True)
class Judged:
    """One state, and one reply that was good or bad."""

    told: Told
    reply: Reply
    good: bool


def told_of(trajectory: Trajectory, choice: Choice) -> Iterator[Told]:
    """Each decision that is learned from. Raises RowRefused."""
    for told in _decisions(trajectory, choice):
        if choice.decisions is None or told.step.decision in choice.decisions:
            yield told


def contrasts_of(trajectory: Trajectory, choice: Choice) -> Iterator[tuple[int, Contrast]]:
    """Each pair of replies of which people held one for better, numbered. Raises RowRefused."""
    told = {one.step.index: one for one in _decisions(trajectory, choice)}
    for number, one in enumerate(preferences_of(trajectory)):
        state = told.get(one.index)
        chosen, rejected = (_reply(candidate, state, choice) for candidate in (one.chosen, one.rejected))
        if state is not None and chosen is not None and rejected is not None and chosen.text != rejected.text:
            yield number, Contrast(state, chosen, rejected)


def judged_of(trajectory: Trajectory, choice: Choice) -> Iterator[tuple[int, Judged]]:
    """Each reply that people called good or bad, numbered. Raises RowRefused."""
    told = {one.step.index: one for one in _decisions(trajectory, choice)}
    for number, one in enumerate(judgements_of(trajectory)):
        state = told.get(one.index)
        reply = _reply(one.candidate, state, choice)
        if state is not None and reply is not None:
            yield number, Judged(state, reply, one.desirable)


def text_of(message: ChatMessage, told: Told, consumer: Consumer, image: str = IMAGE) -> str:
    """A message as text that a consumer reads as text, with a placeholder where a picture is."""
    if (kept := told.texts.get(id(message))) is not None:
        return kept[1]
    parts = (
        part_text(part.text, message, told, consumer) if isinstance(part, TextPart) else image
        for part in message.content
    )
    text = "\n".join(parts)
    told.texts[id(message)] = message, text
    return text


def part_text(text: str, message: ChatMessage, told: Told, consumer: Consumer) -> str:
    """Text of a message, its special words escaped or broken up."""
    if message.role == "assistant":
        return earlier_turn(text, consumer, told.dialect, told.screen)
    return prompt_text(text, consumer, told.dialect)


def reply_text(reply: Reply, told: Told, consumer: Consumer) -> str:
    """A reply as it is learned, read back. Raises RowLeftOut and RowRefused."""
    written = None if reply.action is None else (reply.thought or "", reply.action)
    text = learned_text(reply.text, consumer, told.dialect, told.screen, written=written)
    if reply.action is not None:
        reading_check(text, reply.action, told.screen, told.dialect, told.key)
    return text


def turns_of(told: Told, consumer: Consumer, image: str = IMAGE) -> tuple[Turn, ...]:
    """The conversation in turns that take turns: what one side says in a row is one turn. Raises RowLeftOut."""
    turns: list[Turn] = []
    for message in told.messages:
        text = text_of(message, told, consumer, image)
        if turns and turns[-1].role == message.role:
            turns[-1] = Turn(message.role, f"{turns[-1].text}\n\n{text}")
        else:
            turns.append(Turn(message.role, text))
    consumer_check((turn.text for turn in turns), len(told.images), image, consumer, told.dialect)
    return tuple(turns)


def line(value: object) -> str:
    """A value as one line of JSON."""
    return _LINES.encode(value)


def _decisions(trajectory: Trajectory, choice: Choice) -> Iterator[Told]:
    steps = {step.index: step for step in trajectory_standing(trajectory).steps}
    texts: dict[int, tuple[ChatMessage, str]] = {}
    for sample in samples_of(trajectory, choice.dialect, budget=choice.budget):
        yield _told(sample, steps[sample.index], choice, texts)


def _told(sample: Sample, step: Step, choice: Choice, texts: dict[int, tuple[ChatMessage, str]]) -> Told:
    key = f"{sample.trajectory_id}-{sample.index:05d}"
    points_check(step, key)
    target = Reply(sample.target, step.thought, choice.dialect.sayable(step.action))
    return Told(key, sample.messages, images_of(sample.messages), target, step, choice.dialect, texts)


def _reply(candidate: Candidate, told: Told | None, choice: Choice) -> Reply | None:
    if told is None:
        return None
    proposal = candidate.proposal
    if proposal is not None and proposal.policy.dialect == choice.dialect.name and proposal.raw_text:
        return Reply(proposal.raw_text)
    said = choice.dialect.sayable(candidate.action)
    if said is None:
        return None
    try:
        return Reply(choice.dialect.write(candidate.thought, said, told.screen), candidate.thought, said)
    except ValueError as error:
        raise RowRefused("unsayable", f"{told.key}: {error}") from None
