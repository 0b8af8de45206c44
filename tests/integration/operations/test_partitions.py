"""Ways to store the steps, on PostgreSQL: the same answers of each, and which rules a split table cannot keep."""

import random
from collections.abc import Iterator

import psycopg
import pytest
from django.db import connection
from psycopg.errors import CheckViolation, InvalidForeignKey, UniqueViolation

from benchmarks import partitions
from benchmarks.parts.data.step_tables import EPISODE, LAYOUTS, MONTHS, Layout, episode_id_for, moment_at, step_row

STEPS = 4_000
BY_NAME = {layout.name: layout for layout in LAYOUTS}


@pytest.fixture
def tables(transactional_db: None) -> Iterator[psycopg.Connection]:
    """Each layout's table, filled."""
    given = connection.get_connection_params()
    address = {name: given[name] for name in ("dbname", "user", "password", "host", "port") if name in given}
    with psycopg.connect(**address, autocommit=True) as held:
        try:
            for layout in LAYOUTS:
                layout.make(held, STEPS)
            yield held
        finally:
            for layout in LAYOUTS:
                held.execute(f"DROP TABLE IF EXISTS {layout.table}")


def insert(tables: psycopg.Connection, layout: Layout, **changed: object) -> None:
    """A step whose number is none of those filled in, but for what is changed."""
    row = step_row(10 * STEPS) | changed
    names, places = ", ".join(f'"{name}"' for name in row), ", ".join(["%s"] * len(row))
    tables.execute(f"INSERT INTO {layout.table} ({names}) VALUES ({places})", tuple(row.values()))


def test_every_layout_answers_alike(tables: psycopg.Connection) -> None:
    for what, statement in partitions.QUERIES.items():
        if what == "append":
            continue
        answers = []
        for layout in LAYOUTS:
            sql, values = statement(layout, random.Random(3), STEPS)
            with psycopg.ClientCursor(tables) as cursor:
                answers.append(sorted(cursor.execute(sql, values).fetchall()))
        assert answers[0], what
        assert answers[0] == answers[1] == answers[2], what
    steps = tables.execute('SELECT "index" FROM steps_hash WHERE episode_id = %s ORDER BY 1', (episode_id_for(7),))
    assert [index for (index,) in steps.fetchall()] == list(range(EPISODE))


def test_a_split_table_does_not_know_that_a_command_was_done(tables: psycopg.Connection) -> None:
    known = {"command_id": step_row(0)["command_id"]}
    with pytest.raises(UniqueViolation):
        insert(tables, BY_NAME["plain"], **known)
    insert(tables, BY_NAME["hash"], **known)
    insert(tables, BY_NAME["months"], **known)


def test_by_months_not_even_a_step_is_there_once(tables: psycopg.Connection) -> None:
    known = {"episode_id": episode_id_for(0), "index": 0}
    for name in ("plain", "hash"):
        with pytest.raises(UniqueViolation):
            insert(tables, BY_NAME[name], **known)
    insert(tables, BY_NAME["months"], **known)
    with pytest.raises(CheckViolation, match="no partition"):
        insert(tables, BY_NAME["months"], created_at=moment_at(1.5))


def test_nothing_refers_to_a_step_of_a_split_table_by_its_id(tables: psycopg.Connection) -> None:
    sql = "CREATE TABLE undone_step (step bigint REFERENCES {} (id))"
    for name in ("hash", "months"):
        with pytest.raises(InvalidForeignKey):
            tables.execute(sql.format(BY_NAME[name].table))
    tables.execute(sql.format(BY_NAME["plain"].table))
    tables.execute("DROP TABLE undone_step")


def test_a_month_that_is_a_partition_goes_with_its_table(tables: psycopg.Connection) -> None:
    left = set()
    for layout in LAYOUTS:
        layout.month_delete(tables)
        row = tables.execute(f"SELECT count(*), min(created_at) FROM {layout.table}").fetchone()
        assert row is not None
        assert row[1] >= moment_at(1 / MONTHS)
        left.add(row[0])
    assert left == {STEPS - STEPS // MONTHS - 1}


def test_statements_are_told_by_pages_and_processor_time(
    tables: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitions, "REPETITIONS", 10)
    for what in ("append", "command"):
        told = partitions.time_statements(tables, partitions.QUERIES[what], STEPS)
        assert told.keys() == BY_NAME.keys()
        assert all(figures["pages"] > 0 and figures["cpu_ms"] > 0 for figures in told.values())
        assert all(("wal_bytes" in figures) == (what == "append") for figures in told.values())
    assert told["hash"]["pages"] > told["plain"]["pages"], "every partition is asked"
