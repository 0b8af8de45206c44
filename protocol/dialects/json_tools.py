"""One call a turn of a model's own computer tool, as JSON: Qwen's `computer_use` and `mobile_use`, and their relatives.

What a maker's tool lacks is offered as functions beside it, by the names of `protocol.dialects.action_readers`. Read as
well: calls as XML (`<function=NAME><parameter=KEY>`), arguments as a text, a call without its tags.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from protocol.actions.types import Action
from protocol.dialects.action_readers import call_to_action
from protocol.dialects.action_writers import PointSyntax, action_to_call
from protocol.dialects.computer_tools import TOOL_NAMES, format_arguments, to_function_call, to_json
from protocol.dialects.coordinates import CoordinateGrid, pixel_to_grid
from protocol.dialects.dialect import ScreenSize
from protocol.dialects.family_dialect import ParsedTurn
from protocol.dialects.function_calls import FunctionCall, ReplyParseError, several_actions_error
from protocol.dialects.json_objects import argument_to_json, check_surroundings, decode_arguments, find_objects
from protocol.dialects.reply_wrappers import UnwrappedReply, explain_missing_call, join_thought, unwrap_reply

Arguments = dict[str, Any]
CallWriter = Callable[[Any, Callable[[Any], list[int]]], Arguments | None]
"""The arguments of a native call, given how a pixel is named; None where the tool cannot say all of the action."""

_HEAD = re.compile(r'<tool_call>|<function=|\{\s*"(?:name|arguments|action|function|note|thoughts?)"\s*:')
_ACTION_LABEL = re.compile(r"^[ \t]*(?:\*\*)?Action(?:\*\*)?[ \t]*[:：](?:\*\*)?[ \t]*", re.MULTILINE)
_FUNCTION = re.compile(r"<function=([\w.-]{1,200})>")
_PARAMETER = re.compile(r"\s*<parameter=([\w.-]{1,100})>")
_TAG = re.compile(r"</?(?:function|tool_call)\b|<parameter=|<\|im_")
_BETWEEN_CALLS = re.compile(r"\s*</tool_call>\s*<tool_call>\s*")
_TEXTS = frozenset({"action", "text", "content", "url", "query", "fact", "answer", "message"})
"""Parameters that are text, whatever they look like."""


@dataclass(frozen=True)
class _FoundCall:
    """A call in a reply: its place, its function (empty for the model's own tool), its arguments and its thought."""

    start: int
    end: int
    name: str
    arguments: Arguments
    thought: str = ""


@dataclass(frozen=True)
class JsonToolCodec:
    """One call of a computer tool a turn; see `protocol.dialects.family_dialect.TurnCodec`."""

    tool: str
    grid: CoordinateGrid
    calls: Mapping[str, CallWriter]
    """Native calls by the kind of action."""
    turn: Callable[[str, str, Arguments], str]
    """A turn, of its thought and a call."""
    rename: Callable[[str, Arguments], tuple[str, Arguments]] = lambda name, arguments: (name, arguments)
    """A native call in names that `protocol.dialects.computer_tools` knows. Raises ReplyParseError."""

    def write(self, thought: str, action: Action, screen: ScreenSize) -> str:
        """One assistant turn."""
        native = self.calls.get(action.kind)
        if native is not None:
            size = self.grid(screen)
            arguments = native(action, lambda pixel: list(pixel_to_grid(pixel, screen, size)))
            if arguments is not None:
                return self.turn(thought, self.tool, arguments)
        call = action_to_call(action, screen, PointSyntax(self.grid, "point", "start_point", "end_point", _point_text))
        return self.turn(
            thought, call.name, {key: argument_to_json(call.name, key, value) for key, value in call.arguments.items()}
        )

    def write_summary(self, thought: str, summary: str) -> str:
        """A turn in words for an action that cannot be expressed."""
        return f"{thought}\nAction_Summary: {summary}"

    def read(self, text: str, screen: ScreenSize) -> ParsedTurn:
        """Take a reply apart; never raises."""
        reply = unwrap_reply(text, _HEAD)
        thought, content = _thought(reply, reply.text), ""
        try:
            found = _find_call(reply)
            before = _thought(reply, reply.text[: found.start])
            thought = "\n".join(filter(None, (before, found.thought))) if found.thought else before
            content = reply.text[found.start : found.end]
            check_surroundings(reply, found.start, found.end)
            action, fact = self._action(found, screen)
            return ParsedTurn("\n".join(filter(None, (thought, fact))), content, action)
        except ReplyParseError as parse_error:
            return ParsedTurn(thought, content, parse_error)

    def _action(self, found: _FoundCall, screen: ScreenSize) -> tuple[Action, str]:
        """What a call does, and a fact it asks to remember. Raises ReplyParseError."""
        name, arguments, native = self._native_call(found)
        fact = arguments.pop("fact", None) if native else None
        name, arguments = to_function_call(name, arguments, is_tool=native)
        call = FunctionCall(name, format_arguments(name, arguments))
        return call_to_action(call, screen, self.grid), fact if isinstance(fact, str) else ""

    def _native_call(self, found: _FoundCall) -> tuple[str, Arguments, bool]:
        """A call's function and arguments, and whether it is one of the computer tool. Raises ReplyParseError."""
        name, arguments = found.name, {key: value for key, value in found.arguments.items() if value is not None}
        if name and name != self.tool and not (name in TOOL_NAMES and "action" in arguments):
            return name, arguments, False
        action = arguments.pop("action", None)
        if not isinstance(action, str):
            raise ReplyParseError("bad_arguments", "A call of the computer tool names its action.")
        name, arguments = self.rename(action.strip(), arguments)
        return name, arguments, True


@dataclass(frozen=True)
class ToolCallsCodec(JsonToolCodec):
    """The same, of a model that may make several calls in one turn; see `family_dialect.BatchCodec`."""

    batch_hint: str = (
        "Where no new screenshot is needed in between, up to {count} calls may follow each other in one reply, each "
        "within its own <tool_call></tool_call>."
    )

    def write_batch(self, thought: str, actions: tuple[Action, ...], screen: ScreenSize) -> str:
        """One assistant turn with a call for each action."""
        return "\n".join(self.write("" if place else thought, action, screen) for place, action in enumerate(actions))

    def read_batch(self, text: str, screen: ScreenSize) -> ParsedTurn:
        """Take a reply with several calls apart; never raises. What stands between them must be their tags alone."""
        reply = unwrap_reply(text, _HEAD)
        thought, content = _thought(reply, reply.text), ""
        try:
            found = _find_calls(reply)
            if not found:
                raise ReplyParseError("no_action", explain_missing_call(reply))
            start, end = found[0].start, found[-1].end
            thought, content = _thought(reply, reply.text[:start]), reply.text[start:end]
            check_surroundings(reply, start, end)
            for before, after in pairwise(found):
                if not _BETWEEN_CALLS.fullmatch(reply.text, before.end, after.start) or after.thought:
                    raise several_actions_error("there is other text between two of them")
            (action, fact), *others = (self._action(one, screen) for one in found)
            facts = filter(None, (thought, found[0].thought, fact, *(other for _, other in others)))
            return ParsedTurn("\n".join(facts), content, action, tuple(other for other, _ in others))
        except ReplyParseError as parse_error:
            return ParsedTurn(thought, content, parse_error)


def _point_text(x: int, y: int) -> str:
    return f"{x} {y}"


def _thought(reply: UnwrappedReply, before: str) -> str:
    """What was thought before a call, without its label."""
    text = join_thought("", before)
    if "Action" in text:
        text = _ACTION_LABEL.sub("", text).strip()
    return join_thought(reply.thinking, text)


def _find_call(reply: UnwrappedReply) -> _FoundCall:
    """The one call of a reply. Raises ReplyParseError."""
    text, tag = reply.text, max(reply.text.find("<tool_call>"), 0)
    head = _FUNCTION.search(text, tag)
    objects = text.find("{", tag)
    if head is not None and not 0 <= objects < head.start():
        return _read_xml(text, head)
    calls = _find_calls(reply)
    if len(calls) > 1:
        raise several_actions_error(f"it holds {len(calls)} calls")
    if calls:
        return calls[0]
    if "<tool_call>" in text or "<function" in text:
        raise ReplyParseError("unfinished_call", "The reply is cut inside its call, or a tag of it is missing.")
    raise ReplyParseError("no_action", explain_missing_call(reply))


def _find_calls(reply: UnwrappedReply) -> list[_FoundCall]:
    """Every call of a reply as JSON, from its first tag on. Raises ReplyParseError."""
    tag = max(reply.text.find("<tool_call>"), 0)
    found = find_objects(reply.text[tag:])
    return [one for start, end, value in found if (one := _object_call(start + tag, end + tag, value))]


def _object_call(start: int, end: int, value: Arguments) -> _FoundCall | None:
    """The call an object means; None for an object that acts in no way. Raises ReplyParseError."""
    said = [value[key] for key in ("note", "thought") if isinstance(value.get(key), str) and value[key]]
    thought = "\n".join(said)
    inner = next((value[key] for key in ("function", "action", "tool_call") if isinstance(value.get(key), dict)), value)
    if not any(key in inner for key in ("action", "name")):
        return None
    name = inner.get("name", "") if "arguments" in inner or "action" not in inner else ""
    arguments = inner.get("arguments", inner.get("parameters") if name else None)
    if arguments is None:
        arguments = {key: item for key, item in inner.items() if key not in ("note", "thought", "name")}
    if isinstance(arguments, str):
        arguments = decode_arguments(arguments)
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise ReplyParseError("bad_arguments", "A call is a name, with an object of arguments.")
    return _FoundCall(start, end, name, arguments, thought)


def _read_xml(text: str, head: re.Match[str]) -> _FoundCall:
    """A call between tags. Raises ReplyParseError where it does not end."""
    arguments: Arguments = {}
    position = head.end()
    while (parameter := _PARAMETER.match(text, position)) is not None:
        close = text.find("</parameter>", parameter.end())
        value = text[parameter.end() : max(close, 0)]
        if close < 0 or _TAG.search(value):
            break
        if parameter[1] in arguments:
            raise ReplyParseError("bad_arguments", f"The argument {parameter[1]} occurs twice.")
        arguments[parameter[1]] = _xml_value(parameter[1], value)
        position = close + len("</parameter>")
    close = text.find("</function>", position)
    if close < 0 or text[position:close].strip():
        raise ReplyParseError("unfinished_call", "The reply is cut inside its call, or a tag of it is missing.")
    return _FoundCall(head.start(), close + len("</function>"), head[1], arguments)


def _xml_value(key: str, value: str) -> Any:
    value = value.removeprefix("\r").removeprefix("\n").removesuffix("\n").removesuffix("\r")
    if key in _TEXTS or value.strip()[:1] not in ("[", "{"):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


_CALL_TAG = re.compile("</?tool_call>")


def format_tool_call(name: str, arguments: Arguments) -> str:
    """A call between the tags that Qwen's templates have."""
    return f"<tool_call>\n{format_call_json({'name': name, 'arguments': arguments})}\n</tool_call>"


def format_call_json(value: Arguments) -> str:
    """A call as JSON that holds no tag of a call: in a text of its, the tag is escaped."""
    return _CALL_TAG.sub(lambda tag: f"\\u003c{tag[0][1:]}", to_json(value))
