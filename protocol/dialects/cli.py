"""Reads replies of models as a program: JSON Lines in, JSON Lines out (`./pilothouse parse`).

Each line is `{"id", "reply", "reasoning"?, "finish_reason"?}`. Each answer is `{"id", "actions", "thought"}`, or
`{"id", "error", "message"}` with a code of `docs/reference/dialects.md`; a line that is no such object has the code
`bad_line`.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pydantic import JsonValue, ValidationError

from protocol.base import FrozenModel
from protocol.dialects.dialect import Dialect, ScreenSize, UnparsedReply
from protocol.dialects.families import get_dialect, list_dialects
from protocol.sampling import MAX_ACTIONS


class ReplyLine(FrozenModel):
    """One line of input."""

    id: JsonValue = None
    reply: str = ""
    reasoning: str | None = None
    finish_reason: str | None = None


def parse_line(
    line: ReplyLine,
    dialect: Dialect,
    screen: ScreenSize,
    *,
    finish_reason: str | None = None,
    max_actions: int = 1,
) -> dict[str, Any]:
    """What a reply means, as JSON. `finish_reason` holds for lines that name none."""
    read = dialect.parse(
        line.reply,
        screen,
        reasoning=line.reasoning or "",
        finish_reason=line.finish_reason or finish_reason,
        max_actions=max_actions,
    )
    if isinstance(read, UnparsedReply):
        return {"id": line.id, "error": read.error.code, "message": read.error.message}
    return {
        "id": line.id,
        "actions": [action.model_dump(mode="json") for action in read.actions],
        "thought": read.thought,
    }


def parse_lines(
    lines: Iterable[bytes],
    dialect: Dialect,
    screen: ScreenSize,
    *,
    finish_reason: str | None = None,
    max_actions: int = 1,
) -> Iterator[dict[str, Any]]:
    """One answer for each line that is not blank, in order."""
    for text in filter(None, map(bytes.strip, lines)):
        try:
            line = _read_line(text)
        except ValueError as error:
            message = f"The line is no object with a text `reply`: {_error_message(error)}."
            yield {"id": None, "error": "bad_line", "message": message}
        else:
            yield parse_line(line, dialect, screen, finish_reason=finish_reason, max_actions=max_actions)


def main(words: Sequence[str] | None = None) -> int:
    """Read standard input to its end; gives the exit status."""
    arguments = _parser().parse_args(words)
    dialect, screen = get_dialect(arguments.dialect), arguments.size
    options = {"finish_reason": arguments.finish_reason, "max_actions": arguments.max_actions}
    for one in parse_lines(sys.stdin.buffer, dialect, screen, **options):
        sys.stdout.buffer.write(json.dumps(one, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        sys.stdout.buffer.flush()  # a program may wait for each answer before it sends the next line
    return 0


def _read_line(text: bytes) -> ReplyLine:
    """A line of input; fields it does not know are left out. Raises ValueError."""
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError("it is no object")
    fields = {key: _replace_surrogates(value[key]) for key in ReplyLine.model_fields if key in value}
    if "reply" not in fields:
        raise ValueError("it has no reply")
    return ReplyLine.model_validate({**fields, "reply": fields["reply"] or ""})


def _replace_surrogates(value: Any) -> Any:
    """A text without halves of characters, which JSON can name and no text can hold."""
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if isinstance(value, str) else value


def _error_message(error: ValueError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error)


def _parse_size(text: str) -> ScreenSize:
    found = re.fullmatch(r"([1-9]\d{0,4})x([1-9]\d{0,4})", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text} is no size such as 1920x1080")
    return ScreenSize(width=int(found[1]), height=int(found[2]))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./pilothouse parse", description="Read replies of models: JSON Lines.")
    parser.add_argument("--dialect", required=True, choices=list_dialects(), help="how the model writes actions")
    parser.add_argument(
        "--size", required=True, type=_parse_size, help="the picture it saw, such as 1920x1080 (pixels)"
    )
    parser.add_argument(
        "--max-actions", type=int, default=1, choices=range(1, MAX_ACTIONS + 1), help="most actions of a reply (1)"
    )
    parser.add_argument("--finish-reason", help="why the server stopped, for lines that name none")
    return parser


if __name__ == "__main__":
    sys.exit(main())
