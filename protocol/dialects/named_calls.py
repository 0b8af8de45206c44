"""One call a turn of functions that a maker named in its own way: `Click(point=(1, 2))`, `do(action="Tap", …)`.

What a grammar lacks is called by the names of `protocol.dialects.action_readers`, which are read from every family.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from protocol.actions.types import Action
from protocol.dialects.action_readers import call_to_action
from protocol.dialects.action_writers import PointSyntax, action_to_call
from protocol.dialects.coordinates import CoordinateGrid, pixel_to_grid
from protocol.dialects.dialect import ScreenSize
from protocol.dialects.family_dialect import ParsedTurn
from protocol.dialects.function_calls import (
    FunctionCall,
    ReplyParseError,
    escape_value,
    format_call,
    parse_call,
    several_actions_error,
)
from protocol.dialects.reply_wrappers import (
    FUNCTION_NAMES,
    explain_missing_call,
    has_earlier_call,
    join_thought,
    unwrap_reply,
)

NamedCallWriter = Callable[[Any, Callable[[Any], str]], str | None]
"""The text of a call, given how a pixel is named; None where the function cannot say all of the action."""
_WRAPPERS = (
    r"(?:(?:<\|begin_of_box\|>|<(?:answer|action|output|tool_call)>|```\w*|\*\*|Action\s*[:：])\s*|`(?!`)[ \t]*)*"
)


@dataclass(frozen=True)
class NamedCallCodec:
    """A thought and one call; see `protocol.dialects.family_dialect.TurnCodec`."""

    grid: CoordinateGrid
    names: tuple[str, ...]
    """The maker's functions."""
    calls: Mapping[str, NamedCallWriter]
    """How it calls each kind of action."""
    point: Callable[[int, int], str]
    turn: Callable[[str, str], str]
    """A turn, of its thought and its call."""
    rename: Callable[[FunctionCall], FunctionCall]
    """A call of the maker's functions as one of ours. Raises ReplyParseError."""

    @cached_property
    def _name(self) -> str:
        return "|".join(sorted({*self.names, *FUNCTION_NAMES}, key=len, reverse=True))

    @cached_property
    def _at_line(self) -> re.Pattern[str]:
        return re.compile(rf"^[ \t]*{_WRAPPERS}(?=(?:{self._name})[ \t]*[(（])", re.MULTILINE)

    @cached_property
    def _anywhere(self) -> re.Pattern[str]:
        own = "|".join(sorted(self.names, key=len, reverse=True))
        return re.compile(rf"(?<![\w.])(?=(?:{own})\()")

    def write(self, thought: str, action: Action, screen: ScreenSize) -> str:
        """One assistant turn."""
        size = self.grid(screen)
        own = self.calls.get(action.kind)
        text = own(action, lambda pixel: self.point(*pixel_to_grid(pixel, screen, size))) if own else None
        if text is None:
            syntax = PointSyntax(self.grid, "point", "start_point", "end_point", lambda x, y: f"[{x}, {y}]")
            text = format_call(action_to_call(action, screen, syntax))
        return self.turn(thought, text)

    def write_summary(self, thought: str, summary: str) -> str:
        """A turn in words for an action that cannot be expressed."""
        return f"{thought}\nAction_Summary: {summary}"

    def read(self, text: str, screen: ScreenSize) -> ParsedTurn:
        """Take a reply apart; never raises."""
        reply = unwrap_reply(text.replace("\r\n", "\n"), self._at_line)
        head = self._at_line.search(reply.text) or self._anywhere.search(reply.text)
        before = reply.text[: head.start()] if head else reply.text
        thought, call_text = join_thought(reply.thinking, before), ""
        try:
            if head is None:
                raise ReplyParseError("no_action", explain_missing_call(reply))
            if has_earlier_call(before) or self._anywhere.search(before):
                raise several_actions_error("another call precedes it")
            call_text = reply.text[head.end() :].strip()
            call, only = parse_call(call_text)
            rest, call_text = call_text[len(only) :], only
            if self._anywhere.search(rest):
                raise several_actions_error()
            if reply.open and rest.strip():
                raise ReplyParseError("unfinished_call", "The thinking tag never closes, and text follows the call.")
            renamed = self.rename(call) if call.name in self.names else call
            return ParsedTurn(thought, call_text, call_to_action(renamed, screen, self.grid))
        except ReplyParseError as parse_error:
            return ParsedTurn(thought, call_text, parse_error)


def quoted(text: str, quote: str = "'") -> str:
    """A text as an argument."""
    return f"{quote}{escape_value(text)}{quote}"


def renamed_call(name: str, call: FunctionCall, **names: str) -> FunctionCall:
    """A call under another name, with arguments under others. Raises ReplyParseError where two would be one."""
    arguments = {names.get(key, key): value for key, value in call.arguments.items()}
    if len(arguments) < len(call.arguments):
        raise ReplyParseError("bad_arguments", "An argument occurs twice, under two names.")
    return FunctionCall(name, arguments)


def without_arguments(call: FunctionCall, *names: str) -> FunctionCall:
    """A call without arguments that mean nothing here."""
    return FunctionCall(call.name, {key: value for key, value in call.arguments.items() if key not in names})
