"""Words inside text that a training program or a tokenizer takes for something else, and what is done about them.

A training program replaces placeholders such as `<image>` wherever they stand, and a tokenizer reads `<|im_end|>` as
one token, the end of a turn, wherever it stands. Text from a screen, a task or a person may hold either.

* What is read only (the task, outputs, earlier turns) has such words broken up: `< image >`.
* What is learned keeps its meaning: inside a quoted argument the first character is written as `\\u003c`, which every
  dialect with quoted arguments reads as `<`. Where that is impossible (a thought, an unquoted argument), the row is
  left out.

Placeholders as read in LLaMA-Factory 0.9.5 (`data/mm_plugin.py`, `data/formatter.py`: `{{idx}}` is replaced in a user's
turn) and verl 0.9.1 (`utils/dataset/multiturn_sft_dataset.py`, `rl_dataset.py`). TRL 1.9.0 takes parts, not
placeholders. Tokens are those that each family's `tokenizer_config.json` adds. Which checkpoint learns from a row is
not known when it is written, so the tokens of every family count, and whatever has their shape.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, get_args

from protocol.actions.types import Action, Click, Drag, Finish, Point, TypeText
from protocol.dialects.dialect import Dialect, ScreenSize, TextPart, UnparsedReply
from protocol.dialects.families import get_dialect
from protocol.dialects.prompt_template import PromptTemplate
from protocol.formats.records import RowSkipped
from protocol.trajectory.observations import Observation, Platform
from protocol.trajectory.tasks import Task

CHAT_TOKEN_PATTERN = r"<\|[^\s<>|]{1,64}\|>"  # noqa: S105 - tokens of chat templates
"""What chat tokens of most families look like."""

SPECIAL_TOKENS: Mapping[str, frozenset[str]] = {
    "qwen": frozenset(
        {
            *(f"<|{name}|>" for name in ("endoftext", "im_start", "im_end")),
            *(f"<|{name}_{end}|>" for name in ("object_ref", "box", "quad", "vision") for end in ("start", "end")),
            *(f"<|{name}_pad|>" for name in ("vision", "image", "video")),
            *(f"<|{name}|>" for name in ("fim_prefix", "fim_middle", "fim_suffix", "fim_pad", "repo_name", "file_sep")),
            *(f"<{slash}{name}>" for name in ("tool_call", "tool_response", "think") for slash in ("", "/")),
        }
    ),
    "kimi": frozenset(
        {
            *(f"<|im_{name}|>" for name in ("end", "user", "assistant", "system", "middle")),
            *(f"<|media_{name}|>" for name in ("start", "begin", "content", "pad", "end", "placeholder")),
            *("[BOS]", "[EOS]", "[EOT]", "[PAD]", "[UNK]", "[start_header_id]", "[end_header_id]"),
            *("◁think▷", "◁/think▷"),
        }
    ),
    "glm": frozenset(
        {
            *(f"<|{name}|>" for name in ("endoftext", "system", "user", "assistant", "observation", "image", "video")),
            *(f"<|{side}_of_{name}|>" for name in ("image", "video", "box") for side in ("begin", "end")),
            *("[MASK]", "[gMASK]", "[sMASK]", "<sop>", "<eop>"),
            *(f"<{slash}{name}>" for name in ("think", "tool_call", "answer", "arg_key") for slash in ("", "/")),
        }
    ),
    "seed": frozenset(
        {
            *(f"<seed:{name}>" for name in ("bos", "eos", "pad")),
            *(f"<{slash}seed:{name}>" for name in ("think", "tool_call", "cot_budget_reflect") for slash in ("", "/")),
        }
    ),
}
"""The tokens each family's tokenizer adds to its vocabulary, as they are written in text."""
TURN_END = re.compile(r"(?:\s*<\|(?:im_end|endoftext|eot_id|end_of_msg)\|>)+\s*\Z")
"""What a server leaves at the end of a model's own text; the consumer's template writes it again."""


@dataclass(frozen=True)
class Consumer:
    """A program that learns from rows."""

    name: str
    placeholders: tuple[str, ...] = ()
    """What it replaces or splits at, in every turn; the first stands for a picture."""
    prompt_placeholders: tuple[str, ...] = ()
    """What it replaces in a user's turn besides."""

    @property
    def prompt_words(self) -> re.Pattern[str]:
        """Finds every special word of a prompt."""
        return _pattern((*self.placeholders, *self.prompt_placeholders))

    @property
    def words(self) -> re.Pattern[str]:
        """Finds every special word of an assistant's turn."""
        return _pattern(self.placeholders)


LLAMA_FACTORY = Consumer("llama_factory", ("<image>", "<video>", "<audio>"), ("{{idx}}",))
VERL = Consumer("verl", ("<image>", "<video>", "<audio>"))
TRL = Consumer("trl")
UI_TARS = Consumer("ui_tars")
CONSUMERS = (LLAMA_FACTORY, VERL, TRL, UI_TARS)


def escape_prompt_text(text: str, consumer: Consumer, dialect: Dialect | None = None) -> str:
    """Text that is read and not learned: a space inside each special word but those of the dialect's own prompt."""
    return _escape_prompt_text(text, consumer, (dialect.name, dialect.template) if dialect else None)


def escape_earlier_turn(text: str, consumer: Consumer, dialect: Dialect, screen: ScreenSize) -> str:
    """An assistant's earlier turn: escaped as it is where it is learned, else broken up."""
    own = dialect_tokens(dialect)
    if own.issuperset(consumer.words.findall(text)):
        return text
    escaped = _escape_tokens(text, consumer.words, own)
    return escaped if _means_the_same(text, escaped, dialect, screen) else _break_tokens(text, consumer.words, own)


def escape_target_text(
    text: str, consumer: Consumer, dialect: Dialect, screen: ScreenSize, *, written: tuple[str, Action] | None = None
) -> str:
    """Text that is learned: as it is, or escaped so that the consumer and a tokenizer leave it alone and it means the
    same.

    Args:
        written: The thought and the action that the dialect wrote; None where the text is a model's own.

    Raises:
        RowSkipped: `special_word` or `not_normalised` where no escape keeps the meaning.
    """
    if written is None:
        text = TURN_END.sub("", text)
    found, normal = consumer.words.findall(text), unicodedata.is_normalized("NFC", text)
    if normal and not found:
        return text
    own = dialect_tokens(dialect)
    read = written or _parse(text, dialect, screen)
    inside = (
        Counter(word for _, value in _reply_strings(read) for word in consumer.words.findall(value))
        if read
        else Counter()
    )
    foreign = Counter(word for word in found if word not in own)
    if own.isdisjoint(inside):
        if normal and not foreign:
            return text
        escaped = _escape_tokens(text, consumer.words, own)
        arguments_only = written is not None or inside == foreign
        if (
            arguments_only
            and is_preserved(escaped, consumer, dialect)
            and _means_the_same(text, escaped, dialect, screen)
        ):
            return escaped
    if foreign or not own.isdisjoint(inside):
        word = next(iter(foreign or inside))
        field = _failing_field(read, lambda value: word in consumer.words.findall(value))
        raise RowSkipped("special_word", f"{field}: {word!r} is no text to {consumer.name} or to a tokenizer")
    field = _failing_field(read, lambda value: not unicodedata.is_normalized("NFC", value))
    raise RowSkipped("not_normalised", f"{field}: a tokenizer replaces some of its characters (Unicode NFC)")


def is_preserved(text: str, consumer: Consumer, dialect: Dialect) -> bool:
    """Whether a consumer and a tokenizer leave a reply as it is."""
    return dialect_tokens(dialect).issuperset(consumer.words.findall(text)) and unicodedata.is_normalized("NFC", text)


def dialect_tokens(dialect: Dialect) -> frozenset[str]:
    """The special words that a dialect's turns consist of."""
    return _dialect_tokens(dialect.name, dialect.template)[0]


def dialect_prompt_tokens(dialect: Dialect) -> frozenset[str]:
    """The special words that a dialect's turns and prompts consist of."""
    return _dialect_tokens(dialect.name, dialect.template)[1]


@lru_cache
def _pattern(placeholders: tuple[str, ...]) -> re.Pattern[str]:
    words = frozenset(placeholders).union(*SPECIAL_TOKENS.values())
    others = sorted(
        (word for word in words if not re.fullmatch(CHAT_TOKEN_PATTERN, word)), key=lambda word: (-len(word), word)
    )
    return re.compile("|".join([CHAT_TOKEN_PATTERN, *map(re.escape, others)]))


@lru_cache(maxsize=256)
def _escape_prompt_text(text: str, consumer: Consumer, dialect: tuple[str, PromptTemplate] | None) -> str:
    return _break_tokens(text, consumer.prompt_words, _dialect_tokens(*dialect)[1] if dialect else frozenset())


@lru_cache
def _dialect_tokens(name: str, prompt: PromptTemplate) -> tuple[frozenset[str], frozenset[str]]:
    """The special words of a dialect's turns; and those of its turns and prompts."""
    dialect, pattern, screen = get_dialect(name, prompt), _pattern(()), ScreenSize(width=1000, height=1000)
    point, end = Point(x=1, y=1), Point(x=9, y=9)
    actions = (Click(x=1, y=1), Drag(start=point, end=end), TypeText(text="a"), Finish())
    turns = [dialect.write("a", action, screen) for action in actions]
    look = Observation(
        screenshot=None,
        width=1000,
        height=1000,
        captured_at=datetime(2026, 1, 1, tzinfo=UTC),
        settled=True,
        rest="rested",
        settle_ms=0,
    )
    tasks = [Task(id="a", instruction="a", platform=platform) for platform in get_args(Platform)]
    messages = [message for task in tasks for message in dialect.render(task, (), look)]
    prompts = [part.text for message in messages for part in message.content if isinstance(part, TextPart)]
    replies = frozenset(word for text in turns for word in pattern.findall(text))
    return replies, replies.union(word for text in prompts for word in pattern.findall(text))


def _break_tokens(text: str, pattern: re.Pattern[str], own: frozenset[str]) -> str:
    def spaced(found: re.Match[str]) -> str:
        word = found[0]
        return word if word in own else f"{word[0]} {word[1:-1]} {word[-1]}"

    return pattern.sub(spaced, text)


def _escape_tokens(text: str, pattern: re.Pattern[str], own: frozenset[str]) -> str:
    def escaped(found: re.Match[str]) -> str:
        word = found[0]
        return word if word in own else f"\\u{ord(word[0]):04x}{word[1:]}"

    text = pattern.sub(escaped, text)
    return text if unicodedata.is_normalized("NFC", text) else "".join(map(_normalised_character, text))


def _normalised_character(character: str) -> str:
    """A character that NFC leaves alone and joins to no other, else its escape."""
    joins = unicodedata.combining(character) or 0x1161 <= ord(character) <= 0x11FF
    if not joins and unicodedata.is_normalized("NFC", character):
        return character
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"


def _means_the_same(text: str, escaped: str, dialect: Dialect, screen: ScreenSize) -> bool:
    before = _parse(text, dialect, screen)
    return before is not None and before == _parse(escaped, dialect, screen)


def _parse(text: str, dialect: Dialect, screen: ScreenSize) -> tuple[str, Action] | None:
    read = dialect.parse(text, screen)
    return None if isinstance(read, UnparsedReply) else (read.thought, read.action)


def _failing_field(read: tuple[str, Action] | None, wrong: Callable[[str], bool]) -> str:
    """The field that something is wrong with: `thought`, `action.text`; `reply` where it is in none of them."""
    return next((name for name, value in _reply_strings(read) if wrong(value)), "reply") if read else "reply"


def _reply_strings(read: tuple[str, Action]) -> Iterator[tuple[str, str]]:
    """Every text of a reply, by its field."""
    yield "thought", read[0]
    yield from _nested_strings("action", read[1].model_dump(mode="json"))


def _nested_strings(field: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield field, key
            yield from _nested_strings(f"{field}.{key}", inner)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _nested_strings(f"{field}.{number}", inner)
