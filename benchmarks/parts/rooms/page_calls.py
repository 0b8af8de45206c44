"""Which calls of the interface the pages make and the guides name, read from their source."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
METHOD_NAMES = re.compile("|".join(METHODS))
REQUEST = re.compile(r"\brequest(?:WithHeaders)?\b")
DEFINITION = re.compile(r"\b(?:const|function)\s+(\w+)\b([^;]*?)(?=;|\n\n|\bconst\b|\bfunction\b)", re.S)
ADDRESS = re.compile(r"[\"'`]/api(?=[/$])")
NAME = re.compile(r"[A-Za-z_]\w*")
CLOSERS = {"(": ")", "<": ">", "{": "}", "[": "]"}
ANY = "{}"
"""A part of a path that the source computes."""
SOMEWHERE = "**"
"""The beginning of a path that is handed to a function; it ends with an id."""
DEPTH = 3
"""How often a name in a path is looked up."""
NAMED_CALL = re.compile(rf"\b((?:(?:{'|'.join(METHODS)})(?:`?(?:, | and | or |/)`?)?)+) `?/api(/[^\s`\"')|,;?]*)")


class Call(NamedTuple):
    """A method and a path without its query; computed parts of the path are `{}`."""

    method: str
    path: str


def page_calls(sources: Mapping[Path, str]) -> frozenset[Call]:
    """The calls of the front-end's source files: requests of its client, and addresses that the browser opens."""
    everywhere = _definitions(sources.values())
    found: set[Call] = set()
    for source in sources.values():
        names = {**everywhere, **_definitions([source])}
        for method, address in _requests(source):
            found |= {Call(name, path) for name in METHOD_NAMES.findall(method) for path in _paths(address, names)}
        for match in ADDRESS.finditer(source):
            text = _literals(source[match.start() :][:400])[0].removeprefix("/api")
            found |= {Call("GET", path) for path in _paths(f"`{text}`", names)}
    return frozenset(found)


def named_calls(pages: Iterable[str]) -> frozenset[Call]:
    """The calls that guides name as `GET /api/…`; ids may be written in any way."""
    found: set[Call] = set()
    for page in pages:
        for methods, path in NAMED_CALL.findall(page):
            parts = [ANY if _is_id(part) else part for part in path.rstrip("/.:").split("/")]
            found |= {Call(method, "/".join(parts)) for method in METHOD_NAMES.findall(methods)}
    return frozenset(found)


def find_unused(routes: Iterable[str], calls: frozenset[Call]) -> tuple[str, ...]:
    """The routes, `GET /api/people/{user_id}`, that none of the calls is of.

    A computed part of a call stands for any fixed part of a route, but only where no route has an id there.
    """
    operations = {route: _operation(route) for route in routes}
    known = frozenset(operations.values())
    used = {known_call for call in calls for known_call in _matches(call, known)}
    return tuple(sorted(route for route, call in operations.items() if call not in used))


def _operation(route: str) -> Call:
    method, path = route.split()
    return Call(method, re.sub(r"\{\w+\}", ANY, path.removeprefix("/api")))


def _matches(call: Call, known: frozenset[Call]) -> Iterator[Call]:
    if call in known:
        yield call
        return
    parts = call.path.split("/")
    for one in known:
        theirs = one.path.split("/")
        if parts[0] == SOMEWHERE:
            theirs = theirs[-len(parts) :]
            theirs[0] = theirs[0].replace(ANY, SOMEWHERE)
        same = one.method == call.method and len(parts) == len(theirs)
        if same and all(mine in (other, ANY) for mine, other in zip(parts, theirs, strict=True)):
            yield one


def _is_id(part: str) -> bool:
    """Whether a part of a path in a guide stands for an id: `{id}`, `ID`, `NAME`."""
    return part.startswith(("{", "<", "$")) or (part.isupper() and part.isalpha())


def _requests(source: str) -> Iterator[tuple[str, str]]:
    """The first two arguments of every request."""
    for match in REQUEST.finditer(source):
        start = match.end()
        if source[start : start + 1] == "<":
            start = _end(source, start)
        if source[start : start + 1] == "(":
            arguments = _split(source[start + 1 : _end(source, start) - 1])
            if len(arguments) > 1:
                yield arguments[0], arguments[1]


def _definitions(sources: Iterable[str]) -> dict[str, list[str]]:
    """What each name of a source is defined as, where a path is in it; a name may be defined several times."""
    found: dict[str, list[str]] = {}
    for source in sources:
        for name, value in DEFINITION.findall(source):
            if "`" in value or '"/' in value:
                found.setdefault(name, []).append(value)
    return found


def _paths(expression: str, names: Mapping[str, Sequence[str]], depth: int = DEPTH) -> Iterator[str]:
    """The paths that an expression may give."""
    literals = _literals(expression)
    for text in literals:
        if text.startswith("/"):
            yield _path(text)
        elif (match := re.match(r"\$\{\s*(\w+)", text)) is not None and depth:
            rest = _path(text[_end(text, 1) :])
            starts = list(_defined(match[1], names, depth)) or [SOMEWHERE]
            yield from (start + rest for start in starts)
    if not literals and depth and (word := NAME.match(expression.strip())) is not None:
        yield from _defined(word[0], names, depth)


def _defined(name: str, names: Mapping[str, Sequence[str]], depth: int) -> Iterator[str]:
    for value in names.get(name, ()):
        yield from _paths(value, names, depth - 1)


def _path(text: str) -> str:
    """A literal as a path: computed parts as `{}`, without a query."""
    found, at = "", 0
    while at < len(text):
        if text.startswith("${", at):
            at = _end(text, at + 1)
            found += ANY
        elif text[at] == "?":
            break
        else:
            found += text[at]
            at += 1
    return re.sub(r"(?<=[^/])(?:\{\})+$", "", found)


def _literals(text: str) -> list[str]:
    """The string and template literals of an expression, outermost ones, without their quotes."""
    found, at = [], 0
    while at < len(text):
        if text[at] in "\"'`":
            end = _quoted_end(text, at)
            found.append(text[at + 1 : end - 1])
            at = end
        else:
            at += 1
    return found


def _quoted_end(text: str, start: int) -> int:
    """Behind the literal that begins at `start`."""
    quote, at = text[start], start + 1
    while at < len(text) and text[at] != quote:
        if text[at] == "\\":
            at += 2
        elif quote == "`" and text.startswith("${", at):
            at = _end(text, at + 1)
        else:
            at += 1
    return at + 1


def _end(text: str, start: int) -> int:
    """Behind the bracket that closes the one at `start`."""
    opener = text[start]
    closer, depth, at = CLOSERS[opener], 0, start
    while at < len(text):
        if text[at] in "\"'`":
            at = _quoted_end(text, at)
            continue
        is_arrow = text[at] == ">" and text[at - 1] == "="
        depth += (text[at] == opener) - (text[at] == closer and not is_arrow)
        at += 1
        if depth == 0:
            break
    return at


def _split(arguments: str) -> list[str]:
    """Arguments between commas that are in no bracket."""
    found, at, start = [], 0, 0
    while at < len(arguments):
        if arguments[at] in "\"'`":
            at = _quoted_end(arguments, at)
        elif arguments[at] in "({[":
            at = _end(arguments, at)
        else:
            if arguments[at] == ",":
                found.append(arguments[start:at])
                start = at + 1
            at += 1
    return [*found, arguments[start:]]
