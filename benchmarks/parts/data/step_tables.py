"""Copies of the table of steps with its columns and indexes: as it is, split by hash of the episode, and by months."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

import psycopg

TABLE = "episodes_step"
EPISODE, BATCH = 20, 100
"""Steps of an episode, and episodes that are at work at a time."""
HASHES, MONTHS = 16, 12
START = datetime(2026, 1, 1, tzinfo=UTC)
YEAR = timedelta(days=365)
DOCUMENT = (
    '{"index":0,"command_id":"COMMAND","actor":"human","decision":"accept","thought":"THOUGHT","action":{"kind":"click",'
    '"x":10,"y":20,"button":"left","count":1,"modifiers":[]},"before":{"screenshot":{"sha256":"DIGEST","media_type":'
    '"image/jpeg","size":91234},"width":1280,"height":720,"captured_at":"2026-01-01T00:00:00Z","settled":true,"rest":'
    '"rested","settle_ms":41.5},"after":{"screenshot":{"sha256":"DIGEST","media_type":"image/jpeg","size":91234},'
    '"width":1280,"height":720,"captured_at":"2026-01-01T00:00:00Z","settled":true,"rest":"rested","settle_ms":41.5},'
    '"started_at":"2026-01-01T00:00:00Z","ended_at":"2026-01-01T00:00:00Z","decide_ms":812.25}'
)
"""As long as a step's own, with digests that do not repeat."""


def episode_id_for(number: int) -> str:
    """The id of an episode, at random like all of them."""
    return str(UUID(hashlib.md5(f"episode {number}".encode(), usedforsecurity=False).hexdigest()))


def moment_at(share: float) -> datetime:
    """So far into the year."""
    return START + share * YEAR


def step_row(number: int) -> dict[str, object]:
    """A step that none of those filled in is, where its number is none of theirs; else its columns as they are."""
    block, place = divmod(number, EPISODE * BATCH)
    command = hashlib.md5(f"command {number}".encode(), usedforsecurity=False).hexdigest()
    return {
        "id": number + 1,
        "episode_id": episode_id_for(block * BATCH + place % BATCH),
        "index": place // BATCH,
        "command_id": command,
        "actor": "human",
        "decision": "accept",
        "policy": "nano r1",
        "document": DOCUMENT.replace("COMMAND", command),
        "created_at": moment_at(0.999),
    }


FILL = f"""
INSERT INTO {{table}} (id, episode_id, index, command_id, actor, decision, policy, document, created_at)
SELECT number + 1, md5('episode ' || (number / {EPISODE * BATCH} * {BATCH} + number %% {BATCH}))::uuid,
       number %% {EPISODE * BATCH} / {BATCH}, md5('command ' || number), 'human',
       CASE WHEN number %% 10 = 0 THEN 'override' ELSE 'accept' END, 'nano r1',
       replace(replace(%(document)s, 'COMMAND', md5('command ' || number)), 'DIGEST',
               md5('a' || number) || md5('b' || number)),
       %(start)s + number * (%(year)s / %(steps)s)
FROM generate_series(0::bigint, %(steps)s - 1) number
"""


@dataclass(frozen=True)
class Layout:
    """One way to store the steps."""

    name: str
    split: str = ""
    """What it is partitioned by."""
    key: str = ""
    """The column that every unique rule has to hold then."""
    parts: Sequence[str] = ()
    """Of each partition, which rows it has."""

    @property
    def table(self) -> str:
        """Its table's name."""
        return f"steps_{self.name}"

    def make(self, connection: psycopg.Connection, steps: int) -> None:
        """The table with so many steps, in the order of their moments, and the indexes of the schema; unique ones hold
        the key where it is split."""
        _run(connection, f"CREATE TABLE {self.table} (LIKE {TABLE} INCLUDING DEFAULTS) {self.split}")
        for number, which in enumerate(self.parts):
            _run(connection, f"CREATE TABLE {self.table}_{number} PARTITION OF {self.table} FOR VALUES {which}")
        values = {"document": DOCUMENT.replace("THOUGHT", "because " * 8), "start": START, "year": YEAR, "steps": steps}
        connection.execute(FILL.format(table=self.table), values)
        found = connection.execute("SELECT indexname, indexdef FROM pg_indexes WHERE tablename = %s", (TABLE,))
        for name, definition in found.fetchall():
            _run(connection, self.index(name, definition))
        _run(connection, f"VACUUM ANALYZE {self.table}")

    def index(self, name: str, definition: str) -> str:
        """An index of the schema, as it has to be here."""
        here = re.sub(rf"(INDEX) \S+ ON (\S+\.)?{TABLE} ", rf'\1 "{self.name}_{name}" ON {self.table} ', definition)
        if not (self.key and " UNIQUE " in definition):
            return here
        columns = re.search(r"\(([^()]*)\)", here)
        assert columns is not None, here
        if self.key in columns[1].split(", "):
            return here
        return here.replace(columns[0], f"({columns[1]}, {self.key})")

    def size(self, connection: psycopg.Connection) -> dict[str, float]:
        """Megabytes of rows and of indexes."""
        sql = """
        SELECT sum(pg_table_size(part)), sum(pg_indexes_size(part))
        FROM (SELECT %(table)s::regclass UNION SELECT inhrelid FROM pg_inherits WHERE inhparent = %(table)s::regclass)
             parts (part)
        """
        row = connection.execute(sql, {"table": self.table}).fetchone()
        assert row is not None
        return {"rows_mb": round(float(row[0]) / 1e6, 1), "indexes_mb": round(float(row[1]) / 1e6, 1)}

    def month_delete(self, connection: psycopg.Connection) -> None:
        """The first month's steps, and the place they took: a whole partition where that is what a month is."""
        if self.key == "created_at":
            _run(connection, f"DROP TABLE {self.table}_0")
        else:
            _run(connection, f"DELETE FROM {self.table} WHERE created_at < '{moment_at(1 / MONTHS).isoformat()}'")
            _run(connection, f"VACUUM {self.table}")


def _run(connection: psycopg.Connection, sql: str) -> None:
    connection.execute(sql)


def _month(number: int) -> str:
    ends = [moment_at(place / MONTHS).isoformat() for place in (number, number + 1)]
    return f"FROM ('{ends[0]}') TO ('{ends[1]}')"


LAYOUTS = (
    Layout("plain"),
    Layout(
        "hash",
        "PARTITION BY HASH (episode_id)",
        "episode_id",
        [f"WITH (MODULUS {HASHES}, REMAINDER {number})" for number in range(HASHES)],
    ),
    Layout("months", "PARTITION BY RANGE (created_at)", "created_at", [_month(number) for number in range(MONTHS)]),
)
