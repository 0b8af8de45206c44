"""Models and migrations say the same: whoever brings an installation up to date makes no migration of their own. Tables
that grow with every step keep no index that another makes superfluous."""

from io import StringIO
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ProjectState

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


def test_squashed_migrations_leave_the_models_that_the_replaced_ones_leave() -> None:
    """In the same order of columns too. `test_upgrade` compares what PostgreSQL has."""
    unsquashed = MigrationLoader(None, replace_migrations=False)
    leaves = [key for key in unsquashed.graph.leaf_nodes() if not unsquashed.disk_migrations[key].replaces]
    assert _described(MigrationLoader(None).project_state()) == _described(unsquashed.project_state(leaves))


@pytest.mark.django_db
def test_each_older_state_has_a_plan_that_runs_every_migration_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """An older state: a migration and those that it depends on are applied, or none is."""
    graph = MigrationLoader(None, replace_migrations=False).graph
    squashed = {key for key, migration in graph.nodes.items() if migration.replaces}
    originals = graph.nodes.keys() - squashed
    older = {frozenset(originals.intersection(graph.forwards_plan(key))) for key in originals}
    for applied in [frozenset(), *older]:
        monkeypatch.setattr(MigrationRecorder, "applied_migrations", lambda _, keys=applied: dict.fromkeys(keys))
        executor = MigrationExecutor(connection)
        executor.loader.check_consistent_history(connection)
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
        planned = [key for one, _ in plan for key in one.replaces or [(one.app_label, one.name)]]
        assert sorted(planned) == sorted(originals - applied), applied


@pytest.mark.django_db
def test_the_database_has_each_index_and_constraint_of_each_model() -> None:
    models = [model for model in apps.get_models() if model._meta.managed]
    with connection.cursor() as cursor:
        found = {
            name for model in models for name in connection.introspection.get_constraints(cursor, model._meta.db_table)
        }
    declared = {rule.name for model in models for rule in (*model._meta.indexes, *model._meta.constraints)}
    assert declared <= found, declared - found


def _described(state: ProjectState) -> dict[tuple[str, str], Any]:
    """Each model as plain values; the order of its fields is that of its columns."""
    describe = MigrationAutodetector(state, state).deep_deconstruct
    return {
        key: (list(describe(model.fields).items()), describe(model.options), model.bases)
        for key, model in state.models.items()
    }


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
