"""Models and migrations say the same: whoever brings an installation up to date makes no migration of their own. Tables
that grow with every step keep no index that another makes superfluous."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection

GROWING = ("episodes_step", "episodes_proposal", "episodes_command", "episodes_episodeblob")
COLUMNS = """
SELECT index.indexrelid::regclass::text, index.indisunique, array_agg(attribute.attname::text ORDER BY place)
FROM pg_index index
CROSS JOIN LATERAL unnest(index.indkey) WITH ORDINALITY columns (number, place)
JOIN pg_attribute attribute ON attribute.attrelid = index.indrelid AND attribute.attnum = columns.number
JOIN pg_class made ON made.oid = index.indexrelid
JOIN pg_am kind ON kind.oid = made.relam
WHERE index.indrelid = %s::regclass AND index.indpred IS NULL AND kind.amname = 'btree'
GROUP BY 1, 2
"""


@pytest.mark.django_db
def test_every_model_is_as_its_migrations_leave_it() -> None:
    said = StringIO()
    call_command("makemigrations", "--check", "--dry-run", stdout=said)
    assert said.getvalue().startswith("No changes detected")


@pytest.mark.django_db
@pytest.mark.parametrize("table", GROWING)
def test_no_index_of_a_growing_table_begins_another(table: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(COLUMNS, [table])
        indexes = {name: (unique, columns) for name, unique, columns in cursor.fetchall()}
    assert any(unique for unique, _ in indexes.values())
    superfluous = {
        name: other
        for name, (unique, columns) in indexes.items()
        for other, (_, more) in indexes.items()
        if name != other and not unique and more[: len(columns)] == columns
    }
    assert not superfluous
