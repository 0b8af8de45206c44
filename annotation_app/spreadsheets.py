"""Tables that people open in a spreadsheet."""

import csv
import io
from collections.abc import Iterable

from django.http import HttpResponse

FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""How a text begins that a spreadsheet takes for a formula (OWASP, CSV injection)."""


def spreadsheet_response(rows: Iterable[Iterable[object]], *, name: str) -> HttpResponse:
    """The rows as CSV with the mark by which spreadsheets know UTF-8, to be kept under this name."""
    text = io.StringIO()
    csv.writer(text).writerows(map(cell_text, row) for row in rows)
    return HttpResponse(
        "\ufeff" + text.getvalue(),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def cell_text(value: object) -> str:
    """A cell that no spreadsheet takes for a formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = str(value)
    return f"'{text}" if isinstance(value, str) and text.startswith(FORMULAS) else text


def cell_value(text: str) -> str:
    """What a cell said before `cell_text` kept spreadsheets from taking it for a formula."""
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULAS) else text
