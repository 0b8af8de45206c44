"""Function calls in a model's text: `name(argument='value', …)`, read tolerantly and without eval, and written.

Values are in single, double, triple or full-width quotes, or bare; escapes are those of Python strings. An incomplete
call is rejected, whatever is missing: a reply may have been cut anywhere, and half a text must not be typed.

A quote that the model forgot to escape belongs to the text where the text cannot end there: its parentheses are open,
or more than the wrappers' ends follows. A line that begins another turn ends every value. Where two ends are possible,
or another call may follow the first of them, the call is refused.
"""

import re
from dataclasses import dataclass

from protocol.dialects.reply_wrappers import CALL_AT_LINE, CHAT_TOKEN, TURN_LINE, find_call_end, has_following_turn
from protocol.trajectory.proposals import ParseError


class ReplyParseError(ValueError):
    """Text that is no action; `error` says why, with a stable code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.error = ParseError(code=code, message=message)


@dataclass(frozen=True)
class FunctionCall:
    """A function's name and its arguments by name (by position, as "0", "1", …, where they have none)."""

    name: str
    arguments: dict[str, str]


_HEAD = re.compile(r"\s*([A-Za-z_]\w*)\s*[(（]\s*")
_ARGUMENT = re.compile(r"([A-Za-z_]\w*)\s*[=＝]\s*")
_BETWEEN_ARGUMENTS = re.compile(r"\s*[,，]\s*")
_END = re.compile(r"\s*[)）]")
_NEXT_ARGUMENT = r"[,，]\s*[A-Za-z_]\w*\s*[=＝]"
_AFTER_VALUE = re.compile(rf"\s*(?:(?P<next>{_NEXT_ARGUMENT})|[)）])")
_CLOSING_QUOTE = {"'": "'", '"': '"', "‘": "’", "“": "”"}
_MARKS = {quote: re.compile(rf"\\.|{quote}|[()（）]", re.DOTALL) for quote in _CLOSING_QUOTE.values()}
_ENDS_AGAIN = {quote: re.compile(rf"[(（]|{quote}?\s*[)）]") for quote in _CLOSING_QUOTE.values()}
_TRIPLE = re.compile(r"'''((?:\\.|(?!''').)*)'''|\"\"\"((?:\\.|(?!\"\"\").)*)\"\"\"", re.DOTALL)
_BARE_END = re.compile(_NEXT_ARGUMENT + r"|[()\[\]（）]")
_TAGGED_POINT = re.compile(
    r"['\"‘“’”]?\s*((?:<point>|<\|box_start\|>|<bbox>)[^<>'\"‘“’”]{1,80}(?:</point>|<\|box_end\|>|</bbox>))"
    r"\s*['\"‘“’”]?(?=\s*[,，)）])"
)
"""A point whose tags say where it ends, whatever quotes are missing."""
_STRUCTURED = frozenset(
    (
        *("point", "start_box", "end_box", "start_point", "end_point", "points", "direction", "time", "amount"),
        *("button", "timeout", "clicks", "dx", "dy", "unit"),
    )
)
"""Arguments that hold no free text: their first closing quote ends them."""
_ESCAPE = re.compile(
    r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U(000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4})|(.))", re.DOTALL
)
_CONTROL = re.compile(rf"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|<(?={CHAT_TOKEN[1:]})")
"""What is written as its code: control characters, and the beginning of a token that would end a turn."""
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}
_MOST_ARGUMENTS = 50
_MOST_CALLS = 20


@dataclass(frozen=True)
class _ArgumentValue:
    """A value, where it ends, and the quote that ended free text."""

    text: str
    end: int
    quote: str = ""


def parse_call(text: str) -> tuple[FunctionCall, str]:
    """The one call of a text that begins with it, and the call's own text; prose after it is dropped.

    Raises ReplyParseError: `no_action` where no call begins, `unfinished_call` where it does not end or has two
    possible ends, `several_actions` where another call or another turn follows.
    """
    head = _HEAD.match(text)
    if head is None:
        raise ReplyParseError("no_action", "The reply holds no action.")
    arguments, end, quote = _read_arguments(text, head.end())
    after = find_call_end(text, end)
    if after < len(text):
        _check_rest(text, end, after, quote)
    return FunctionCall(head[1], arguments), text[head.start(1) : end]


def parse_calls(text: str) -> tuple[list[FunctionCall], str]:
    """The calls of a text that begins with one, each on a line of its own, and their text; prose after them is dropped.

    Raises ReplyParseError where anything but wrappers stands between two, or another turn follows the last.
    """
    calls: list[FunctionCall] = []
    position = end = 0
    begin: int | None = None
    while (head := _HEAD.match(text, position)) and len(calls) <= _MOST_CALLS:
        arguments, end, quote = _read_arguments(text, head.end())
        calls.append(FunctionCall(head[1], arguments))
        begin = head.start(1) if begin is None else begin
        after = find_call_end(text, end)
        following = CALL_AT_LINE.search(text, after)
        if following is None or text[after : following.start()].strip():
            _check_rest(text, end, after, quote) if after < len(text) else None
            return calls, text[begin:end]
        position = following.end()
    raise ReplyParseError("no_action", "The reply holds no action.") if not calls else several_actions_error()


def several_actions_error(what: str = "another call or turn follows the first") -> ReplyParseError:
    """What a reply with more than one action is refused with."""
    return ReplyParseError("several_actions", f"The reply holds more than one action: {what}. One is expected.")


def format_call(call: FunctionCall) -> str:
    """The text of a call, its values in single quotes."""
    arguments = ", ".join(f"{name}='{escape_value(value)}'" for name, value in call.arguments.items())
    return f"{call.name}({arguments})"


def escape_value(value: str) -> str:
    """A text as it stands between quotes of either kind."""
    for plain, escaped in (("\\", "\\\\"), ("'", "\\'"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
        value = value.replace(plain, escaped)
    return _CONTROL.sub(lambda control: f"\\x{ord(control[0]):02x}", value)


def _unescaped(value: str) -> str:
    if "\\" not in value:
        return value

    def plain(escape: re.Match[str]) -> str:
        code = escape[1] or escape[2] or escape[3]
        return chr(int(code, 16)) if code else _ESCAPED.get(escape[4], escape[0])

    text = _ESCAPE.sub(plain, value)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _check_rest(text: str, end: int, after: int, quote: str) -> None:
    """Raises Unreadable unless what follows a call is prose.

    After free text, prose on the call's own line may be the rest of a text whose quotes were forgotten.
    """
    if has_following_turn(text, end):
        raise several_actions_error()
    if not quote:
        return
    if "\n" not in text[end:after] and text[after] != "#":
        raise _unfinished_call_error()
    depth = 0
    for mark in _ENDS_AGAIN[quote].finditer(text, after):
        if mark[0] in "(（":
            depth += 1
        elif depth:
            depth -= 1
        elif mark[0].startswith(quote):
            raise _unfinished_call_error()


def _read_arguments(text: str, position: int) -> tuple[dict[str, str], int, str]:
    arguments: dict[str, str] = {}
    quote = ""
    while not (end := _END.match(text, position)):
        named = _ARGUMENT.match(text, position)
        name = named[1] if named else str(len(arguments))
        if name in arguments:
            raise ReplyParseError("bad_arguments", f"The argument {name} occurs twice.")
        if len(arguments) >= _MOST_ARGUMENTS:
            raise ReplyParseError("bad_arguments", "The call has too many arguments.")
        value = _read_value(text, named.end() if named else position, structured=name in _STRUCTURED)
        arguments[name], position, quote = value.text, value.end, value.quote
        between = _BETWEEN_ARGUMENTS.match(text, position)
        position = between.end() if between else position
    return arguments, end.end(), quote


def _read_value(text: str, position: int, *, structured: bool) -> _ArgumentValue:
    if structured and (tagged := _TAGGED_POINT.match(text, position)):
        return _ArgumentValue(tagged[1], tagged.end())
    if (triple := _TRIPLE.match(text, position)) and _AFTER_VALUE.match(text, triple.end()):
        return _ArgumentValue(_unescaped(triple[1] if triple[1] is not None else triple[2]), triple.end(), triple[0][0])
    quote = _CLOSING_QUOTE.get(text[position : position + 1])
    if quote is None:
        return _read_bare(text, position)
    end = _quoted_end(text, position + 1, quote, structured=structured)
    return _ArgumentValue(_unescaped(text[position + 1 : end]), end + 1, "" if structured else quote)


def _quoted_end(text: str, start: int, quote: str, *, structured: bool) -> int:
    """The place of the quote that ends a value. Raises Unreadable where none does."""
    turn = TURN_LINE.search(text, start) if "\n" in text or "<|" in text else None
    limit = turn.start() if turn else len(text)
    depth = forgotten = likely = 0
    for mark in _MARKS[quote].finditer(text, start, limit):
        if mark[0] in "(（":
            depth += 1
        elif mark[0] in ")）":
            depth = max(depth - 1, 0)
        elif mark[0] == quote:
            at = mark.start()
            if structured or _can_end_here(text, at + 1, depth=depth, forgotten=forgotten):
                if not _AFTER_VALUE.match(text, at + 1) or (likely and has_following_turn(text, likely)):
                    break
                return at
            if not forgotten and _END.match(text, at + 1):
                likely = at + 1
            forgotten += not (text[at - 1 : at].isalnum() and text[at + 1 : at + 2].isalnum())
    if likely and has_following_turn(text, likely):
        raise several_actions_error()
    raise _unfinished_call_error()


def _can_end_here(text: str, position: int, *, depth: int, forgotten: int) -> bool:
    """Whether free text may end before this place: its parentheses are closed, and a text with forgotten quotes is
    followed by nothing but the wrappers' ends. Raises Unreadable where another argument may follow, or not."""
    after = _AFTER_VALUE.match(text, position)
    if after is None:
        return False
    if after["next"]:
        if forgotten and (forgotten % 2 or depth):
            raise _unfinished_call_error()
        return True
    end = find_call_end(text, after.end())
    if end == len(text):
        return not (depth and forgotten)
    return not forgotten and not depth


def _read_bare(text: str, position: int) -> _ArgumentValue:
    """A value without quotes: up to the next argument or the parenthesis that ends the call, on one line."""
    depth = 0
    for mark in _BARE_END.finditer(text, position):
        if mark[0] in "([（":
            depth += 1
        elif depth:
            depth -= mark[0] in ")]）"
        elif mark[0] != "]":
            value = text[position : mark.start()].strip()
            if "\n" in value:
                break
            return _ArgumentValue(value, mark.start())
    raise _unfinished_call_error()


def _unfinished_call_error() -> ReplyParseError:
    return ReplyParseError(
        "unfinished_call",
        "The call has no certain end: the reply is cut, or a quote or a parenthesis is out of place. "
        "Write quotes in a text as \\' and end the call with a parenthesis.",
    )
