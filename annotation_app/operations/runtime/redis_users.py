"""Redis users: which keys, channels and commands each program of an installation may use.

This file imports the standard library alone: the command in docs/guides/operator/several-hosts.md loads it without the
packages of Pilothouse.
Redis checks the same rules inside Lua scripts.
"""

import hashlib
from collections.abc import Mapping

OPERATOR = "default"
"""May do everything. No program of an installation has its password."""
PLATFORM = "platform"
"""Web processes, workers and beat: jobs (Celery), messages between processes (Channels), the cache."""
BRIDGE = "bridge"
"""Bridges and VNC gateways: only the lease store."""

PLATFORM_KEYS = ("json:*", "celery*", "training*", "*.celery.pidbox*", "_kombu.*", "unacked*")
"""Keys of Django's cache, Celery's queues and kombu, which keeps jobs there until they are done."""
PLATFORM_CHANNELS = (
    "pilothouse__group__*", "pilothousespecific.*",
    "/0.celery.pidbox", "/0.celeryev", "/0.celeryev/*", "/0.celeryev/worker.*",
)  # fmt: skip
"""Channels of Channels' groups and sockets, and of Celery's remote control and events in database 0. Celery subscribes
to patterns, which Redis permits only if the rule contains exactly the same patterns."""
PLATFORM_COMMANDS = ("+@all", "-@admin", "-@dangerous", "+info", "+acl|whoami")

BRIDGE_KEYS = ("pilothouse:fleet:*",)
BRIDGE_CHANNELS = ("pilothouse:fleet:told",)
BRIDGE_COMMANDS = (
    "-@all",
    *(f"+{name}" for name in (
        "acl|whoami", "ping", "evalsha", "script|load", "time", "subscribe", "unsubscribe", "publish",
        "del", "exists", "get", "set", "incr",
        "hdel", "hexists", "hget", "hgetall", "hincrby", "hmget", "hset", "hsetnx",
        "blpop", "lpop", "lpush", "lrange", "ltrim", "rpush",
        "sadd", "scard", "smembers", "srem",
        "zadd", "zcard", "zmscore", "zpopmin", "zrange", "zrangebyscore", "zrank", "zrem", "zscore",
    )),
)  # fmt: skip
"""Commands of the lease store's scripts and readers; `tests/unit/operations/deploy/test_redis_users.py` compares."""


def user_lines(passwords: Mapping[str, str]) -> str:
    """The Redis configuration lines (6.2 or newer) that define the users.

    Args:
        passwords: By user: `OPERATOR`, `PLATFORM` and `BRIDGE`. Only their SHA-256 is written.
    """
    rules = {
        OPERATOR: ("~*", "&*", "+@all"),
        PLATFORM: _acl_rules(PLATFORM_KEYS, PLATFORM_CHANNELS, PLATFORM_COMMANDS),
        BRIDGE: _acl_rules(BRIDGE_KEYS, BRIDGE_CHANNELS, BRIDGE_COMMANDS),
    }
    return "".join(
        f"user {name} reset on #{hashlib.sha256(passwords[name].encode()).hexdigest()} {' '.join(words)}\n"
        for name, words in rules.items()
    )


def _acl_rules(keys: tuple[str, ...], channels: tuple[str, ...], commands: tuple[str, ...]) -> tuple[str, ...]:
    return (*(f"~{key}" for key in keys), *(f"&{channel}" for channel in channels), *commands)
