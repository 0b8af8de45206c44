"""Markdown building blocks."""

import re
from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; bars and line ends in cells are escaped. Empty without rows."""
    lines = [f"| {' | '.join(cell(one) for one in row)} |" for row in rows]
    if not lines:
        return ""
    return "\n".join([f"| {' | '.join(header)} |", f"|{'---|' * len(header)}", *lines]) + "\n"


def cell(text: str) -> str:
    """Text as one cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    """Text as code on one line; empty where there is none."""
    return f"`{' '.join(text.split())}`" if text.strip() else ""


def default_code(default: str) -> str:
    """A default of the source as code, without Python syntax: quotes, and the class of a path."""
    plain = re.fullmatch(r"(?:Path\()?(['\"])(.*)\1\)?", default)
    return code(plain[2] if plain else default)


def page(title: str, lead: str, sections: Iterable[tuple[str, str]]) -> str:
    """A page of sections, each with a heading and its text. Sections without text are left out."""
    parts = [f"# {title}", lead, *(f"## {heading}\n\n{text}" for heading, text in sections if text.strip())]
    return "\n\n".join(part.strip() for part in parts) + "\n"
