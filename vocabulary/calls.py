"""Function calls in a model's text: `name(argument='value', …)`, read tolerantly and without eval, and written.

Values stand in single, double or full-width quotes, or bare; escapes are those of Python strings. A quote that the
model forgot to escape belongs to the text unless what follows it can follow a value. A call that does not end is
refused, whatever is missing: a reply may have been cut anywhere, and half a text must not be typed. Prose after the
last call is dropped only where no quote can have been forgotten.
"""

import re
from dataclasses import dataclass
from itertools import islice

from vocabulary.proposals import ParseError


class Unreadable(ValueError):
    """Text that is no action; `error` says why, with a stable code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.error = ParseError(code=code, message=message)


@dataclass(frozen=True)
class Call:
    """A function's name and its arguments by name (by position, as "0", "1", …, where they have none)."""

    name: str
    arguments: dict[str, str]


_HEAD = re.compile(r"\s*([A-Za-z_]\w*)\s*[(（]\s*")
_ARGUMENT = re.compile(r"([A-Za-z_]\w*)\s*[=＝]\s*")
_BETWEEN_ARGUMENTS = re.compile(r"\s*[,，]\s*")
_END = re.compile(r"\s*[)）]")
_BETWEEN_CALLS = re.compile(r"\s*[,，;；]?\s*(?:Action\s*[:：])?")
_CLOSING_QUOTE = {"'": "'", '"': '"', "‘": "’", "“": "”"}
_NEXT_ARGUMENT = r"[,，]\s*[A-Za-z_]\w*\s*[=＝]"
_PROSE = re.compile(r"[^'\"(（]*$")
_BARE_END = re.compile(_NEXT_ARGUMENT + r"|[()\[\]（）]")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}
_MAX_CALLS = 50


@dataclass(frozen=True)
class _Manner:
    """What may follow a quote that ends a value, and how many quotes are tried for it."""

    value_end: re.Pattern[str]
    quotes: int | None


_FORGIVING = _Manner(
    re.compile(rf"\s*{_NEXT_ARGUMENT}|\s*[)）]\s*[,，;；]?\s*(?:$|Action\s*[:：]|[A-Za-z_]\w*\s*[(（])"), None
)
_WITH_PROSE = _Manner(re.compile(rf"\s*{_NEXT_ARGUMENT}|\s*[)）]"), 1)


def read_calls(text: str) -> tuple[Call, ...]:
    """The calls of a text that begins with one; prose after the last is dropped.

    Raises Unreadable: `no_action` where no call begins, `unfinished_call` where one does not end.
    """
    try:
        return _read(text, _FORGIVING)
    except Unreadable as error:
        try:
            return _read(text, _WITH_PROSE)
        except Unreadable:
            raise error from None


def write_call(call: Call) -> str:
    """The text of a call, its values in single quotes."""
    arguments = ", ".join(f"{name}='{_escaped(value)}'" for name, value in call.arguments.items())
    return f"{call.name}({arguments})"


def _escaped(value: str) -> str:
    for plain, escaped in (("\\", "\\\\"), ("'", "\\'"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
        value = value.replace(plain, escaped)
    return _CONTROL.sub(lambda control: f"\\x{ord(control[0]):02x}", value)


def _unescaped(value: str) -> str:
    def plain(escape: re.Match[str]) -> str:
        code = escape[1] or escape[2]
        return chr(int(code, 16)) if code else _ESCAPED.get(escape[3], escape[0])

    text = _ESCAPE.sub(plain, value)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _read(text: str, manner: _Manner) -> tuple[Call, ...]:
    calls: list[Call] = []
    position = 0
    while len(calls) < _MAX_CALLS and (head := _HEAD.match(text, position)):
        arguments, position = _read_arguments(text, head.end(), manner)
        calls.append(Call(head[1], arguments))
        between = _BETWEEN_CALLS.match(text, position)
        position = between.end() if between else position
    if not calls:
        raise Unreadable("no_action", "The reply holds no action.")
    if not _PROSE.match(text, position):
        raise _unfinished()
    return tuple(calls)


def _read_arguments(text: str, position: int, manner: _Manner) -> tuple[dict[str, str], int]:
    arguments: dict[str, str] = {}
    while not (end := _END.match(text, position)):
        named = _ARGUMENT.match(text, position)
        name = named[1] if named else str(len(arguments))
        if name in arguments:
            raise Unreadable("bad_arguments", f"The argument {name} stands twice.")
        arguments[name], position = _read_value(text, named.end() if named else position, manner)
        between = _BETWEEN_ARGUMENTS.match(text, position)
        position = between.end() if between else position
    return arguments, end.end()


def _read_value(text: str, position: int, manner: _Manner) -> tuple[str, int]:
    quote = _CLOSING_QUOTE.get(text[position : position + 1])
    if quote is None:
        return _read_bare(text, position)
    marks = re.compile(rf"\\.|{quote}", re.DOTALL).finditer(text, position + 1)
    for mark in islice((mark for mark in marks if mark[0] == quote), manner.quotes):
        if manner.value_end.match(text, mark.end()):
            return _unescaped(text[position + 1 : mark.start()]), mark.end()
    raise _unfinished()


def _read_bare(text: str, position: int) -> tuple[str, int]:
    """A value without quotes: up to the next argument or the parenthesis that ends the call."""
    depth = 0
    for mark in _BARE_END.finditer(text, position):
        if mark[0] in "([（":
            depth += 1
        elif depth:
            depth -= mark[0] in ")]）"
        elif mark[0] != "]":
            return text[position : mark.start()].strip(), mark.start()
    raise _unfinished()


def _unfinished() -> Unreadable:
    return Unreadable(
        "unfinished_call",
        "The reply is cut inside its action, or a quote or a parenthesis is out of place.",
    )
