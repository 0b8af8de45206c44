"""The beginning of a reply as a dialect writes it, for a model to continue; and what the continuation says. Pure.

A dialect writes a whole reply with a marker where the typed text ends. The text before the marker is the prefix that
the model continues. The text after it completes a truncated continuation, so that the dialect's own parser reads it. A
reply that the model ended itself must parse as it is.
"""

from dataclasses import dataclass
from itertools import takewhile

from protocol.actions.types import Action, CallUser, Click, Finish, PressKeys, TypeText, Wait
from protocol.dialects.conversations import break_special_tokens
from protocol.dialects.dialect import Dialect, ParsedReply, ScreenSize

MARKER = "Zq7continuesHereQz"
"""Stands for what is still to be written. No dialect escapes any of its letters."""
_SAMPLES: tuple[Action, ...] = (
    Wait(seconds=1),
    Click(x=0, y=0),
    Finish(answer="done"),
    PressKeys(keys=("enter",)),
    TypeText(text="a"),
    CallUser(message="a"),
)
"""Any two that a dialect has show what it writes between the thought and the action."""


@dataclass(frozen=True)
class ReplyPrefix:
    """A reply up to where a model is to continue it."""

    text: str
    opening: str
    """What the dialect puts before the typed text. A server that begins its reply with it did not continue."""
    closing: str
    """What the dialect writes after the text, whatever follows; empty where that differs."""
    ending: str
    """What completes the reply where the continuation was cut."""

    def complete(self, generated: str, *, ended: bool) -> str:
        """The reply that a continuation makes. `ended`: the model ended it; else it was cut, perhaps within a word."""
        if ended:
            return self.text + generated
        text, closed, _ = generated.partition(self.closing) if self.closing else (generated, "", "")
        return self.text + (text if closed else _whole_words(text)) + self.ending


def thought_prefix(dialect: Dialect, thought: str, screen: ScreenSize) -> ReplyPrefix | None:
    """A reply up to the end of a half-written thought. None where the dialect cannot write it as such a beginning: the
    thought holds special tokens, or does not stand before the action."""
    samples = _samples(dialect)
    if not thought or len(samples) < 2 or not _is_plain(thought):
        return None
    replies = [dialect.write(thought + MARKER, action, screen) for action in samples]
    heads, endings = zip(*(reply.split(MARKER, 1) for reply in replies if reply.count(MARKER) == 1), strict=True)
    if len(endings) < len(samples) or len(set(heads)) > 1:
        return None
    opening = dialect.write(MARKER, samples[0], screen).partition(MARKER)[0]
    return ReplyPrefix(heads[0], opening, _common_start(*endings).rstrip(), endings[0])


def continued_thought(dialect: Dialect, reply: str, thought: str, screen: ScreenSize) -> str:
    """What a completed reply adds to a thought, up to the end of its line; empty where it cannot be read."""
    parsed = dialect.parse(reply, screen)
    return _added(thought, parsed.thought) if isinstance(parsed, ParsedReply) else ""


def _common_start(*texts: str) -> str:
    """What all texts begin with."""
    same = takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False))
    return "".join(letters[0] for letters in same)


def _samples(dialect: Dialect) -> list[Action]:
    return [action for action in _SAMPLES if action.kind in dialect.kinds]


def _whole_words(text: str) -> str:
    """A cut text without its last word, where that is ASCII: Chinese and Japanese put no spaces between words."""
    words, _, last = text.rpartition(" ")
    return words if words and last.isascii() else text


def _is_plain(text: str) -> bool:
    """Whether a text cannot close a turn, and does not hold the marker."""
    return break_special_tokens(text) == text and MARKER not in text


def _added(before: str, after: str) -> str:
    """What follows in the line, up to a character that was cut: servers decode half of one as U+FFFD."""
    if not after.startswith(before):
        return ""
    return after[len(before) :].partition("\n")[0].partition("\ufffd")[0]
