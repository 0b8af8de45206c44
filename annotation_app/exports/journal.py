"""How far an export is: a small database in its unfinished folder, so that a worker that was killed is taken up again.

It also holds what grows with the export (which trajectories, which files), so that memory does not.
"""

import errno
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple, Self
from uuid import UUID

from protocol.base import FrozenModel

JOURNAL_NAME = "journal.sqlite"
SCHEMA_SQL = """
CREATE TABLE IF NOT EXISTS plan (position INTEGER PRIMARY KEY, episode TEXT NOT NULL, split TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS plan_split ON plan (split, position);
CREATE TABLE IF NOT EXISTS planned (done INTEGER);
CREATE TABLE IF NOT EXISTS parts (
    split TEXT, number INTEGER, trajectories INTEGER, steps INTEGER, records INTEGER, enriched INTEGER,
    diversified INTEGER, PRIMARY KEY (split, number));
CREATE TABLE IF NOT EXISTS files (path TEXT PRIMARY KEY, sha256 TEXT NOT NULL, size INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS missing (sha256 TEXT, episode TEXT, PRIMARY KEY (sha256, episode)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS refused (
    key TEXT PRIMARY KEY, code TEXT, message TEXT, trajectory TEXT) WITHOUT ROWID;
"""


VARIANT_COLUMNS = ("enriched", "diversified")


class ExcludedRow(NamedTuple):
    """A row that was left out, or a whole trajectory where `key` is its id."""

    key: str
    code: str
    message: str
    trajectory: str


class PartCounts(FrozenModel):
    """What a part holds."""

    trajectories: int = 0
    steps: int = 0
    records: int = 0
    enriched: int = 0
    """Of the trajectories: variants of this kind."""
    diversified: int = 0

    @property
    def variants(self) -> dict[str, int]:
        """How many of the trajectories are variants, by their kind; nothing of kinds that there are none of."""
        return {kind: count for kind, count in self if kind in VARIANT_COLUMNS and count}


DISK_FULL_CODES = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE})


@contextmanager
def sqlite_errors_as_oserror() -> Iterator[None]:
    """What the disk refuses SQLite, as the operating system says it. Raises OSError."""
    try:
        yield
    except sqlite3.OperationalError as error:
        code = errno.ENOSPC if error.sqlite_errorcode in DISK_FULL_CODES else errno.EIO
        raise OSError(code, os.strerror(code)) from error


class ExportJournal(AbstractContextManager["ExportJournal"]):
    """The journal of one folder."""

    def __init__(self, folder: Path) -> None:
        self._database = sqlite3.connect(folder / JOURNAL_NAME, isolation_level=None)
        try:
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.executescript(SCHEMA_SQL)
            if "trajectory" not in {row[1] for row in self._database.execute("PRAGMA table_info(refused)")}:
                self._database.execute("ALTER TABLE refused ADD COLUMN trajectory TEXT")  # begun by an older release
            known = {row[1] for row in self._database.execute("PRAGMA table_info(parts)")}
            for column in set(VARIANT_COLUMNS) - known:
                self._database.execute(f"ALTER TABLE parts ADD COLUMN {column} INTEGER")
        except sqlite3.Error:
            self._database.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    @property
    def planned(self) -> bool:
        """Whether it is known which trajectories are in it: once, whatever happens to the data meanwhile."""
        return self._one("SELECT count(*) FROM planned") > 0

    def plan(self, members: Iterable[tuple[UUID, str]]) -> None:
        """Note which trajectories are in it, in order, each with its split."""
        self._database.execute("BEGIN")
        self._database.execute("DELETE FROM plan")
        rows = ((str(episode), split) for episode, split in members)
        self._database.executemany("INSERT INTO plan (episode, split) VALUES (?, ?)", rows)
        self._database.execute("INSERT INTO planned VALUES (1)")
        self._database.execute("COMMIT")

    def splits(self) -> dict[str, int]:
        """How many trajectories each split has."""
        return dict(self._database.execute("SELECT split, count(*) FROM plan GROUP BY split ORDER BY split"))

    def episodes(self, split: str, number: int, size: int) -> list[UUID]:
        """The trajectories of one part of a split."""
        rows = self._database.execute(
            "SELECT episode FROM plan WHERE split = ? ORDER BY position LIMIT ? OFFSET ?", (split, size, number * size)
        )
        return [UUID(row[0]) for row in rows]

    def plan_rows(self) -> Iterator[tuple[UUID, str]]:
        """Every trajectory with its split, in order."""
        for episode, split in self._database.execute("SELECT episode, split FROM plan ORDER BY position"):
            yield UUID(episode), split

    def written(self, split: str, number: int) -> bool:
        """Whether a part is whole."""
        return self._one("SELECT count(*) FROM parts WHERE split = ? AND number = ?", split, number) > 0

    def part_add(
        self,
        split: str,
        number: int,
        counts: PartCounts,
        files: Iterable[tuple[str, str, int]],
        missing: Iterable[tuple[str, str]],
        refused: Iterable[ExcludedRow],
    ) -> None:
        """Note that a part is whole, with its files (path, sha256, size), and what it lacks: all or nothing."""
        self._database.execute("BEGIN")
        self._database.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", files)
        self._database.executemany("INSERT OR REPLACE INTO missing VALUES (?, ?)", missing)
        self._database.executemany("INSERT OR REPLACE INTO refused VALUES (?, ?, ?, ?)", refused)
        self._database.execute(
            "INSERT OR REPLACE INTO parts (split, number, trajectories, steps, records, enriched, diversified)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (split, number, *dict(counts).values()),
        )
        self._database.execute("COMMIT")

    def reset_parts(self) -> None:
        """Rewrite every part, because missing data may be back."""
        self._database.execute("BEGIN")
        for table in ("parts", "files", "missing", "refused"):
            self._database.execute(f"DELETE FROM {table}")  # noqa: S608 - names from the line above
        self._database.execute("COMMIT")

    def file_add(self, path: str, sha256: str, size: int) -> None:
        """Note a file that is no part's."""
        self._database.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", (path, sha256, size))

    def counts(self, split: str | None = None) -> PartCounts:
        """What the parts hold together."""
        where, values = ("WHERE split = ?", (split,)) if split is not None else ("", ())
        sums = ", ".join(f"coalesce(sum({name}), 0)" for name in PartCounts.model_fields)
        row = self._database.execute(f"SELECT {sums} FROM parts {where}", values).fetchone()  # noqa: S608 - names of a model's fields; values are bound
        return PartCounts(**dict(zip(PartCounts.model_fields, row, strict=True)))

    def files(self) -> Iterator[tuple[str, str, int]]:
        """Every file by its path."""
        yield from self._database.execute("SELECT path, sha256, size FROM files ORDER BY path")

    def bytes(self) -> int:
        """Size of all files."""
        return self._one("SELECT coalesce(sum(size), 0) FROM files")

    def images(self) -> int:
        """How many of the files are pictures or a machine's files."""
        return self._one("SELECT count(*) FROM files WHERE path GLOB 'images/*' AND path NOT GLOB '*.json'")

    def missing(self) -> Iterator[tuple[str, str]]:
        """What is missing: each digest, and an episode that shows it."""
        yield from self._database.execute("SELECT sha256, episode FROM missing ORDER BY sha256, episode")

    def refused(self) -> Iterator[ExcludedRow]:
        """What was left out, by key."""
        columns = "key, code, message, coalesce(trajectory, key)"
        for row in self._database.execute(f"SELECT {columns} FROM refused ORDER BY key"):  # noqa: S608 - names of ours
            yield ExcludedRow(*row)

    def missing_count(self) -> int:
        return self._one("SELECT count(DISTINCT sha256) FROM missing")

    def refused_codes(self) -> dict[str, int]:
        """How many rows and trajectories were left out, by code."""
        return dict(self._database.execute("SELECT code, count(*) FROM refused GROUP BY code ORDER BY code"))

    def _one(self, query: str, *values: object) -> int:
        return int(self._database.execute(query, values).fetchone()[0])
