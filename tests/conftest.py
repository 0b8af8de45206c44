"""Real servers for tests that ask for them: started once a run, on free ports, in a temporary folder.

`PILOTHOUSE_DATABASE_URL` and `PILOTHOUSE_REDIS_URL`, where set, name servers to use instead.
"""

import os
from collections.abc import Iterator

import pytest

from annotation_app.operations.running import Running, running

GIVEN = ("PILOTHOUSE_DATABASE_URL", "PILOTHOUSE_REDIS_URL")


PLATFORM_SECONDS = 300
"""The first test of the whole platform waits for its start."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of the whole platform share one: run in parallel, one worker has them all; xdist must hear of it first."""
    for item in items:
        if "platform" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("platform"))
            item.add_marker(pytest.mark.timeout(PLATFORM_SECONDS))


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment variables that name a PostgreSQL and a Redis server."""
    if all(name in os.environ for name in GIVEN):
        yield {name: os.environ[name] for name in GIVEN}
        return
    with running(tmp_path_factory.mktemp("servers"), storage_only=True) as storage:
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
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The whole platform, with the demo's users, pools and tasks."""
    with running(tmp_path_factory.mktemp("platform")) as whole:
        yield whole
