"""Redis takes the users that `docker/keys.py` writes, also beside the configuration of an earlier version."""

import runpy
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import NoPermissionError, RedisError

from annotation_app.operations.runtime.ports import free_port
from annotation_app.operations.runtime.redis import find_redis_server
from annotation_app.operations.runtime.stack import ROOT
from tests.waiting import wait_until
from vm_bridge.leases.guard import KEY_PREFIX

secrets_make = runpy.run_path(str(ROOT / "docker" / "keys.py"))["secrets_make"]


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    secrets_make(tmp_path / "secrets", "pilothouse.test")
    return tmp_path / "secrets"


@pytest.fixture
def port(secrets: Path, tmp_path: Path) -> Iterator[int]:
    """Of a Redis that is started as the compose file starts it."""
    port, folder = free_port(), tmp_path / "redis"
    folder.mkdir()
    configuration = tmp_path / "redis.conf"
    configuration.write_text((secrets / "redis_config").read_text().replace("dir /data", f"dir {folder}"))
    words = (configuration, "--aclfile", secrets / "redis_users", "--port", str(port), "--bind", "127.0.0.1")
    server = subprocess.Popen([find_redis_server(tmp_path), *words], stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: answers(secrets, port))
        yield port
    finally:
        server.terminate()
        server.wait(timeout=30)


def answers(secrets: Path, port: int) -> bool:
    try:
        with Redis(port=port, password=(secrets / "redis_password").read_text()) as operator:
            return bool(operator.ping())
    except RedisError:
        return False


def test_each_side_has_its_own_keys_alone(secrets: Path, port: int) -> None:
    def user(name: str) -> Redis:
        url = (secrets / f"redis_url_{name}").read_text().replace("redis:6379", f"127.0.0.1:{port}")
        return Redis.from_url(url, driver_info=None)

    with user("platform") as platform, user("bridge") as bridge:
        assert (platform.acl_whoami(), bridge.acl_whoami()) == ("platform", "bridge")
        platform.set("json:1:one", "1")
        bridge.set(f"{KEY_PREFIX}one", "1")
        for redis, key in ((platform, f"{KEY_PREFIX}one"), (bridge, "json:1:one"), (bridge, "celery")):
            with pytest.raises(NoPermissionError):
                redis.get(key)
    with Redis(port=port) as stranger, pytest.raises(RedisError):
        stranger.ping()
