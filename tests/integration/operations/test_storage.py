"""Private PostgreSQL and Redis servers: they keep their data, and the system's own are left alone."""

import asyncio
import contextlib
import io
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis.exceptions
from redis.asyncio import Redis as Client

from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError, StartFailed
from annotation_app.operations.runtime.platform_info import PLATFORM_FILE, PlatformInfo, read_platform_info
from annotation_app.operations.runtime.ports import free_port
from annotation_app.operations.runtime.postgres import Postgres
from annotation_app.operations.runtime.redis import Redis
from annotation_app.operations.runtime.supervisor import Supervisor
from annotation_app.operations.runtime.temporary_platform import temporary_platform

BOUND = 20.0


@pytest.fixture
def postgres(tmp_path: Path) -> Postgres:
    return Postgres(tmp_path / "postgres")


@pytest.fixture
def redis_server(tmp_path: Path) -> Redis:
    return Redis(tmp_path / "redis", free_port(), "the-password")


async def test_postgres_keeps_its_data_over_a_second_start(postgres: Postgres, tmp_path: Path) -> None:
    postgres.create()
    async with Supervisor(tmp_path, Console(io.StringIO())) as supervisor:
        await supervisor.start(postgres.program())
        with psycopg.connect(postgres.url) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 'żółw' AS word")
    postgres.create()
    async with Supervisor(tmp_path, Console(io.StringIO())) as supervisor:
        await supervisor.start(postgres.program())
        with psycopg.connect(postgres.url) as connection:
            assert connection.execute("SELECT word FROM kept").fetchone() == ("żółw",)


async def test_postgres_survives_being_killed(postgres: Postgres, tmp_path: Path) -> None:
    postgres.create()
    async with Supervisor(tmp_path, Console(io.StringIO())) as supervisor:
        await supervisor.start(postgres.program())
        with psycopg.connect(postgres.url) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 1 AS one")
        os.kill(int((tmp_path / "run" / "postgres.pid").read_text()), signal.SIGKILL)
        async with asyncio.timeout(BOUND):
            while True:
                try:
                    with psycopg.connect(postgres.url) as connection:
                        assert connection.execute("SELECT one FROM kept").fetchone() == (1,)
                        break
                except psycopg.OperationalError:
                    await asyncio.sleep(0.05)


async def test_postgres_listens_on_no_port_and_only_its_owner_reaches_it(postgres: Postgres, tmp_path: Path) -> None:
    postgres.create()
    assert stat.S_IMODE(postgres.folder.stat().st_mode) == 0o700
    async with Supervisor(tmp_path, Console(io.StringIO())) as supervisor:
        await supervisor.start(postgres.program())
        with psycopg.connect(postgres.url) as connection:
            assert connection.execute("SHOW listen_addresses").fetchone() == ("",)


def test_half_an_initdb_is_begun_again(postgres: Postgres) -> None:
    (postgres.folder / "data" / "base").mkdir(parents=True)
    postgres.create()
    assert (postgres.folder / "data" / "PG_VERSION").exists()
    assert (postgres.folder / "created").exists()


def test_data_of_a_version_that_is_gone_is_left_alone(postgres: Postgres) -> None:
    (postgres.folder / "data").mkdir(parents=True)
    (postgres.folder / "data" / "PG_VERSION").write_text("9\n")
    with pytest.raises(OperationsError, match="written by PostgreSQL 9, which is not installed") as failure:
        postgres.program()
    assert "postgresql-9" in failure.value.hint


def test_a_socket_path_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OperationsError, match="too long"):
        Postgres(tmp_path / ("x" * 100))


@pytest.mark.skipif(os.geteuid() != 0, reason="missing capability: root, whose folders another user cannot reach")
async def test_postgres_works_in_a_home_that_its_own_user_cannot_enter(postgres: Postgres, tmp_path: Path) -> None:
    os.chmod(tmp_path, 0o700)
    postgres.create()
    async with Supervisor(tmp_path, Console(io.StringIO())) as supervisor:
        await supervisor.start(postgres.program())
        with psycopg.connect(postgres.url) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)


async def test_postgres_starts_though_another_server_has_the_number_of_its_killed_one(
    postgres: Postgres, tmp_path: Path
) -> None:
    postgres.create()
    another = Postgres(tmp_path / "another")
    another.create()
    async with Supervisor(tmp_path, Console(io.StringIO())) as supervisor:
        await supervisor.start(another.program())
        shutil.copy(another.folder / "data" / "postmaster.pid", postgres.folder / "data")
        postgres.create()
        async with Supervisor(tmp_path / "beside", Console(io.StringIO())) as beside:
            await beside.start(postgres.program())
            with psycopg.connect(postgres.url) as connection:
                assert connection.execute("SELECT 1").fetchone() == (1,)


async def test_a_server_that_runs_is_never_cleared_away(postgres: Postgres, tmp_path: Path) -> None:
    postgres.create()
    async with Supervisor(tmp_path, Console(io.StringIO())) as supervisor:
        await supervisor.start(postgres.program())
        postgres.create()
        assert (postgres.folder / "data" / "postmaster.pid").exists()


async def test_redis_asks_for_its_password(redis_server: Redis, tmp_path: Path) -> None:
    redis_server.create()
    async with Supervisor(tmp_path, Console(io.StringIO())) as supervisor:
        await supervisor.start(redis_server.program())
        async with Client.from_url(redis_server.url) as client:
            assert await client.ping()
        async with Client(port=redis_server.port) as stranger:
            with pytest.raises(redis.exceptions.AuthenticationError):
                await stranger.ping()
    assert stat.S_IMODE(redis_server.folder.stat().st_mode) == 0o700


async def test_redis_loses_nothing_when_it_is_killed(redis_server: Redis, tmp_path: Path) -> None:
    redis_server.create()
    async with Supervisor(tmp_path, Console(io.StringIO())) as supervisor:
        await supervisor.start(redis_server.program())
        async with Client.from_url(redis_server.url) as client:
            await client.set("lease", "held")
            first = (await client.info("server"))["process_id"]
            os.kill(first, signal.SIGKILL)

            async def again() -> Any:
                while True:
                    with contextlib.suppress(redis.exceptions.RedisError, OSError):
                        if (await client.info("server"))["process_id"] != first:
                            return await client.get("lease")
                    await asyncio.sleep(0.05)

            assert await asyncio.wait_for(again(), BOUND) == b"held"


async def test_redis_says_why_it_cannot_start(redis_server: Redis, tmp_path: Path) -> None:
    redis_server.create()
    async with Supervisor(tmp_path, Console(io.StringIO())) as supervisor:
        await supervisor.start(redis_server.program())
        second = Redis(tmp_path / "second", redis_server.port, "other")
        second.create()
        with pytest.raises(StartFailed, match="redis ended before it was ready") as failure:
            await supervisor.start(second.program())
    assert "in use" in failure.value.hint


def test_a_second_run_on_the_same_folder_is_refused(tmp_path: Path) -> None:
    with temporary_platform(tmp_path, storage_only=True) as first:
        command = [sys.executable, "-m", "annotation_app.operations", "serve", "--data", str(tmp_path), "--port", "0"]
        second = subprocess.run(command, capture_output=True, text=True, timeout=BOUND, check=False)
        assert second.returncode == 1
        assert f"It is already running on {tmp_path} (process {first.supervisor})" in second.stdout
        with psycopg.connect(first.environment["PILOTHOUSE_DATABASE_URL"]) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)


def test_what_names_a_running_platform_is_private_and_goes_with_it(tmp_path: Path) -> None:
    note = tmp_path / "run" / "platform.json"
    with temporary_platform(tmp_path, storage_only=True):
        assert stat.S_IMODE(note.stat().st_mode) == 0o600
    assert not note.exists()


def test_a_platform_comes_up_after_one_that_was_killed_and_is_not_taken_for_it(tmp_path: Path) -> None:
    with temporary_platform(tmp_path, storage_only=True) as first:
        os.kill(first.supervisor, signal.SIGKILL)
    assert (tmp_path / PLATFORM_FILE).exists()
    assert read_platform_info(tmp_path) is None
    with temporary_platform(tmp_path, storage_only=True) as second:
        assert read_platform_info(tmp_path) == PlatformInfo(second.url, second.environment, second.supervisor)
        with psycopg.connect(second.environment["PILOTHOUSE_DATABASE_URL"]) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
