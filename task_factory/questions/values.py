"""What the words of a page mean: numbers, years, short words; what kind of thing a first sentence is about."""

import re
from typing import NamedTuple

from task_factory.questions.pages import Row, WikiPage

_MONTH = "(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_ABOUT = r"(?:(?:c|ca|circa|about|around|approx|approximately)\.?\s*)?"
_YEAR = re.compile(
    rf"{_ABOUT}(?:\d{{1,2}}\s+{_MONTH}\s+|{_MONTH}\s+(?:\d{{1,2}},?\s+)?)?(\d{{3,4}})(?:\s*\(.*\))?", re.IGNORECASE
)
_NUMBER = re.compile(
    rf"{_ABOUT}(\d{{1,3}}(?:[,\u00a0\u202f ]\d{{3}})+|\d+)(?:\s*([^\W\d_]+[²³]?))?(?:\s*\(.*\))?", re.IGNORECASE
)
_WORDS = re.compile(r"[^\W\d_]{2,}(?:[ -][^\W\d_]+){0,2}")
_KIND = re.compile(
    r"\b(?:is|was|are|were)\s+(?:an?|the)\s+(?P<noun>[\w-]+(?:\s+[\w-]+){0,5}?)"
    r"(?=\s+(?:in|of|on|at|by|from|to|who|which|that|for|with|near|about|whose|where|located|situated|born|founded|known"
    r"|built|made|written|starring|and|or|\w+ed\s+(?:by|in|on|at|from|as|for|to|with))\b|\s*[,.;:(]|\s*$)"
)
_SAID_YEAR = re.compile(
    rf"\b(born|died|founded|established|built|opened|completed|published|released|formed|discovered)\s+(?:in|on)\s+"
    rf"(?:\d{{1,2}}\s+{_MONTH}\s+|{_MONTH}\s+(?:\d{{1,2}},?\s+)?)?(\d{{3,4}})\b",
    re.IGNORECASE,
)
_SAID_PEOPLE = re.compile(r"\b(?:population of|inhabited by)\s+([\d,]+)|([\d,]+)\s+inhabitants\b", re.IGNORECASE)


class Number(NamedTuple):
    """A whole number with its unit; a year and a bare number have none."""

    value: int
    unit: str = ""


def read_number(text: str) -> Number | None:
    """A number or a date's year, if the text is no more than that; None for fractions, ranges and lists."""
    if found := _YEAR.fullmatch(text):
        return Number(int(found[1]))
    if found := _NUMBER.fullmatch(text):
        return Number(int(re.sub(r"\D", "", found[1])), found[2] or "")
    return None


def read_word(text: str) -> str | None:
    """One to three words, in lower case; None for all else."""
    return text.lower() if len(text) <= 30 and _WORDS.fullmatch(text) else None


def read_kind(lead: str) -> str | None:
    """What a first sentence says something is, as one noun in lower case: *town* of *X is a small town in Y*."""
    found = _KIND.search(lead[:400])
    noun = found["noun"].split()[-1] if found else ""
    return noun if noun.islower() and noun.replace("-", "").isalpha() and len(noun) > 2 else None


def facts_of(page: WikiPage) -> dict[str, Row]:
    """The rows of a page by label, the first of each; what its first paragraph says goes after its tables."""
    rows: dict[str, Row] = {}
    for row in (*page.rows, *_said_rows(page.lead)):
        rows.setdefault(row.label, row)
    return rows


def _said_rows(lead: str) -> list[Row]:
    rows = [Row(label=found[1].capitalize(), text=found[2]) for found in _SAID_YEAR.finditer(lead)]
    if found := _SAID_PEOPLE.search(lead):
        rows.append(Row(label="Population", text=found[1] or found[2]))
    return rows
