"""Readings of applications' indicators as comma separated files, and every fault with its row and column. Pure
functions."""

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Literal, NamedTuple

from annotation_app.design.applications import INDICATORS, LARGEST_VALUE, Indicator, Reading
from annotation_app.spreadsheets import cell_value
from protocol.base import FrozenModel

COLUMNS = ("application", "indicator", "value", "unit", "source", "date")
LONGEST: Mapping[str, int] = {"application": 100, "unit": 40, "source": 500}
LARGEST = 900_000
"""Bytes of a file; what a web server lets through as an ordinary request."""
MOST_ROWS = 10_000
MOST_FAULTS = 200
DAY = re.compile(r"\d{4}-\d\d-\d\d")
CONTROL = re.compile(r"[\x00-\x1f]")
FaultCode = Literal[
    "empty", "too_long", "control", "unknown", "number", "negative", "too_large", "day", "future", "twice", "surplus",
    "rows", "file",
]  # fmt: skip
"""What is wrong with a cell, a row or a file; pages have words for each."""


class ReadingFault(FrozenModel):
    """Why a row of a file is no reading; rows count from 1, without the heading."""

    row: int
    column: str
    """Empty where it is about the whole row or file."""
    code: FaultCode


class ReadingRow(NamedTuple):
    """A row of a file: a reading of an application, or an application alone."""

    row: int
    application: str
    reading: Reading | None


class _CellFault(Exception):
    def __init__(self, column: str, code: FaultCode) -> None:
        self.column, self.code = column, code


def readings_read(data: bytes, *, latest: date) -> tuple[tuple[ReadingRow, ...], tuple[ReadingFault, ...]]:
    """The rows and the faults of a file; no reading may be of a day after `latest`."""
    rows: list[ReadingRow] = []
    faults: list[ReadingFault] = []
    seen: set[tuple[object, ...]] = set()
    try:
        reader = csv.DictReader(io.StringIO(data.decode("utf-8-sig")), restkey="surplus", strict=True)
        if "application" not in (reader.fieldnames or ()):
            return (), (ReadingFault(row=1, column="application", code="file"),)
        for number, cells in enumerate(reader, start=1):
            if number > MOST_ROWS or len(faults) >= MOST_FAULTS:
                faults.append(ReadingFault(row=number, column="", code="rows"))
                break
            try:
                row = _row(number, cells, latest)
                key = row_key(row)
                if key in seen:
                    raise _CellFault("", "twice")
            except _CellFault as fault:
                faults.append(ReadingFault(row=number, column=fault.column, code=fault.code))
            else:
                seen.add(key)
                rows.append(row)
    except (ValueError, csv.Error):
        faults.append(ReadingFault(row=1, column="", code="file"))
    return tuple(rows), tuple(faults)


def row_key(row: ReadingRow) -> tuple[object, ...]:
    """What makes two rows the same reading: another value from the same source and day corrects it."""
    one = row.reading
    return (row.application, *((one.indicator, one.dated, one.source) if one else ()))


def readings_csv(rows: Iterable[tuple[str, Reading | None]]) -> Iterator[tuple[object, ...]]:
    """A heading and the rows; an application without readings is a row of its own."""
    yield COLUMNS
    for name, one in rows:
        if one is None:
            yield (name, "", "", "", "", "")
        else:
            value = int(one.value) if one.value.is_integer() else one.value
            yield (name, one.indicator, value, one.unit, one.source, one.dated.isoformat())


def _row(number: int, cells: Mapping[str, object], latest: date) -> ReadingRow:
    if cells.get("surplus"):
        raise _CellFault("", "surplus")
    application = _text(cells, "application")
    if not any(str(cells.get(name) or "").strip() for name in COLUMNS[1:]):
        return ReadingRow(number, application, None)
    indicator = _indicator(_text(cells, "indicator"))
    value = _number(_text(cells, "value"))
    unit, source = _text(cells, "unit"), _text(cells, "source")
    return ReadingRow(number, application, Reading(indicator, value, unit, source, _day(_text(cells, "date"), latest)))


def _text(cells: Mapping[str, object], column: str) -> str:
    text = cell_value(str(cells.get(column) or "").strip())
    if not text:
        raise _CellFault(column, "empty")
    if len(text) > LONGEST.get(column, 100):
        raise _CellFault(column, "too_long")
    if CONTROL.search(text):
        raise _CellFault(column, "control")
    return text


def _indicator(text: str) -> Indicator:
    for indicator in INDICATORS:
        if text.lower() == indicator:
            return indicator
    raise _CellFault("indicator", "unknown")


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise _CellFault("value", "number") from None
    if not math.isfinite(value):
        raise _CellFault("value", "number")
    if value < 0:
        raise _CellFault("value", "negative")
    if value > LARGEST_VALUE:
        raise _CellFault("value", "too_large")
    return value


def _day(text: str, latest: date) -> date:
    try:
        if not DAY.fullmatch(text):
            raise ValueError(text)
        day = date.fromisoformat(text)
    except ValueError:
        raise _CellFault("date", "day") from None
    if day > latest:
        raise _CellFault("date", "future")
    return day
