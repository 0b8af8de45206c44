"""What Redis users may do is what their programs call, and nothing that reaches the other's."""

import fnmatch
import re
from typing import Any

import pytest

from annotation_app.operations.runtime.redis_users import (
    BRIDGE,
    BRIDGE_CHANNELS,
    BRIDGE_COMMANDS,
    BRIDGE_KEYS,
    OPERATOR,
    PLATFORM,
    PLATFORM_CHANNELS,
    PLATFORM_KEYS,
    user_lines,
)
from annotation_app.queues import DEFAULT_QUEUE, TRAINING_QUEUE
from annotation_app.settings.base import CACHES, CHANNEL_LAYERS
from vm_bridge.leases.guard import KEY_PREFIX, LUA

PASSWORDS = {name: f"the password of {name}" for name in (OPERATOR, PLATFORM, BRIDGE)}


def allowed(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def test_the_bridge_may_call_what_its_scripts_call() -> None:
    called = {name for path in LUA.glob("*.lua") for name in re.findall(r"redis\.call\('(\w+)'", path.read_text())}
    assert len(called) > 20
    assert {f"+{name.lower()}" for name in called} <= set(BRIDGE_COMMANDS)


def test_the_lease_store_and_the_rest_share_no_key_and_no_channel() -> None:
    assert allowed(f"{KEY_PREFIX}machine:one", BRIDGE_KEYS)
    assert allowed(f"{KEY_PREFIX}told", BRIDGE_CHANNELS)
    assert not allowed(f"{KEY_PREFIX}machine:one", PLATFORM_KEYS)
    assert not allowed(f"{KEY_PREFIX}told", PLATFORM_CHANNELS)


def test_the_platform_reaches_its_queues_cache_and_channels() -> None:
    caches: dict[str, Any] = CACHES
    layers: dict[str, Any] = CHANNEL_LAYERS
    cache, layer = caches["default"]["KEY_PREFIX"], layers["default"]["CONFIG"]["prefix"]
    for key in (
        DEFAULT_QUEUE,
        TRAINING_QUEUE,
        f"{DEFAULT_QUEUE}\x06\x163",
        f"{cache}:1:health",
        "_kombu.binding.celery",
        "unacked",
    ):
        assert allowed(key, PLATFORM_KEYS), key
        assert not allowed(key, BRIDGE_KEYS), key
    for channel in (f"{layer}__group__episode", f"{layer}specific.0af", "/0.celery.pidbox", "/0.celeryev/worker"):
        assert allowed(channel, PLATFORM_CHANNELS), channel
        assert not allowed(channel, BRIDGE_CHANNELS), channel


@pytest.mark.parametrize("name", PASSWORDS)
def test_no_password_is_in_the_configuration(name: str) -> None:
    assert f"user {name} reset on #" in user_lines(PASSWORDS)
    assert PASSWORDS[name] not in user_lines(PASSWORDS)
