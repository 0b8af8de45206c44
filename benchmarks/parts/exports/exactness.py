"""Whether a consumer's row is what was done: what it learns token by token, and what it reads value by value."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import TypeAdapter

from benchmarks.parts.exports.hostile_rows import HEIGHT, WIDTH
from protocol.actions.types import Action
from protocol.blobs import BlobRef
from protocol.dialects.dialect import ParsedReply, ScreenSize
from protocol.dialects.families import get_dialect
from protocol.formats.registry import READERS
from protocol.formats.row_readers import SourceImage, SourceRow, read_row
from protocol.formats.special_tokens import dialect_tokens

SCREEN = ScreenSize(width=WIDTH, height=HEIGHT)
ACTION: TypeAdapter[Action] = TypeAdapter(Action)
PICTURE = SourceImage(BlobRef.of(b"", "image/jpeg"), WIDTH, HEIGHT)
Row = Mapping[str, Any]
Steps = Sequence[tuple[str, Action]]


def is_learned_exactly(row: Row, truth: Row, dialect: str) -> bool:
    """Whether what is learned is the thought and the action, as the dialect writes them or so that it reads them back,
    and holds no token of another's."""
    (step,) = _steps_done(truth)
    return not set(row["tokens"]) - dialect_tokens(get_dialect(dialect)) and _is_said_exactly(
        row["text"], step, dialect
    )


def is_read_exactly(row: Row, truth: Row, name: str, dialect: str) -> bool:
    """Whether a row of this format has the values that were written, but for nulls, and states what was done."""
    done = _steps_done(truth)
    if name in LAST_TURNS:
        (step,) = done
        stated = _is_said_exactly(LAST_TURNS[name](next(iter(row.values()))), step, dialect)
    elif name in STATED_STEPS:
        stated = STATED_STEPS[name](next(iter(row.values()))) == done
    else:
        stated = name == "verl_rl"  # a prompt: what is done at it is not said
    return stated and _without_nulls(row) == _without_nulls(truth["written"])


def _steps_done(truth: Row) -> Steps:
    return [(step["thought"], ACTION.validate_python(step["action"])) for step in truth["steps"]]


def _is_said_exactly(text: str, step: tuple[str, Action], dialect: str) -> bool:
    family, (thought, action) = get_dialect(dialect), step
    read = family.parse(text, SCREEN)
    if not isinstance(read, ParsedReply) or read.action != action:
        return False
    return text == family.write(thought, action, SCREEN) or read.thought == thought.strip()


def _row_step(row: Row) -> Steps:
    """The one step of a row that has its action as JSON."""
    return [(row["thought"], ACTION.validate_python(json.loads(row["action"])))]


def _reader_steps(name: str) -> Callable[[Row], Steps]:
    """What the importer of a format reads from a row."""

    def steps(row: Row) -> Steps:
        source = SourceRow(row=row, find=lambda _path: PICTURE, moment=datetime(2026, 1, 1, tzinfo=UTC), key="row")
        return [(step.thought, step.action) for step in read_row(READERS[name], source).steps]

    return steps


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(each) for name, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value


LAST_TURNS: Mapping[str, Callable[[Row], str]] = {
    "llama_factory_sft": lambda row: row["conversations"][-1]["value"],
    "trl_sft": lambda row: "".join(part["text"] for part in row["completion"][-1]["content"]),
    "verl_sft": lambda row: row["messages"][-1]["content"],
}
"""The turn that is learned, by format."""
STATED_STEPS: Mapping[str, Callable[[Row], Steps]] = {
    **{name: _reader_steps(name) for name in READERS},
    "huggingface": _row_step,
    "webdataset": _row_step,
}
"""Thoughts and actions that a row states as data, by format."""
