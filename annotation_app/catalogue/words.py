"""Text as PostgreSQL's search can take it: Chinese has no spaces, so its pairs of characters are words."""

import re

LONGEST = 200_000
"""Characters of an episode that are searched; a vector has a limit of its own."""
_UNSPACED = re.compile("[぀-ヿ㐀-鿿豈-﫿]+")


def searchable(text: str) -> str:
    """The text with every run of unspaced characters as overlapping pairs, as one writes and as one asks."""
    return _UNSPACED.sub(lambda run: f" {' '.join(_pairs(run[0]))} ", text.replace("\x00", " "))[:LONGEST]


def _pairs(run: str) -> list[str]:
    return [run[place : place + 2] for place in range(len(run) - 1)] or [run]
