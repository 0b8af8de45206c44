"""A bridge's Redis user can use the lease store, and nothing else of the installation."""

from collections.abc import Iterator
from typing import Any

import pytest
from redis import Redis
from redis.exceptions import AuthenticationError, NoPermissionError, ResponseError

from annotation_app.operations.runtime.redis_users import BRIDGE, OPERATOR, PLATFORM
from tests.integration.bridge.conftest import as_user
from vm_bridge.leases.guard import KEY_PREFIX

OTHERS = ("json:1:session", "celery", "unacked", "_kombu.binding.celery", "anything")


@pytest.fixture
def bridge_user(bridge_redis: str) -> Iterator[Redis]:
    with Redis.from_url(bridge_redis, driver_info=None) as redis:
        yield redis


@pytest.fixture
def platform_user(bridge_redis: str, private_redis: str) -> Iterator[Redis]:
    with Redis.from_url(as_user(private_redis, PLATFORM)) as redis:
        yield redis


def assert_denied(redis: Redis, *words: str) -> None:
    call: Any = redis.execute_command
    with pytest.raises(NoPermissionError):
        call(*words)


@pytest.mark.parametrize("key", OTHERS)
def test_a_bridge_reads_and_writes_no_key_of_others(bridge_user: Redis, key: str) -> None:
    for words in (("GET", key), ("SET", key, "x"), ("LPUSH", key, "job"), ("DEL", key), ("HGETALL", key)):
        assert_denied(bridge_user, *words)


def test_a_bridges_scripts_reach_no_key_of_others(bridge_user: Redis) -> None:
    digest = bridge_user.script_load("return redis.call('LPUSH', 'celery', ARGV[1])")
    with pytest.raises(ResponseError, match="can't access at least one of the keys"):
        bridge_user.evalsha(digest, 0, "job")


@pytest.mark.parametrize(
    "words",
    [
        ("CONFIG", "GET", "*"), ("CONFIG", "SET", "dir", "/tmp"), ("KEYS", "*"), ("SCAN", "0"), ("FLUSHALL",),
        ("EVAL", "return 1", "0"), ("SCRIPT", "FLUSH"), ("ACL", "LIST"), ("ACL", "SETUSER", BRIDGE, "+@all"),
        ("CLIENT", "LIST"), ("MONITOR",), ("SHUTDOWN",), ("SAVE",), ("INFO",), ("DBSIZE",),
        ("MODULE", "LIST"), ("REPLICAOF", "NO", "ONE"), ("RENAME", f"{KEY_PREFIX}a", f"{KEY_PREFIX}b"), ("SELECT", "1"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_bridge_calls_nothing_that_an_operator_calls(bridge_user: Redis, words: tuple[str, ...]) -> None:
    assert_denied(bridge_user, *words)


def test_a_bridge_hears_and_says_nothing_on_others_channels(bridge_user: Redis) -> None:
    for channel in ("pilothouse__group__episode", "/0.celery.pidbox"):
        with pytest.raises(NoPermissionError):
            bridge_user.publish(channel, "x")
        assert_denied(bridge_user, "SUBSCRIBE", channel)
    assert_denied(bridge_user, "PSUBSCRIBE", "*")


def test_the_platform_cannot_change_leases(platform_user: Redis) -> None:
    platform_user.lpush("celery", "job")
    platform_user.set("json:1:one", "1")
    for words in (("SET", f"{KEY_PREFIX}tokens", "x"), ("KEYS", "*"), ("CONFIG", "GET", "*"), ("FLUSHALL",)):
        assert_denied(platform_user, *words)
    assert "used_memory" in platform_user.info("memory"), "the page Health asks for it"


def test_a_password_is_of_one_user(private_redis: str) -> None:
    for user in (OPERATOR, PLATFORM):
        with (
            Redis.from_url(private_redis.replace(f"{OPERATOR}:{OPERATOR}@", f"{user}:{BRIDGE}@")) as redis,
            pytest.raises(AuthenticationError),
        ):
            redis.ping()
