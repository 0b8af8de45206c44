"""The nano policy's tokens: bytes, so that any label is spelled as it is; and whole what always stands alike.

Every byte is a token and nothing is merged: a label looks the same wherever it stands, and what is read letter by
letter on the screen can be found letter by letter in the instruction. What a dialect always says in the same words is
one token each, or a prompt would be a thousand bytes long. A point is two tokens, `<point>12` and ` 34</point>`.
"""

from transformers import Qwen2TokenizerFast

from protocol.dialects.dialect import TextPart
from trainer.model.tiny_qwen import byte_tokenizer
from trainer.nano.prompts import build_conversation
from trainer.nano.synthetic.instructions import ACTION_THOUGHTS, PLACES

ACROSS = 352
"""Pixels that can be named on either axis; the pictures are at most 336 long."""
POINTED = tuple(f"{kind}(point='" for kind in ("click", "left_double", "right_single", "scroll"))
DRAGGED, WAYS = "drag(start_point='", ("', direction='up')", "', direction='down')")
KEYS = tuple(
    f"hotkey(key='{key}')" for key in ("up", "down", "left", "right", "enter", "tab", "space", "esc", "backspace")
)
ACTS = (*POINTED, DRAGGED, *WAYS, *KEYS)
"""What is done, where the thought before leaves that open."""
REPLIES = (
    *("Thought: ", "\nAction: "),
    *POINTED,
    *(DRAGGED, "', end_point='", *WAYS),
    *("type(content='", "hotkey(key='", "finished(content='", "wait()", "')"),
    *KEYS,
)
MARK = "\N{REPLACEMENT CHARACTER}"


def create_tokenizer() -> Qwen2TokenizerFast:
    """Bytes, Qwen's special tokens and the phrases that are one token each; the same on every call."""
    return byte_tokenizer(single_token_phrases())


def single_token_phrases() -> tuple[str, ...]:
    """What is one token each, in a fixed order."""
    points = (*(f"<point>{x}" for x in range(ACROSS)), *(f" {y}</point>" for y in range(ACROSS)))
    known = ("user\n", "assistant\n", *_prompt_pieces(), *REPLIES, *PLACES, *ACTION_THOUGHTS.values(), *points)
    return tuple(dict.fromkeys(known))


def _prompt_pieces() -> list[str]:
    """The dialect's prompt around the instruction, in pieces: each line of what can be done is one."""
    whole, bare = (_prompt(kinds) for kinds in (None, frozenset[str]()))
    head = next(count for count in range(len(bare)) if bare[count] != whole[count])
    lines = whole[head : len(whole) - (len(bare) - head)].splitlines(keepends=True)
    return [bare[:head], *lines, bare[head:].removeprefix("\n")]


def _prompt(kinds: frozenset[str] | None) -> str:
    """All that stands before the instruction."""
    first = build_conversation(MARK, (320, 240), kinds=kinds)[0]
    return "".join(part.text for part in first.content if isinstance(part, TextPart)).split(MARK)[0]
