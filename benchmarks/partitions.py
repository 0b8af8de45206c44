"""The table of steps as it is, by hash and by months: `./pilothouse bench partitions [--steps 2000000]`.

Three copies of the table with its indexes and the same rows, a hundred episodes at work at a time, over a year. Each
kind of statement is asked of the three by turns, worded as Django words it and planned every time. Pages are those the
statement touched, in memory or not, and processor time is the server's: neither depends on who else uses the machine.
The last line is one JSON object.
"""

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import psycopg

from annotation_app.operations.runtime.temporary_platform import temporary_platform
from benchmarks.parts.data.step_tables import EPISODE, LAYOUTS, Layout, episode_id_for, moment_at, step_row
from benchmarks.parts.figures import percentile, print_figures, print_progress

STEPS = 2_000_000
REPETITIONS = 300
"""Statements of each kind, of each layout."""
EXPORT_BATCH = 50
"""Episodes whose steps an export fetches at a time."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="./pilothouse bench partitions")
    parser.add_argument("--steps", type=int, default=STEPS)
    steps = parser.parse_args().steps
    with (
        tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder,
        temporary_platform(Path(folder) / "storage", storage_only=True) as storage,
    ):
        print_progress("an empty database")
        storage.manage("migrate", "-v0")
        figures = measure(storage.environment["PILOTHOUSE_DATABASE_URL"], steps)
    return print_figures("partitions", {"steps": steps, **figures})


def measure(address: str, steps: int) -> dict[str, Any]:
    """Every figure of every layout."""
    print_progress(f"{steps} steps of each layout")
    with ThreadPoolExecutor() as threads:
        sizes = threads.map(lambda layout: _create_table(address, layout, steps), LAYOUTS)
        found = {layout.name: size for layout, size in zip(LAYOUTS, sizes, strict=True)}
    with psycopg.connect(address, autocommit=True) as connection:
        for what, statements in QUERIES.items():
            print_progress(what)
            for name, figures in time_statements(connection, statements, steps).items():
                found[name] |= {f"{what}_{key}": value for key, value in figures.items()}
        for layout in LAYOUTS:
            print_progress(f"the first month is deleted: {layout.name}")
            used, written = processor(connection), wal(connection)
            layout.month_delete(connection)
            found[layout.name]["month_deleted_cpu_s"] = round(processor(connection) - used, 3)
            found[layout.name]["month_deleted_wal_mb"] = round((wal(connection) - written) / 1e6, 1)
    return found


def _create_table(address: str, layout: Layout, steps: int) -> dict[str, float]:
    with psycopg.connect(address, autocommit=True) as connection:
        layout.make(connection, steps)
        return layout.size(connection)


def processor(connection: psycopg.Connection) -> float:
    """Seconds that the server's process for this connection has computed, all of it between two statements."""
    return int(Path(f"/proc/{connection.info.backend_pid}/schedstat").read_text().split()[0]) / 1e9


Statement = tuple[str, tuple[object, ...]]


def time_statements(
    connection: psycopg.Connection, statements: Callable[[Layout, random.Random, int], Statement], steps: int
) -> dict[str, dict[str, float]]:
    """One kind of statement, of the layouts by turns."""
    draws = {layout.name: random.Random(1) for layout in LAYOUTS}
    took: dict[str, list[float]] = {layout.name: [] for layout in LAYOUTS}
    used: dict[str, list[float]] = {layout.name: [] for layout in LAYOUTS}
    pages: dict[str, list[int]] = {layout.name: [] for layout in LAYOUTS}
    logged: dict[str, list[int]] = {layout.name: [] for layout in LAYOUTS}
    with psycopg.ClientCursor(connection) as cursor:
        for turn in range(REPETITIONS + REPETITIONS // 10):
            for layout in LAYOUTS:
                sql, values = statements(layout, draws[layout.name], steps)
                if turn < REPETITIONS:
                    begun, before = time.perf_counter(), processor(connection)
                    cursor.execute(sql, values)
                    if cursor.description:
                        cursor.fetchall()
                    took[layout.name].append((time.perf_counter() - begun) * 1_000)
                    used[layout.name].append((processor(connection) - before) * 1_000)
                else:
                    cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, WAL, FORMAT JSON) {sql}", values)
                    told = cast(Any, cursor.fetchone())[0][0]
                    whole = (told["Plan"], told.get("Planning", {}))
                    pages[layout.name].append(sum(one.get(f"Shared {how} Blocks", 0) for one in whole for how in HOW))
                    logged[layout.name].append(told["Plan"].get("WAL Bytes", 0))
    return {
        name: {
            "ms": round(statistics.median(took[name]), 2),
            "cpu_ms": round(statistics.median(used[name]), 3),
            "pages": percentile(pages[name], 0.5),
            **({"wal_bytes": percentile(logged[name], 0.5)} if any(logged[name]) else {}),
        }
        for name in took
    }


HOW = ("Hit", "Read")


def wal(connection: psycopg.Connection) -> int:
    """Bytes of the log so far."""
    row = connection.execute("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')").fetchone()
    assert row is not None
    return int(row[0])


def _append(layout: Layout, draw: random.Random, steps: int) -> Statement:
    row = step_row(steps + draw.getrandbits(40))
    names = ", ".join(f'"{name}"' for name in row)
    return f"INSERT INTO {layout.table} ({names}) VALUES ({', '.join(['%s'] * len(row))})", tuple(row.values())


def _trajectory(layout: Layout, draw: random.Random, steps: int) -> Statement:
    return f'SELECT * FROM {layout.table} WHERE episode_id = %s ORDER BY "index"', (_any(draw, steps),)


def _count(layout: Layout, draw: random.Random, steps: int) -> Statement:
    return f"SELECT count(*) FROM {layout.table} WHERE episode_id = %s", (_any(draw, steps),)


def _command(layout: Layout, draw: random.Random, steps: int) -> Statement:
    known = step_row(draw.randrange(steps))["command_id"]
    return f"SELECT 1 FROM {layout.table} WHERE command_id IN (%s) LIMIT 1", (known,)


def _exported(layout: Layout, draw: random.Random, steps: int) -> Statement:
    first = draw.randrange(steps // EPISODE - EXPORT_BATCH)
    keys = tuple(episode_id_for(number) for number in range(first, first + EXPORT_BATCH))
    return (
        f'SELECT * FROM {layout.table} WHERE episode_id IN ({", ".join(["%s"] * EXPORT_BATCH)}) ORDER BY "index"',
        keys,
    )


def _day(layout: Layout, draw: random.Random, steps: int) -> Statement:
    share = draw.random() * 0.99
    since, until = moment_at(share), moment_at(share + 1 / 365)
    sql = f"SELECT decision, count(*) FROM {layout.table} WHERE created_at >= %s AND created_at < %s GROUP BY decision"
    return sql, (since, until)


def _overridden(layout: Layout, draw: random.Random, steps: int) -> Statement:
    sql = f"SELECT * FROM {layout.table} WHERE decision IN ('override', 'takeover') ORDER BY id DESC LIMIT 20"
    return sql, ()


def _any(draw: random.Random, steps: int) -> str:
    return episode_id_for(draw.randrange(steps // EPISODE))


QUERIES: dict[str, Callable[[Layout, random.Random, int], Statement]] = {
    "append": _append,
    "trajectory": _trajectory,
    "count": _count,
    "command": _command,
    "exported": _exported,
    "day": _day,
    "refused": _overridden,
}

if __name__ == "__main__":
    sys.exit(main())
