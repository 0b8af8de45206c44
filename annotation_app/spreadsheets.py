"""Tables for spreadsheet programs."""

import csv
import io
from collections.abc import Iterable

from django.http import HttpResponse

FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""First characters of a text that a spreadsheet interprets as a formula (OWASP, CSV injection)."""


def spreadsheet_response(rows: Iterable[Iterable[object]], *, name: str) -> HttpResponse:
    """The rows as a CSV download with this file name. It starts with the byte order mark by which spreadsheets
    recognize UTF-8."""
    text = io.StringIO()
    csv.writer(text).writerows(map(cell_text, row) for row in rows)
    return HttpResponse(
        "\ufeff" + text.getvalue(),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def cell_text(value: object) -> str:
    """A cell that no spreadsheet interprets as a formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = str(value)
    return f"'{text}" if isinstance(value, str) and text.startswith(FORMULAS) else text


def cell_value(text: str) -> str:
    """The original text of a cell that `cell_text` escaped."""
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULAS) else text
