"""Real servers for tests that ask for them: started once a run, on free ports, in a temporary folder.

`PILOTHOUSE_DATABASE_URL` and `PILOTHOUSE_REDIS_URL`, where set, name servers to use instead.
"""

import protocol.program_start  # noqa: F401 - first, for what the others load

# isort: split

import gc
import os
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest
from pytest_timeout import Settings

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform, temporary_platform
from annotation_app.operations.testing.results import RERUN_PROPERTY
from tests.mailbox import Mailbox, open_mailbox

if TYPE_CHECKING:
    from django.test import TransactionTestCase

GIVEN = ("PILOTHOUSE_DATABASE_URL", "PILOTHOUSE_REDIS_URL")


PLATFORM_SECONDS = 300
LONGEST_BYTES_IN_AN_ID = 40
COLLECTION_THRESHOLDS = (20_000, 20, 20)
"""New objects, young collections and middle ones before the next collection of garbage. Python's own are for programs
of fewer objects: a process that has collected all tests has 800,000."""
FAILED = pytest.StashKey[str]()
"""Why a test failed."""
LASTING = frozenset({"django_migrations", "django_content_type", "auth_permission", "django_site"})
"""Tables that are filled by migrating and that no test writes to."""
TABLES_WITH_PAGES = """
    SELECT relname FROM pg_class
    WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND pg_relation_size(oid) > 0
"""
"""Those that may have rows. To look into all tables, most of which no test has written to, takes 15 ms to plan."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage meanwhile: nearly all that is made by importing and collecting lives until the run ends."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Never look through what was collected again, and collect garbage less often."""
    gc.freeze()
    gc.set_threshold(*COLLECTION_THRESHOLDS)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish() -> None:
    """Hypothesis, imported for the summary at the latest, looks for what refers to a generator."""
    gc.unfreeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The first test of the whole platform waits for its start. A test may say itself how long it has."""
    for item in items:
        if "platform" in getattr(item, "fixturenames", ()) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(PLATFORM_SECONDS))


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name a file's bytes after its parameter.

    Files may hold the time at which they are made, and every worker has to collect tests of the same names.
    """
    return argname if isinstance(val, bytes) and len(val) > LONGEST_BYTES_IN_AN_ID else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: "pytest.CallInfo[None]"
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep why a test failed, should it run once more."""
    report = yield
    if report.failed:
        item.stash[FAILED] = f"{call.excinfo.typename}: {call.excinfo.value}" if call.excinfo else report.longreprtext
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """A second run is noted in the report with the reason of the first one, and has the whole time again."""
    if getattr(item, "execution_count", 1) == 1:
        return
    item.user_properties.append((RERUN_PROPERTY, item.stash.get(FAILED, "")))
    marker = item.get_closest_marker("timeout")
    seconds = float(marker.args[0] if marker else item.config.getini("timeout"))
    item.config.hook.pytest_timeout_cancel_timer(item=item)
    item.config.hook.pytest_timeout_set_timer(item=item, settings=Settings(seconds, "signal", False, False))


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment variables that name a PostgreSQL and a Redis server."""
    if all(name in os.environ for name in GIVEN):
        yield {name: os.environ[name] for name in GIVEN}
        return
    with temporary_platform(tmp_path_factory.mktemp("servers"), storage_only=True) as storage:
        yield {name: storage.environment[name] for name in GIVEN}


@pytest.fixture(scope="session")
def database_url(servers: dict[str, str]) -> str:
    """An empty PostgreSQL database."""
    return servers["PILOTHOUSE_DATABASE_URL"]


@pytest.fixture(scope="session")
def redis_url(servers: dict[str, str]) -> str:
    """A Redis database, shared by all tests of a run: use keys of your own."""
    return servers["PILOTHOUSE_REDIS_URL"]


@pytest.fixture(scope="session")
def django_db_modify_db_settings(database_url: str, django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Put Django's test database on that server (pytest-django's own seam for it)."""
    from django.db import connections

    from annotation_app.settings.env import database_settings

    connections["default"].settings_dict.update(database_settings(database_url))


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """A database on our own server goes with it: nothing to clean up."""
    return "PILOTHOUSE_DATABASE_URL" not in os.environ


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> None:
    """Tests that commit leave an empty database behind in a tenth of the time that Django's way takes.

    It needs a superuser, which our own server's role is: rows that are never changed are deleted too.
    """
    from django.test import TransactionTestCase

    if not any(name in os.environ for name in GIVEN):
        TransactionTestCase._fixture_teardown = _empty  # type: ignore[attr-defined]


def _empty(case: "TransactionTestCase") -> None:
    """Delete what is there. Django truncates every table and fills the lasting ones anew, which takes a second.

    As a replica it asks no trigger: neither those that refuse nor those that look after references.
    """
    from django.db import connection, transaction

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(TABLES_WITH_PAGES)
        tables = {table for (table,) in cursor.fetchall()} - LASTING
        names = {table: connection.ops.quote_name(table) for table in sorted(tables)}
        filled = [f"SELECT '{table}' WHERE EXISTS (SELECT FROM {name})" for table, name in names.items()]
        if filled:
            cursor.execute(" UNION ALL ".join(filled))
            for (table,) in cursor.fetchall():
                cursor.execute(f"DELETE FROM {names[table]}")


@pytest.fixture(scope="session")
def mailbox() -> Iterator[Mailbox]:
    """What the platform sent by mail."""
    with open_mailbox() as opened:
        yield opened


@pytest.fixture(scope="session")
def platform(tmp_path_factory: pytest.TempPathFactory, mailbox: Mailbox) -> Iterator[TemporaryPlatform]:
    """The whole platform, with the demo's users, pools and tasks."""
    variables = {"PILOTHOUSE_EMAIL_URL": mailbox.url}
    with temporary_platform(tmp_path_factory.mktemp("platform"), variables=variables) as whole:
        yield whole
