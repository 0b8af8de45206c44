"""JSON objects in a model's text: found, decoded tolerantly, and written."""

import json
import re
from typing import Any, cast

from protocol.dialects.action_readers import parse_point
from protocol.dialects.function_calls import ReplyParseError, several_actions_error
from protocol.dialects.reply_wrappers import UnwrappedReply, find_call_end, has_earlier_call, has_following_turn

_POINTS = ("point", "start_point", "end_point")
_NUMBERS = ("amount", "time", "timeout", "clicks", "dx", "dy")
_TRAILING_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(\s*[}\]])', re.DOTALL)
_MAX_OBJECTS = 20


def argument_to_json(name: str, key: str, value: str) -> Any:
    """An argument of a function's call as JSON has it: points as lists, numbers as numbers."""
    if key == "points":
        return [[int(coordinate) for coordinate in parse_point(each)] for each in value.split(";")]
    if key in _POINTS:
        return [int(coordinate) for coordinate in parse_point(value)]
    if key in _NUMBERS or (name, key) == ("call_tool", "arguments"):
        return json.loads(value)
    return value


_Object = tuple[int, int, dict[str, Any]]


def find_objects(text: str) -> list[_Object]:
    """Every JSON object that stands in a text by itself, with its place.

    A brace that begins no object is prose. One that does and has no good end is refused with all that it holds: what
    stands inside it would be half of what was meant. Raises ReplyParseError.
    """
    found: list[_Object] = []
    position = text.find("{")
    for _ in range(_MAX_OBJECTS):
        if position < 0:
            break
        if text[position + 1 :].lstrip()[:1] not in ('"', "}"):
            position = text.find("{", position + 1)
            continue
        value, end = decode_object(text, position)
        found.append((position, end, value))
        position = text.find("{", end)
    return found


def decode_object(text: str, position: int) -> tuple[dict[str, Any], int]:
    """The object that begins at a place, and where it ends; raw line breaks in texts and commas too many are read.

    Raises ReplyParseError.
    """
    try:
        return cast(tuple[dict[str, Any], int], _DECODER.raw_decode(text, position))
    except (ValueError, RecursionError) as error:
        if isinstance(error, ReplyParseError):
            raise
    try:
        repaired = _TRAILING_COMMA.sub(lambda found: found[1] or f" {found[2]}", text[position:])
        value, end = _DECODER.raw_decode(repaired)
    except (ValueError, RecursionError) as error:
        if isinstance(error, ReplyParseError):
            raise
        raise ReplyParseError(
            "unfinished_call",
            'The JSON is cut, or a quote or a bracket is out of place. Write quotes in a text as \\".',
        ) from None
    return value, position + end


def decode_arguments(text: str) -> Any:
    """The arguments of a call that come as a text of JSON. Raises ReplyParseError."""
    try:
        return _DECODER.decode(text)
    except ReplyParseError:
        raise
    except (ValueError, RecursionError):
        raise ReplyParseError("bad_arguments", "The arguments are no JSON object.") from None


def check_surroundings(reply: UnwrappedReply, start: int, end: int, *, arrays: bool = True) -> None:
    """Raises ReplyParseError unless what stands around an object is wrappers and prose; `arrays` says that a
    bracket before it begins an array."""
    before, rest = reply.text[:start], reply.text[end:]
    if has_earlier_call(before):
        raise several_actions_error("a call of another form precedes it")
    if has_following_turn(rest):
        raise several_actions_error()
    if arrays and before.rstrip().endswith("[") and not rest.lstrip().startswith("]"):
        raise ReplyParseError("unfinished_call", "The array of actions is cut.")
    if reply.open and find_call_end(rest, 0) < len(rest):
        raise ReplyParseError("unfinished_call", "The thinking tag never closes, and text follows the action.")


def _unique_fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ReplyParseError("bad_arguments", "A field occurs twice.")
    return value


def _reject_number(name: str) -> Any:
    raise ReplyParseError("bad_value", f"{name} is no value.")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_fields, parse_constant=_reject_number, strict=False)
