"""Sentence length of the documentation."""

import re
from collections.abc import Iterable

from annotation_app.operations.documents.markdown import paragraphs

LONG_SHARE = 0.05
"""Largest share of long sentences, from 0 to 1."""
LONG_WORDS = 30
"""A sentence with more words is long."""
_END = re.compile(r"[.!?][\"”)]*(\s+)(?=[\"“(]?[^a-z\s])")
"""The boundary of two sentences: a full stop that no lower-case letter follows."""
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|vs|cf|Fig|No|approx)\.$")


def sentences(text: str) -> list[str]:
    """The sentences of a page's prose in order; code, tables and headings are left out."""
    found: list[str] = []
    for paragraph in paragraphs(text):
        begin = 0
        for match in _END.finditer(paragraph):
            if not _ABBREVIATION.search(paragraph[begin : match.start(1)]):
                found.append(paragraph[begin : match.start(1)].strip())
                begin = match.end()
        found.append(paragraph[begin:].strip())
    return [sentence for sentence in found if word_count(sentence)]


def word_count(sentence: str) -> int:
    """The number of words in a sentence: runs without a space that contain a letter or a digit."""
    return sum(1 for word in sentence.split() if re.search(r"\w", word))


def long_sentences(text: str) -> list[str]:
    """The sentences of a page with more than `LONG_WORDS` words."""
    return [sentence for sentence in sentences(text) if word_count(sentence) > LONG_WORDS]


def long_share(pages: Iterable[str]) -> float:
    """The share of long sentences over all pages, from 0 to 1; 0 without sentences."""
    texts = list(pages)
    total = sum(len(sentences(text)) for text in texts)
    return sum(len(long_sentences(text)) for text in texts) / total if total else 0.0
