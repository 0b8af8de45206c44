"""Reads and writes replies of the form `Thought: …` and `Action: function(argument='value')`.

Also read: `Reflection:` and `Action_Summary:` before the action, a full-width colon, bold labels, `Action:` without a
thought, without a space or missing altogether, thinking tags (open ones too), fences, boxes, answer wrappers,
end-of-text tokens.

A step whose action the family cannot write is in the history as `Thought: …` and `Action_Summary: …`, with points in
the family's own grid. It is no call, so that no model learns to write one that its grammar lacks.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from protocol.actions.types import Action
from protocol.dialects.action_readers import call_to_action, call_to_actions
from protocol.dialects.action_writers import PointSyntax, action_to_call
from protocol.dialects.coordinates import CoordinateGrid
from protocol.dialects.dialect import ScreenSize
from protocol.dialects.family_dialect import ParsedTurn
from protocol.dialects.function_calls import (
    FunctionCall,
    ReplyParseError,
    format_call,
    parse_call,
    parse_calls,
    several_actions_error,
)
from protocol.dialects.reply_wrappers import (
    CALL_AT_LINE,
    NAMED_CALL,
    UnwrappedReply,
    explain_missing_call,
    has_earlier_call,
    join_thought,
    strip_thought_wrappers,
    unwrap_reply,
)

_Parsed = TypeVar("_Parsed")
_ACTION_LABEL = r"(?:Action\s*[:：]|\*\*Action\s*[:：]\s*\*\*|\*\*Action\*\*\s*[:：]|#{1,4}[ \t]*Action\s*[:：])\s*"
_ACTION_LABEL_AT_LINE = _ACTION_LABEL.replace("Action", r"(?i:Action|动作|行动|操作)[ \t]*\d*")
_CALL = r"(?:(?:<\|begin_of_box\|>|<(?:answer|action|output|tool_call)>|```\w*|`|\*\*)\s*)*(?=[A-Za-z_]\w*\s*[(（])"
_LABELLED_CALL_AT_LINE = re.compile(rf"^[ \t]*{_ACTION_LABEL_AT_LINE}{_CALL}", re.MULTILINE)
_LABELLED_CALL = re.compile(rf"(?<![A-Za-z_]){_ACTION_LABEL}{_CALL}")
_HEAD = re.compile(rf"{_LABELLED_CALL_AT_LINE.pattern}|{CALL_AT_LINE.pattern}|{_LABELLED_CALL.pattern}", re.MULTILINE)
_ACTION_LINE = re.compile(r"^[ \t]*(?:\*\*)?Action[ \t]*(?:\*\*)?[ \t]*[:：]", re.MULTILINE)
_EARLIER_ACTION = re.compile(rf"{_ACTION_LINE.pattern}|{NAMED_CALL.pattern}", re.MULTILINE)
_NEXT_TURN = re.compile(r"^[ \t]*(?:\*\*)?(?:Thought|Observation)[ \t]*(?:\*\*)?[ \t]*[:：]", re.MULTILINE)
_THOUGHT_LABEL = r"(?i:Thought|思考|想法)[ \t]*\d*"
_THOUGHT = re.compile(
    rf"(?:\*\*{_THOUGHT_LABEL}\s*[:：]\s*\*\*|\*\*{_THOUGHT_LABEL}\*\*\s*[:：]"
    rf"|#{{1,4}}[ \t]*{_THOUGHT_LABEL}\s*[:：]|{_THOUGHT_LABEL}\s*[:：])\s*"
)
_LABEL = re.compile(r"\b(?:Thought|Observation|Reflection|Action_Summary)\s*[:：]\s*")


def format_reply(thought: str, action: str) -> str:
    """One assistant turn; without a thought the action alone."""
    return f"Thought: {thought}\nAction: {action}" if thought else f"Action: {action}"


def parse_reply(text: str) -> tuple[str, str, FunctionCall | ReplyParseError]:
    """(thought, action text, its call or why it cannot be read).

    The action begins at the first line `Action:` that a call follows, or the first line that is a call, so that a
    thought may hold the word.
    """
    return _parse_with(text, parse_call)


def parse_batch(text: str) -> tuple[str, str, list[FunctionCall] | ReplyParseError]:
    """The same for a reply with several calls."""
    return _parse_with(text, parse_calls)


def _parse_with(text: str, parse: Callable[[str], tuple[_Parsed, str]]) -> tuple[str, str, _Parsed | ReplyParseError]:
    reply = unwrap_reply(text.replace("\r\n", "\n"), _HEAD)
    begin = _find_call_start(reply.text)
    if begin is None:
        return _thought(reply, len(reply.text)), "", ReplyParseError("no_action", explain_missing_call(reply))
    start, at = begin
    thought, action = _thought(reply, start), reply.text[at:].strip()
    earlier = _EARLIER_ACTION.search(reply.text, 0, start)
    if (earlier and _NEXT_TURN.search(reply.text, earlier.end(), start)) or has_earlier_call(reply.text[:start]):
        return thought, action, several_actions_error("an earlier turn stands before it")
    try:
        parsed, parsed_text = parse(action)
    except ReplyParseError as error:
        return thought, action, error
    if reply.open and parsed_text != action:
        return (
            thought,
            action,
            ReplyParseError("unfinished_call", "The thinking tag never closes, and text follows the call."),
        )
    return thought, parsed_text, parsed


def _find_call_start(text: str) -> tuple[int, int] | None:
    """(end of the thought, begin of the call) of the first call; None where there is none."""
    found = [mark.span() for mark in (_LABELLED_CALL_AT_LINE.search(text), CALL_AT_LINE.search(text)) if mark]
    if found:
        return min(found)
    mark = _LABELLED_CALL.search(text)
    return mark.span() if mark else None


def _thought(reply: UnwrappedReply, end: int) -> str:
    text = strip_thought_wrappers(reply.text[:end])
    if labelled := _THOUGHT.match(text):
        text = text[labelled.end() :].strip()
    elif ":" in text or "：" in text:
        text = "\n".join(filter(None, map(str.strip, _LABEL.split(text))))
    return join_thought(reply.thinking, text) if reply.thinking else text


@dataclass(frozen=True)
class ThoughtActionCodec:
    """The writing of a family that names points in this style; see `protocol.dialects.family_dialect.TurnCodec`."""

    syntax: PointSyntax
    batch_hint: str = (
        "Where no new screenshot is needed in between, up to {count} actions may follow each other: "
        "write each on a line of its own with an empty line before it."
    )

    @property
    def grid(self) -> CoordinateGrid:
        return self.syntax.grid

    def write(self, thought: str, action: Action, screen: ScreenSize) -> str:
        return format_reply(thought, format_call(action_to_call(action, screen, self.syntax)))

    def write_summary(self, thought: str, summary: str) -> str:
        return f"Thought: {thought}\nAction_Summary: {summary}"

    def write_batch(self, thought: str, actions: tuple[Action, ...], screen: ScreenSize) -> str:
        calls = (format_call(action_to_call(action, screen, self.syntax)) for action in actions)
        return format_reply(thought, "\n\n".join(calls))

    def read_batch(self, text: str, screen: ScreenSize) -> ParsedTurn:
        thought, action_text, calls = parse_batch(text)
        try:
            if isinstance(calls, ReplyParseError):
                raise calls
            first, *further = (each for call in calls for each in call_to_actions(call, screen, self.syntax.grid))
            return ParsedTurn(thought, action_text, first, tuple(further))
        except ReplyParseError as parse_error:
            return ParsedTurn(thought, action_text, parse_error)

    def read(self, text: str, screen: ScreenSize) -> ParsedTurn:
        thought, action_text, call = parse_reply(text)
        try:
            if isinstance(call, ReplyParseError):
                raise call
            return ParsedTurn(thought, action_text, call_to_action(call, screen, self.syntax.grid))
        except ReplyParseError as parse_error:
            return ParsedTurn(thought, action_text, parse_error)
