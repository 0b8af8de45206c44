"""Samples and choices as conversations of plain text, checked: what the training formats share."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

from protocol.actions.types import Action
from protocol.blobs import BlobRef
from protocol.dialects.dialect import ChatMessage, Dialect, ScreenSize, TextPart
from protocol.formats.records import ExportOptions, RowError
from protocol.formats.row_checks import check_points, check_round_trip, check_special_tokens, message_images
from protocol.formats.special_tokens import Consumer, escape_earlier_turn, escape_prompt_text, escape_target_text
from protocol.training.preferences import Candidate, extract_preferences, extract_unpaired_preferences
from protocol.training.samples import Sample, training_samples
from protocol.trajectory.steps import Step, apply_review_fix
from protocol.trajectory.trajectories import Trajectory, without_undone_steps

IMAGE_PLACEHOLDER = "<image>"
_LINES = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class MessageText:
    """A message as a consumer reads it; pictures are placeholders in it."""

    message: ChatMessage
    text: str
    json: str
    """The text as JSON."""
    words: tuple[str, ...]
    """The special words in it, placeholders of pictures too."""


@dataclass(frozen=True)
class ChatTurn:
    """One side's words in a row."""

    role: str
    messages: tuple[MessageText, ...]

    @property
    def text(self) -> str:
        """Its messages as one text."""
        return "\n\n".join(message.text for message in self.messages)

    @property
    def json(self) -> str:
        """The text as JSON."""
        inner = "\\n\\n".join(message.json[1:-1] for message in self.messages)
        return f'"{inner}"'


@dataclass(frozen=True)
class TrainingReply:
    """What one side said, as it is learned from."""

    text: str
    thought: str | None = None
    """With `action`: what the dialect wrote it from; None for a model's own words."""
    action: Action | None = None


@dataclass(frozen=True)
class TrainingExample:
    """One decision: the conversation before it, what is learned, and the step."""

    key: str
    messages: tuple[ChatMessage, ...]
    images: tuple[BlobRef, ...]
    target: TrainingReply
    step: Step
    dialect: Dialect
    texts: dict[int, MessageText] = field(default_factory=dict, compare=False)
    """Messages as text, by their identity: the decisions of one trajectory have most of them in common."""

    @property
    def screen(self) -> ScreenSize:
        """What was acted on."""
        return ScreenSize.of(self.step.before)


@dataclass(frozen=True)
class PreferencePair:
    """One state, and two replies to it, the better one first."""

    example: TrainingExample
    chosen: TrainingReply
    rejected: TrainingReply


@dataclass(frozen=True)
class RatedReply:
    """One state, and one reply that was good or bad."""

    example: TrainingExample
    reply: TrainingReply
    good: bool


def training_examples(trajectory: Trajectory, options: ExportOptions) -> Iterator[TrainingExample]:
    """Each decision that is learned from. Raises RowError."""
    for example in _all_examples(trajectory, options):
        if options.decisions is None or example.step.decision in options.decisions:
            yield example


def preference_pairs(trajectory: Trajectory, options: ExportOptions) -> Iterator[tuple[int, PreferencePair]]:
    """Each pair of replies of which people held one for better, numbered. Raises RowError."""
    example = {one.step.index: one for one in _all_examples(trajectory, options)}
    for number, one in enumerate(extract_preferences(trajectory)):
        state = example.get(one.index)
        chosen, rejected = (_candidate_reply(candidate, state, options) for candidate in (one.chosen, one.rejected))
        if state is not None and chosen is not None and rejected is not None and chosen.text != rejected.text:
            yield number, PreferencePair(state, chosen, rejected)


def rated_replies(trajectory: Trajectory, options: ExportOptions) -> Iterator[tuple[int, RatedReply]]:
    """Each reply that people called good or bad, numbered. Raises RowError."""
    example = {one.step.index: one for one in _all_examples(trajectory, options)}
    for number, one in enumerate(extract_unpaired_preferences(trajectory)):
        state = example.get(one.index)
        reply = _candidate_reply(one.candidate, state, options)
        if state is not None and reply is not None:
            yield number, RatedReply(state, reply, one.desirable)


def message_texts(
    example: TrainingExample, consumer: Consumer, image: str = IMAGE_PLACEHOLDER
) -> tuple[MessageText, ...]:
    """The messages before a decision, checked, with a placeholder where a picture is. Raises RowSkipped."""
    texts = tuple(
        example.texts.get(id(message)) or _message_text(message, example, consumer, image)
        for message in example.messages
    )
    words = (word for text in texts for word in text.words)  # no special word goes over a line's end
    check_special_tokens(words, len(example.images), image, consumer, example.dialect)
    return texts


def _message_text(message: ChatMessage, example: TrainingExample, consumer: Consumer, image: str) -> MessageText:
    parts = (
        escape_message_text(part.text, message, example, consumer) if isinstance(part, TextPart) else image
        for part in message.content
    )
    text = "\n".join(parts)
    example.texts[id(message)] = found = MessageText(
        message, text, to_json_line(text), tuple(consumer.words.findall(text))
    )
    return found


def escape_message_text(text: str, message: ChatMessage, example: TrainingExample, consumer: Consumer) -> str:
    """Text of a message, its special words escaped or broken up."""
    if message.role == "assistant":
        return escape_earlier_turn(text, consumer, example.dialect, example.screen)
    return escape_prompt_text(text, consumer, example.dialect)


def escape_reply_text(reply: TrainingReply, example: TrainingExample, consumer: Consumer) -> str:
    """A reply as it is learned, read back. Raises RowSkipped and RowError."""
    written = None if reply.action is None else (reply.thought or "", reply.action)
    text = escape_target_text(reply.text, consumer, example.dialect, example.screen, written=written)
    if reply.action is not None:
        check_round_trip(text, reply.action, example.screen, example.dialect, example.key)
    return text


def merge_turns(example: TrainingExample, consumer: Consumer, image: str = IMAGE_PLACEHOLDER) -> tuple[ChatTurn, ...]:
    """The conversation in turns that take turns: what one side says in a row is one turn. Raises RowSkipped."""
    texts = groupby(message_texts(example, consumer, image), key=lambda text: text.message.role)
    return tuple(ChatTurn(role, tuple(messages)) for role, messages in texts)


def to_json_line(value: object) -> str:
    """A value as one line of JSON."""
    return _LINES.encode(value)


def _all_examples(trajectory: Trajectory, options: ExportOptions) -> Iterator[TrainingExample]:
    steps = {step.index: apply_review_fix(step) for step in without_undone_steps(trajectory).steps}
    texts: dict[int, MessageText] = {}
    for sample in training_samples(trajectory, options.dialect, budget=options.budget):
        yield _build_example(sample, steps[sample.index], options, texts)


def _build_example(
    sample: Sample, step: Step, options: ExportOptions, texts: dict[int, MessageText]
) -> TrainingExample:
    key = f"{sample.trajectory_id}-{sample.index:05d}"
    check_points(step, key)
    target = TrainingReply(sample.target, step.thought, options.dialect.supported_form(step.action))
    return TrainingExample(key, sample.messages, message_images(sample.messages), target, step, options.dialect, texts)


def _candidate_reply(
    candidate: Candidate, example: TrainingExample | None, options: ExportOptions
) -> TrainingReply | None:
    if example is None:
        return None
    proposal = candidate.proposal
    if proposal is not None and proposal.policy.dialect == options.dialect.name and proposal.raw_text:
        return TrainingReply(proposal.raw_text)
    supported = options.dialect.supported_form(candidate.action)
    if supported is None:
        return None
    try:
        return TrainingReply(
            options.dialect.write(candidate.thought, supported, example.screen), candidate.thought, supported
        )
    except ValueError as error:
        raise RowError("unsayable", f"{example.key}: {error}") from None
