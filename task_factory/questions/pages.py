"""Reads a page of a wiki: its title, first sentences, the rows of its tables, and its links."""

import hashlib
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin

from protocol.base import FrozenModel

HIDDEN = frozenset({"script", "style", "noscript", "template"})
SKIPPED = HIDDEN | {"nav", "header", "footer", "form", "sup", "svg", "select"}
"""What is no text of the page; `sup` is mostly a note. Links in them count, but for hidden ones."""
SKIPPED_ROLES = frozenset({"banner", "navigation", "search", "contentinfo"})
VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})
BLOCKS = frozenset({"p", "div", "tr", "td", "th", "li", "ul", "ol", "dl", "dt", "dd", "table", "h1", "h2", "h3", "h4"})
LEAST_LEAD = 20
"""A paragraph with fewer characters is no first sentence."""
ENGLISH = frozenset(["the", "of", "and", "in", "is", "was", "a", "to", "by", "with", "for", "it", "on", "as", "at"])
LEAST_ENGLISH = 0.12
"""Share of common English words in an English text without a `lang`."""


class Link(FrozenModel):
    """A link: where it leads (absolute, without a fragment), and its words."""

    url: str
    text: str


class Row(FrozenModel):
    """A row of a table or of a list of definitions: a label, and what it says."""

    label: str
    text: str
    links: tuple[Link, ...] = ()


class WikiPage(FrozenModel):
    """A page as its readers see it. `text` is without the title; `lead` is its first paragraph; `links` are all, in the
    page's order."""

    url: str
    title: str
    language: str
    lead: str
    text: str
    rows: tuple[Row, ...]
    links: tuple[Link, ...]

    @property
    def digest(self) -> str:
        """SHA-256 of title and text."""
        return hashlib.sha256(f"{self.title}\n{self.text}".encode()).hexdigest()

    @property
    def is_english(self) -> bool:
        """By its `lang`; where it has none, by how common the commonest English words are in it."""
        if self.language:
            return self.language.partition("-")[0] == "en"
        words = re.findall(r"[^\W\d]+", self.text.lower())
        return not words or sum(word in ENGLISH for word in words) / len(words) >= LEAST_ENGLISH


def parse_page(url: str, html: str) -> WikiPage:
    """A page of its HTML, however wrong that is."""
    parser = _Parser(url)
    parser.feed(html)
    parser.close()
    return parser.page()


@dataclass(slots=True)
class _Cell:
    """A cell of a row that is being read."""

    is_label: bool
    parts: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)


class _Parser(HTMLParser):
    def __init__(self, url: str) -> None:
        super().__init__(convert_charrefs=True)
        self._url = url
        self._language, self._titles = "", dict[str, str]()
        self._text, self._paragraph, self._lead = list[str](), list[str](), ""
        self._rows, self._links = list[Row](), list[Link]()
        self._row: list[_Cell] | None = None
        self._link: tuple[str, list[str]] | None = None
        self._inside: list[str] = []
        """Open elements of which the text is kept apart: title, h1, p outside of tables."""
        self._skipped: list[str] = []
        """Open elements within one that is skipped, that one first."""
        self._tables = 0

    def page(self) -> WikiPage:
        """What was read."""
        self._end_row()
        return WikiPage(
            url=self._url,
            title=self._titles.get("h1") or self._titles.get("title", ""),
            language=self._language,
            lead=self._lead,
            text=_joined(self._text),
            rows=tuple(self._rows),
            links=tuple(self._links),
        )

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "html":
            self._language = given.get("lang", "").strip().lower()
        if self._skipped:
            if tag not in VOID:
                self._skipped.append(tag)
            self._open_link(tag, given)
            return
        if tag in SKIPPED or given.get("role") in SKIPPED_ROLES:
            if tag not in VOID:
                self._skipped.append(tag)
            return
        if tag in BLOCKS or tag == "br":
            self._say(" ")
        self._open(tag, given)

    def _open(self, tag: str, given: dict[str, str]) -> None:
        match tag:
            case "table":
                self._tables += 1
            case "tr" | "dt":
                self._end_row()
                self._row = [_Cell(is_label=True)] if tag == "dt" else []
            case "th" | "td" | "dd" if self._row is not None:
                self._row.append(_Cell(is_label=tag == "th"))
            case "a":
                self._open_link(tag, given)
            case "title" | "h1" if tag not in self._titles:
                self._inside.append(tag)
                self._titles[tag] = ""
            case "p" if not self._tables:
                self._end_paragraph()
                self._inside.append("p")

    def _open_link(self, tag: str, given: dict[str, str]) -> None:
        if tag == "a" and given.get("href") and HIDDEN.isdisjoint(self._skipped):
            self._link = (given["href"], [])

    def handle_endtag(self, tag: str) -> None:
        if self._skipped:
            if tag == "a":
                self._end_link()
            if tag in self._skipped:
                del self._skipped[len(self._skipped) - 1 - self._skipped[::-1].index(tag) :]
            return
        match tag:
            case "table":
                self._end_row()
                self._tables = max(0, self._tables - 1)
            case "tr" | "dd" | "dl":
                self._end_row()
            case "a":
                self._end_link()
            case "title" | "h1" if tag in self._inside:
                self._inside.remove(tag)
            case "p":
                self._end_paragraph()
        if tag in BLOCKS:
            self._say(" ")

    def handle_data(self, data: str) -> None:
        if self._skipped:
            if self._link is not None and HIDDEN.isdisjoint(self._skipped):
                self._link[1].append(data)
            return
        for tag in ("title", "h1"):
            if tag in self._inside:
                self._titles[tag] = _joined([self._titles[tag], data])
                return
        self._say(data)

    def _say(self, data: str) -> None:
        self._text.append(data)
        if "p" in self._inside:
            self._paragraph.append(data)
        if self._row:
            self._row[-1].parts.append(data)
        if self._link is not None:
            self._link[1].append(data)

    def _end_link(self) -> None:
        if self._link is None:
            return
        link = _made_link(self._url, self._link[0], _joined(self._link[1]))
        self._link = None
        if link is not None:
            self._links.append(link)
            if self._row and not self._skipped:
                self._row[-1].links.append(link)

    def _end_row(self) -> None:
        row, self._row = self._row, None
        if row is None or len(row) != 2 or row[1].is_label:
            return
        label, text = _joined(row[0].parts).rstrip(":"), _joined(row[1].parts)
        if label and text:
            self._rows.append(Row(label=label[:80], text=text[:300], links=tuple(row[1].links)))

    def _end_paragraph(self) -> None:
        if "p" in self._inside:
            self._inside.remove("p")
        said, self._paragraph = _joined(self._paragraph), []
        if not self._lead and len(said) >= LEAST_LEAD:
            self._lead = said


def _made_link(base: str, href: str, text: str) -> Link | None:
    try:
        address = urldefrag(urljoin(base, href)).url
    except ValueError:
        return None
    return Link(url=address, text=text) if address.startswith("http") and text else None


def _joined(parts: list[str]) -> str:
    return re.sub(r"\s+", " ", re.sub(r"\[\w{1,3}\]", "", "".join(parts))).strip()
