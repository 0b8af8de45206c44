"""Graphs as files: comma separated or JSON, and every fault with its row. Pure functions."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from pydantic import ValidationError

from annotation_app.design.schemas import GraphFault, GraphRow
from annotation_app.spreadsheets import cell_value

GraphFormat = Literal["csv", "json"]
COLUMNS = ("application", "function", "part", "importance", "frequency", "benefit", "transfer", "source")
LARGEST = 4 * 2**20
MOST_ROWS = 20_000
MOST_FAULTS = 200


def graph_read(data: bytes, form: GraphFormat) -> tuple[tuple[GraphRow, ...], tuple[GraphFault, ...]]:
    """The rows and the faults of a file."""
    rows: dict[tuple[str, str, str], GraphRow] = {}
    faults: list[GraphFault] = []
    try:
        for number, found in enumerate(_found(data, form), start=1):
            try:
                row = GraphRow.model_validate(found)
            except ValidationError as error:
                first = error.errors(include_input=False, include_url=False)[0]
                where = "".join(f"{part}: " for part in first["loc"])
                faults.append(GraphFault(row=number, reason=where + first["msg"].removeprefix("Value error, ")))
                continue
            path = (row.application, row.function, row.part)
            if row.part and not row.function:
                faults.append(GraphFault(row=number, reason="function: a part is part of a function"))
            elif path in rows:
                faults.append(GraphFault(row=number, reason="application: this node is there twice"))
            elif number > MOST_ROWS:
                faults.append(GraphFault(row=number, reason=f"a graph has at most {MOST_ROWS} rows"))
            rows[path] = row
            if len(faults) >= MOST_FAULTS or number > MOST_ROWS:
                break
    except (ValueError, csv.Error, RecursionError) as error:
        faults.append(GraphFault(row=1, reason=f"it is not understood: {error}"))
    return tuple(rows.values()), tuple(faults)


def graph_csv(rows: Iterable[GraphRow]) -> Iterator[tuple[object, ...]]:
    """A heading and the rows."""
    yield COLUMNS
    for row in rows:
        yield tuple(getattr(row, name) for name in COLUMNS)


def _found(data: bytes, form: GraphFormat) -> Iterator[Any]:
    text = data.decode("utf-8-sig")
    if form == "json":
        value = json.loads(text)
        if not isinstance(value, list):
            raise ValueError("it is no list")
        yield from value
        return
    reader = csv.DictReader(io.StringIO(text), restkey="surplus")
    for row in reader:
        yield {name: cell_value(cell) if isinstance(cell, str) else cell for name, cell in row.items() if cell}
