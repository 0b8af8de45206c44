"""The frame of a reply, `Thought: …` and `Action: …`, in all the forms models give it.

Also read: `Reflection:` and `Action_Summary:` before the action, a full-width colon, `Action:` without a thought,
without a space or missing altogether, think tags (open ones too), answer wrappers, end-of-text tokens.
"""

import re
from collections.abc import Iterator
from itertools import islice

from vocabulary.calls import Call, Unreadable, read_calls

_LEADING = re.compile(r"\s*<(?:computer_env|answer)>\s*")
_ENDINGS = ("[EOS]", "<|im_end|>", "<|endoftext|>", "</computer_env>", "</answer>")
_THINK = re.compile(r"\s*<(think\w*)>(.*?)(?:</\1>|$)", re.DOTALL)
_THOUGHT = re.compile(r"Thought\s*[:：]\s*")
_LABEL = re.compile(r"\b(?:Thought|Reflection|Action_Summary)\s*[:：]\s*")
_MARKER_AT_LINE = re.compile(r"^[ \t]*Action\s*[:：]\s*", re.MULTILINE)
_MARKER = re.compile(r"(?<![A-Za-z_])Action\s*[:：]\s*")
_CALL_AT_LINE = re.compile(r"^[ \t]*(?=[A-Za-z_]\w*\s*[(（])", re.MULTILINE)
_MAX_TRIES = 20


def write_reply(thought: str, action: str) -> str:
    """One assistant turn; without a thought the action alone."""
    return f"Thought: {thought}\nAction: {action}" if thought else f"Action: {action}"


def split_reply(text: str) -> tuple[str, str, tuple[Call, ...] | Unreadable]:
    """(thought, action text, its calls or why they cannot be read).

    The action begins at the first `Action:` whose rest reads as calls, so that a thought may hold the word; a reply
    `Action: a`, `Action: b` therefore has two calls.
    """
    text = _unwrapped(text)
    first: tuple[str, str, Unreadable] | None = None
    for start, end in islice(_beginnings(text), _MAX_TRIES):
        thought, action = _plain_thought(text[:start]), text[end:].strip()
        try:
            return thought, action, read_calls(action)
        except Unreadable as error:
            first = first or (thought, action, error)
    return first or (_plain_thought(text), "", Unreadable("no_action", "The reply holds no action."))


def _beginnings(text: str) -> Iterator[tuple[int, int]]:
    """Where the action may begin, likeliest first: (end of the thought, begin of the action)."""
    marked = (_MARKER_AT_LINE, _MARKER) if _MARKER.search(text) else (_CALL_AT_LINE,)
    return (mark.span() for pattern in marked for mark in pattern.finditer(text))


def _unwrapped(text: str) -> str:
    """The reply without what stands around it."""
    if leading := _LEADING.match(text):
        text = text[leading.end() :]
    text = text.rstrip()
    while ending := next(filter(text.endswith, _ENDINGS), None):
        text = text.removesuffix(ending).rstrip()
    return text


def _plain_thought(text: str) -> str:
    """A thought without its labels and think tags."""
    if think := _THINK.match(text):
        text = f"{think[2]}\n{text[think.end() :]}"
    text = text.strip()
    if labelled := _THOUGHT.match(text):
        return text[labelled.end() :].strip()
    return "\n".join(filter(None, map(str.strip, _LABEL.split(text))))
