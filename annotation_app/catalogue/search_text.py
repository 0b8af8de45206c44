"""Text as PostgreSQL's search can take it: Chinese has no spaces, so its pairs of characters are words."""

import re

MAX_TEXT_CHARACTERS = 200_000
"""Characters of an episode that are searched; a vector has a limit of its own."""
_UNSPACED_PATTERN = re.compile("[぀-ヿ㐀-鿿豈-﫿]+")


def to_search_text(text: str) -> str:
    """The text with every run of unspaced characters as overlapping pairs, as one writes and as one asks."""
    return _UNSPACED_PATTERN.sub(lambda run: f" {' '.join(_overlapping_pairs(run[0]))} ", text.replace("\x00", " "))[
        :MAX_TEXT_CHARACTERS
    ]


def _overlapping_pairs(run: str) -> list[str]:
    return [run[place : place + 2] for place in range(len(run) - 1)] or [run]
