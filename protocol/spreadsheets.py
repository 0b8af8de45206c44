"""Rows of cells from CSV files and XLSX workbooks, each with its number in the file; pure.

Excel, Numbers, LibreOffice and pandas write CSV in many ways: with a byte order mark, with semicolons or tabs, with
`sep=;` in front, with empty lines, empty columns or a Ctrl-Z at the end. All of them are read.
"""

import csv
import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from xml.etree import ElementTree

Cells = list[str]
SEPARATORS = ",;\t|"
MAX_COLUMNS = 16_384
"""Columns of a sheet, as in Excel."""
MAX_PART_BYTES = 64 * 2**20
"""Bytes of a part of a workbook when it is unpacked."""
_FIRST_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
_NAMED_SEPARATOR = re.compile(r"\s*\"?sep=(.)\"?[,;\s]*", re.IGNORECASE)
_PLACE = re.compile(r"([A-Z]{1,3})[0-9]+")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_ZIPPED = b"PK\x03\x04"


class TableFault(ValueError):
    """Why a table cannot be read from this row on."""

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(reason)
        self.row = row


def csv_cells(data: bytes, *, wanted: str) -> Iterator[tuple[int, Cells]]:
    """The rows that are not empty, with the line each begins at, counted from 1.

    The separator is what `sep=` names, or the one that makes `wanted` a column of the heading. Raises TableFault.
    """
    text, row = _decoded(data).lstrip("\ufeff").rstrip("\x1a"), 1
    named: str | None = None
    while (first := _FIRST_LINE.match(text)) is not None and first[2]:
        found = _NAMED_SEPARATOR.fullmatch(first[1]) if named is None else None
        if found is None and first[1].strip():
            break
        named = found[1] if found else named
        text, row = text[first.end() :], row + 1
    before = row - 1
    separator = named or _separator(first[1] if first else "", wanted)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    while True:
        row = before + reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise TableFault(row, str(error)) from None
        if cells is None:
            return
        if any(cell.strip() for cell in cells):
            yield row, cells


def _decoded(data: bytes) -> str:
    if data.startswith(_ZIPPED):
        raise TableFault(1, "it is no CSV: it is a workbook (XLSX) or a zip file")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        hint = "; it is UTF-16, so save it as UTF-8" if data.startswith(_UTF16) else ""
        raise TableFault(data[: error.start].count(b"\n") + 1, f"it is not UTF-8{hint}") from None


def _separator(heading: str, wanted: str) -> str:
    """The separator under which the heading has this column; the comma where none does."""
    for separator in SEPARATORS:
        try:
            cells = next(csv.reader([heading], delimiter=separator), [])
        except csv.Error:
            continue
        if wanted in (cell.strip().lower() for cell in cells):
            return separator
    return ","


def workbook_cells(data: bytes) -> Iterator[tuple[int, Cells]]:
    """The rows of the first sheet of an XLSX workbook that are not empty, with their numbers. Raises TableFault."""
    row = 1
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as book:
            texts = _shared_texts(book)
            for row, cells in _sheet_rows(book, texts):
                if any(cell.strip() for cell in cells):
                    yield row, cells
    except TableFault:
        raise
    except (ElementTree.ParseError, zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise TableFault(row, f"it is no XLSX workbook: {error}") from None
    except (ValueError, LookupError, RuntimeError) as error:  # an encrypted part is a RuntimeError
        raise TableFault(row, f"the workbook is damaged or encrypted: {error}") from None


def _elements(book: zipfile.ZipFile, part: str, name: str) -> Iterator[ElementTree.Element]:
    """The elements of this name in a part of a workbook, one after another; each is gone when the next comes."""
    try:
        info = book.getinfo(part)
    except KeyError:
        raise TableFault(1, f"it is no XLSX workbook: it has no {part}") from None
    if info.file_size > MAX_PART_BYTES:
        raise TableFault(1, f"the workbook is too large: {part} has more than {MAX_PART_BYTES} bytes")
    with book.open(info) as source:
        around: list[ElementTree.Element] = []
        inside = 0
        # Expat bounds what entities make of a text since 2.4.1, and the part has a bound.
        for event, element in ElementTree.iterparse(source, events=("start", "end")):  # noqa: S314
            wanted = _local(element.tag) == name
            if event == "start":
                inside += wanted
                around.append(element)
                continue
            around.pop()
            inside -= wanted
            if not inside:
                if wanted:
                    yield element
                if around:
                    around[-1].clear()


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _first_sheet(book: zipfile.ZipFile) -> str:
    """The part that holds the first sheet."""
    sheet = next(_elements(book, "xl/workbook.xml", "sheet"), None)
    if sheet is None:
        raise TableFault(1, "the workbook has no sheet")
    wanted = next((value for key, value in sheet.attrib.items() if _local(key) == "id"), None)
    for relation in _elements(book, "xl/_rels/workbook.xml.rels", "Relationship"):
        if relation.get("Id") == wanted:
            target = relation.get("Target", "")
            return target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    raise TableFault(1, "the workbook's first sheet is missing")


def _shared_texts(book: zipfile.ZipFile) -> list[str]:
    """The texts that cells name by number."""
    part = "xl/sharedStrings.xml"
    return [_text(item) for item in _elements(book, part, "si")] if part in book.namelist() else []


def _text(item: ElementTree.Element) -> str:
    """A text with all its runs, without the pronunciations that Japanese texts carry."""
    parts = [
        part.text or ""
        for run in item
        if _local(run.tag) != "rPh"
        for part in (run if _local(run.tag) == "r" else (run,))
        if _local(part.tag) == "t"
    ]
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), "".join(parts))


def _sheet_rows(book: zipfile.ZipFile, texts: list[str]) -> Iterator[tuple[int, Cells]]:
    number = 0
    for element in _elements(book, _first_sheet(book), "row"):
        number = int(element.get("r", number + 1))
        cells: Cells = []
        for cell in element:
            if _local(cell.tag) == "c":
                column = _column(cell.get("r", ""), len(cells))
                cells += [""] * (column - len(cells))
                cells[column:] = [_cell_text(cell, texts, number)]
        yield number, cells


def _column(place: str, otherwise: int) -> int:
    """The number of a cell's column, from 0. Raises ValueError."""
    found = _PLACE.fullmatch(place)
    if found is None:
        return otherwise
    column = 0
    for letter in found[1]:
        column = column * 26 + ord(letter) - ord("A") + 1
    if column > MAX_COLUMNS or column <= otherwise:
        raise ValueError(f"the cell {place} is out of place")
    return column - 1


def _cell_text(cell: ElementTree.Element, texts: list[str], row: int) -> str:
    kind = cell.get("t", "n")
    parts = {_local(part.tag): part for part in cell}
    if kind == "inlineStr":
        return _text(parts["is"]) if "is" in parts else ""
    value = (parts["v"].text or "") if "v" in parts else ""
    if kind == "e":
        raise TableFault(row, f"a cell holds the error {value[:20]}")
    if kind == "s" and value:
        return texts[int(value)]
    if kind == "b":
        return "true" if value == "1" else "false"
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), value) if kind == "str" else value
