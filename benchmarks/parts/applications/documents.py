"""Small documents made by code: workbooks, texts, presentations, pictures, sounds."""

import io
import wave
import zipfile
from collections.abc import Mapping, Sequence
from html import escape

from vm_bridge.guest.osworld.screenshots import encode_png

PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
SPREADSHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
WORDS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
MEDIA = "application/vnd.openxmlformats-officedocument."
OPENDOCUMENT = "urn:oasis:names:tc:opendocument:xmlns"
SOUND_RATE = 4_000
"""Samples a second."""


def workbook(rows: Sequence[Sequence[str | int]]) -> bytes:
    """An XLSX file with one sheet, `Sheet1`."""
    lines = "".join(
        f'<row r="{number}">{"".join(_cell(number, place, value) for place, value in enumerate(row))}</row>'
        for number, row in enumerate(rows, 1)
    )
    book = '<sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets>'
    parts = {
        "xl/workbook.xml": f'<workbook xmlns="{SPREADSHEET}" xmlns:r="{OFFICE}">{book}</workbook>',
        "xl/_rels/workbook.xml.rels": _relations("worksheet", "worksheets/sheet1.xml"),
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{SPREADSHEET}"><sheetData>{lines}</sheetData></worksheet>',
    }
    types = {"xl/workbook.xml": "spreadsheetml.sheet.main", "xl/worksheets/sheet1.xml": "spreadsheetml.worksheet"}
    return _package("xl/workbook.xml", parts, types)


def text_document(paragraphs: Sequence[str]) -> bytes:
    """A DOCX file."""
    body = "".join(f"<w:p><w:r><w:t>{escape(each)}</w:t></w:r></w:p>" for each in paragraphs)
    document = f'<w:document xmlns:w="{WORDS}"><w:body>{body}</w:body></w:document>'
    types = {"word/document.xml": "wordprocessingml.document.main"}
    return _package("word/document.xml", {"word/document.xml": document}, types)


def presentation(titles: Sequence[str]) -> bytes:
    """A flat ODP file, a slide with one text box for each title."""
    spaces = {"office": "office", "draw": "drawing", "text": "text", "presentation": "presentation"}
    names = " ".join(f'xmlns:{name}="{OPENDOCUMENT}:{space}:1.0"' for name, space in spaces.items())
    names += f' xmlns:svg="{OPENDOCUMENT}:svg-compatible:1.0"'
    box = 'svg:x="2cm" svg:y="2cm" svg:width="20cm" svg:height="3cm"'
    slides = "".join(
        f'<draw:page draw:name="slide{number}"><draw:frame {box}><draw:text-box>'
        f"<text:p>{escape(title)}</text:p></draw:text-box></draw:frame></draw:page>"
        for number, title in enumerate(titles, 1)
    )
    kind = 'office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.presentation"'
    body = f"<office:body><office:presentation>{slides}</office:presentation></office:body>"
    return f"{HEAD}<office:document {names} {kind}>{body}</office:document>".encode()


def picture(width: int, height: int) -> bytes:
    """A PNG file whose left and right, and top and bottom, differ."""
    rows = (
        bytes(channel for x in range(width) for channel in (x * 255 // width, y * 255 // height, 40 + x * y % 200, 0))
        for y in range(height)
    )
    return encode_png(b"".join(rows), width, height)


def sound(seconds: int) -> bytes:
    """A WAV file with a quiet square wave."""
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(1)
        writer.setframerate(SOUND_RATE)
        writer.writeframes((b"\x7c" * 5 + b"\x84" * 5) * (SOUND_RATE * seconds // 10))
    return file.getvalue()


def _cell(row: int, column: int, value: str | int) -> str:
    place = f"{chr(ord('A') + column)}{row}"
    if isinstance(value, int):
        return f'<c r="{place}"><v>{value}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'


def _package(main: str, parts: Mapping[str, str], types: Mapping[str, str]) -> bytes:
    overrides = "".join(
        f'<Override PartName="/{path}" ContentType="{MEDIA}{kind}+xml"/>' for path, kind in types.items()
    )
    defaults = "".join(
        f'<Default Extension="{name}" ContentType="application/{kind}"/>'
        for name, kind in (("rels", "vnd.openxmlformats-package.relationships+xml"), ("xml", "xml"))
    )
    files = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">{defaults}{overrides}</Types>',
        "_rels/.rels": _relations("officeDocument", main),
        **parts,
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in files.items():
            archive.writestr(zipfile.ZipInfo(path), HEAD + text)
    return file.getvalue()


def _relations(kind: str, target: str) -> str:
    relation = f'<Relationship Id="rId1" Type="{OFFICE}/{kind}" Target="{target}"/>'
    return f'<Relationships xmlns="{PACKAGE}/relationships">{relation}</Relationships>'
