"""The base class of every shared type: frozen, and strict about unknown fields. Also the types of external JSON."""

import json
import math
from collections.abc import Callable, Iterator
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, JsonValue

MAX_DEPTH = 190
"""How deep a JSON value may be nested: pydantic reads documents of 200 levels, and what holds the value has some."""


class FrozenModel(BaseModel):
    """An immutable value; an undeclared field is a schema bug, so it fails at construction.

    Numbers are finite: JSON has no NaN and no Infinity, and browsers do not parse them. One that gets past validation
    is written as null.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        json_schema_serialization_defaults_required=True,
        ser_json_inf_nan="null",
    )


def limit_json_length(limit: int) -> Callable[[Any], Any]:
    """A check that a JSON value is at most so many characters long when it is written."""

    def check(value: Any) -> Any:
        if len(json.dumps(value)) > limit:
            raise ValueError(f"the JSON has more than {limit} characters")
        return value

    return check


def find_json_error(value: Any) -> tuple[str, str] | None:
    """The first part of a decoded JSON value that UTF-8 JSON cannot hold: its path, such as `steps.0.message`, and why.

    Python's `json` reads NaN, Infinity, numbers too large for a float and half of a surrogate pair. Neither browsers
    nor PostgreSQL take them. It also reads deeper than pydantic does, which would not read again what it wrote.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (ValueError, RecursionError):
        return next(_find_errors(value), ("", "it cannot be written as JSON"))
    shallow = text.count("{") + text.count("[") <= MAX_DEPTH
    return None if shallow or _nesting_depth(value) <= MAX_DEPTH else ("", f"it is nested more than {MAX_DEPTH} deep")


def _nesting_depth(value: Any) -> int:
    """How many objects and lists lie in each other."""
    depth, level = 0, [value]
    while level := [each for each in level if isinstance(each, dict | list | tuple)]:
        depth += 1
        level = [below for each in level for below in (each.values() if isinstance(each, dict) else each)]
    return depth


def _find_errors(value: Any) -> Iterator[tuple[str, str]]:
    """Every fault in order. A stack instead of recursion: the value may be nested deeply."""
    pending: list[tuple[str, Any]] = [("", value)]
    while pending:
        path, each = pending.pop()
        if isinstance(each, str) and not _encodable(each):
            yield path, "it holds half a character (half of a surrogate pair)"
        elif isinstance(each, float) and not math.isfinite(each):
            yield path, "a number must be finite: NaN and Infinity are no JSON"
        elif isinstance(each, dict):
            if any(not _encodable(str(key)) for key in each):
                yield path, "a name in it holds half a character (half of a surrogate pair)"
            pending += [(_join_path(path, key), below) for key, below in reversed(each.items())]
        elif isinstance(each, list | tuple):
            pending += [(_join_path(path, place), each[place]) for place in range(len(each) - 1, -1, -1)]


def _join_path(path: str, part: object) -> str:
    name = str(part).encode(errors="replace").decode()
    return f"{path}.{name}" if path else name


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _validate_json_object(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    if (fault := find_json_error(value)) is not None:
        raise ValueError(": ".join(filter(None, fault)))
    return value


JsonObject = Annotated[dict[str, JsonValue], AfterValidator(_validate_json_object)]
"""A JSON object that every reader of JSON takes; pydantic's own type lets NaN and Infinity through."""
