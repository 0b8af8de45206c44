"""Filters of the audit log read its indexes, also where what they leave is rare, or old."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection

from annotation_app.audit.selectors import entries_matching, subject_of
from tests.integration.web.conftest import World

ENTRIES = 20_000
"""A million give the same plans; so few take half a second."""
MAX_READ = ENTRIES // 4
"""Rows that a plan may read, also in vain: those of the days around a day."""
READ = re.compile(r"Scan[^\n]*\(actual [^\n]*rows=(\d+)|Rows Removed by .*: (\d+)")
"""How many rows a node of a plan read from the table or an index, or left out."""
START = datetime(2026, 1, 1, tzinfo=UTC)
FILL = """
    INSERT INTO audit_auditentry (at, actor_id, source, verb, subject, details)
    SELECT %s + number * interval '30 seconds', CASE WHEN number = 7 THEN %s ELSE %s END, 'browser',
        CASE WHEN number = 9 THEN 'quota.set' WHEN number %% 100 < 70 THEN 'task.claimed' ELSE 'pool.changed' END,
        CASE WHEN number = 9 THEN 'user:ada' WHEN number %% 100 < 70 THEN 'episode:' || number
            ELSE 'pool:' || number %% 20 END, '{}'
    FROM generate_series(1, %s) AS number
"""


@pytest.fixture
def log(world: World) -> World:
    """Much of two verbs and kinds by one person, and early on one entry each of another person, verb and kind."""
    with connection.cursor() as cursor:
        cursor.execute(FILL, [START, world.ben.pk, world.ada.pk, ENTRIES])
        cursor.execute("ANALYZE audit_auditentry")
    return world


def filters(world: World) -> dict[str, dict[str, Any]]:
    day = timedelta(days=1)
    return {
        "nothing": {},
        "a rare person": {"actor_id": world.ben.pk},
        "a usual person": {"actor_id": world.ada.pk},
        "a rare verb": {"verb": "quota.set"},
        "an absent verb": {"verb": "webhook.added"},
        "a usual verb": {"verb": "task.claimed"},
        "a rare kind": {"subject": "quota"},
        "a usual kind": {"subject": "episode"},
        "an absent kind": {"subject": "webhook"},
        "one object": {"subject": "pool:3"},
        "one quota": {"subject": "quota:user:ada"},
        "an early day": {"since": START + day, "until": START + 2 * day},
        "an early day of a person": {"actor_id": world.ada.pk, "since": START + day, "until": START + 2 * day},
        "an early day of a kind": {"subject": "pool", "since": START + day, "until": START + 2 * day},
        "all together": {"actor_id": world.ada.pk, "verb": "pool.changed", "subject": "pool", "since": START},
    }


def test_no_filter_reads_the_whole_log(log: World) -> None:
    chosen = filters(log)
    plans = {name: entries_matching(**each)[:51].explain(analyze=True) for name, each in chosen.items()}
    assert [name for name, plan in plans.items() if "Seq Scan on audit_auditentry" in plan] == []
    read = {
        name: sum(int(number) for pair in READ.findall(plan) for number in pair if number)
        for name, plan in plans.items()
    }
    assert {name: rows for name, rows in read.items() if rows > MAX_READ} == {}


def test_entries_of_earlier_versions_are_found_by_kind_and_name(log: World) -> None:
    for subject in ("quota", "quota:user:ada"):
        (entry,) = entries_matching(subject=subject)
        assert (entry.subject, subject_of(entry)) == ("user:ada", "quota:user:ada")


def test_former_quotas_are_no_entries_of_their_person(log: World) -> None:
    for subject in ("user", "user:ada"):
        assert not entries_matching(subject=subject, verb="quota.set").exists()


@pytest.mark.parametrize("year", [2000, 2040])
def test_a_clock_that_was_wrong_hides_no_entry(log: World, year: int) -> None:
    wrong = datetime(year, 1, 1, tzinfo=UTC)
    add = "INSERT INTO audit_auditentry (at, source, verb, subject, details) VALUES (%s, '', 'pool.changed', '', '{}')"
    with connection.cursor() as cursor:
        cursor.execute(add, [wrong])
        cursor.execute(FILL, [START + timedelta(days=10), log.ada.pk, log.ada.pk, 10])
    found = entries_matching(since=START - timedelta(days=1), until=START + timedelta(days=20))
    assert found.count() == ENTRIES + 10


def test_days_leave_what_was_done_in_them(log: World) -> None:
    first, end = START + timedelta(days=1), START + timedelta(days=2)
    moments = list(entries_matching(since=first, until=end).values_list("at", flat=True))
    assert (len(moments), moments[-1], moments[0]) == (2880, first, end - timedelta(seconds=30))
