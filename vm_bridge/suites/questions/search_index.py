"""A full-text search over pages: SQLite's FTS5, which ranks by BM25."""

import re
import sqlite3
from collections.abc import Iterable

WORD_PATTERN = re.compile(r"\w+")
MAX_QUERY_WORDS = 64
"""Words of a query that are looked for; the rest is left out."""


class SearchIndex:
    """Pages by id. Used by one thread at a time, which need not be the one that made it."""

    def __init__(self, pages: Iterable[tuple[str, str, str]]) -> None:
        """Takes the id, title and text of each page."""
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self._database.execute("CREATE VIRTUAL TABLE pages USING fts5(id UNINDEXED, title, text, tokenize = 'porter')")
        self._database.executemany("INSERT INTO pages VALUES (?, ?, ?)", pages)

    def search(self, words: str, limit: int) -> tuple[str, ...]:
        """The ids of pages with any of the words, best first; pages of the same rank in their order."""
        found = WORD_PATTERN.findall(words)[:MAX_QUERY_WORDS]
        if not found:
            return ()
        query = " OR ".join(f'"{word}"' for word in found)
        rows = self._database.execute(
            "SELECT id FROM pages WHERE pages MATCH ? ORDER BY rank, rowid LIMIT ?", (query, limit)
        )
        return tuple(row[0] for row in rows)
