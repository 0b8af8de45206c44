"""Documents with pictures as text and bytes in their order: Markdown as it is written, HTML as it reads.

Pictures are files in the documents' folder. One that is elsewhere, missing or of an unknown kind is left out. The words
in its place stay.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

from trainer.errors import FolderUnknown, SampleUnreadable

MARKDOWN, HTML = {".md", ".markdown"}, {".html", ".htm"}
LABELS = "document.json"
"""Beside a document, what it is: `variant`, where an export of the platform wrote it."""
PICTURES = {".png", ".jpg", ".jpeg", ".webp", ".gif"}
MARKED = re.compile(r"!\[(?P<words>[^\]]*)\]\(\s*<?(?P<path>[^)\s>]+)>?(?:\s+[\"'][^)]*)?\)")
"""A picture in Markdown."""
UNREAD = {"script", "style", "template", "noscript", "svg", "head"}
BREAKING = {"p", "div", "br", "li", "tr", "section", "article", "pre", "blockquote", "table", "ul", "ol", "figure"}
HEADINGS = {f"h{level}" for level in range(1, 7)}

Part = str | tuple[str, str]
"""Text, or a picture's path as it is written with the words in its place."""


def list_documents(folder: Path) -> list[Path]:
    """Every document below a folder, in order. Raises FolderUnknown."""
    if not folder.is_dir():
        raise FolderUnknown(f"{folder} is no folder")
    return sorted(file for file in folder.rglob("*") if file.is_file() and file.suffix.lower() in MARKDOWN | HTML)


def read_document(file: Path, folder: Path, left_out: Counter[str]) -> list[str | bytes]:
    """A document of a folder as text and the bytes of pictures. Raises SampleUnreadable."""
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise SampleUnreadable(f"{file.name} is not in UTF-8") from None
    parts = markdown_parts(text) if file.suffix.lower() in MARKDOWN else html_parts(text)
    return list(_load_pictures(parts, file, folder.resolve(), left_out))


def document_variant(file: Path) -> str:
    """The variant that a document is labelled with; `none` where it has no label. Raises SampleUnreadable."""
    labels = file.with_name(LABELS)
    if not labels.is_file():
        return "none"
    try:
        return str(json.loads(labels.read_bytes())["variant"])
    except (ValueError, KeyError, TypeError):
        raise SampleUnreadable(f"{labels.name} beside {file.name} names no variant") from None


def markdown_parts(text: str) -> Iterator[Part]:
    """Markdown with its pictures taken out."""
    begin = 0
    for found in MARKED.finditer(text):
        if before := text[begin : found.start()]:
            yield before
        yield found["path"], found["words"]
        begin = found.end()
    if rest := text[begin:]:
        yield rest


def html_parts(text: str) -> Iterator[Part]:
    """What a page says, a block a line, with its pictures; nothing that is only for a browser."""
    reader = _Page()
    reader.feed(text)
    reader.close()
    for part in reader.parts:
        if isinstance(part, tuple):
            yield part
        elif words := re.sub(r" *\n[ \n]*", "\n", part):
            yield words


def _load_pictures(parts: Iterator[Part], file: Path, folder: Path, left_out: Counter[str]) -> Iterator[str | bytes]:
    for part in parts:
        if isinstance(part, str):
            yield part
            continue
        link, words = part
        path = (file.parent / unquote(link)).resolve()
        if path.is_relative_to(folder) and path.suffix.lower() in PICTURES and path.is_file():
            yield path.read_bytes()
            continue
        left_out["picture_missing"] += 1
        if words:
            yield words


class _Page(HTMLParser):
    """Text and pictures in order; neighbouring text is one part."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[Part] = []
        self._unread = 0
        self._verbatim = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in UNREAD:
            self._unread += 1
        elif tag == "img" and not self._unread:
            attributes = dict(attrs)
            if source := attributes.get("src"):
                self.parts.append((source, attributes.get("alt") or ""))
        elif tag in BREAKING | HEADINGS:
            self._say("\n")
        self._verbatim += tag == "pre"

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in UNREAD:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag in UNREAD:
            self._unread = max(0, self._unread - 1)
        elif tag in BREAKING | HEADINGS:
            self._say("\n")
        if tag == "pre":
            self._verbatim = max(0, self._verbatim - 1)

    def handle_data(self, data: str) -> None:
        self._say(data if self._verbatim else re.sub(r"\s+", " ", data))

    def _say(self, text: str) -> None:
        if self._unread:
            return
        if self.parts and isinstance(self.parts[-1], str):
            self.parts[-1] += text
        else:
            self.parts.append(text)
