"""Connections that were open when Redis was killed are opened again before they are used."""

import asyncio
import subprocess
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from channels_redis.pubsub import RedisPubSubChannelLayer
from redis import Redis as SyncRedis
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisDown

from annotation_app.operations.runtime.ports import free_ports
from annotation_app.operations.runtime.redis import find_redis_server
from annotation_app.settings.base import CHANNEL_LAYERS
from tests.waiting import wait_until
from vm_bridge.__main__ import connect_redis
from vm_bridge.config import Config

CONNECTIONS = 6


class RedisServer:
    """A server of this test's own, over TCP as in an installation."""

    def __init__(self, folder: Path) -> None:
        (self._port,) = free_ports(1)
        self._folder = folder
        self.url = f"redis://127.0.0.1:{self._port}"
        self._process = self._start()

    def _start(self) -> "subprocess.Popen[bytes]":
        command = (str(find_redis_server(self._folder)), "--port", str(self._port), "--save", "")
        process = subprocess.Popen((*command, "--dir", str(self._folder)), stdout=subprocess.DEVNULL)
        wait_until(self._answers)
        return process

    def _answers(self) -> bool:
        try:
            with SyncRedis.from_url(self.url) as redis:
                return bool(redis.ping())
        except RedisDown:
            return False

    def restart(self) -> None:
        """Kill it and start it again."""
        self.kill()
        self._process = self._start()

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.wait()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path)
    yield server
    server.kill()


async def test_the_bridge_s_calls_go_on_over_every_connection(server: RedisServer) -> None:
    async with connect_redis(cast(Config, SimpleNamespace(redis_url=server.url))) as bridge:
        assert await _use_at_once(bridge) == CONNECTIONS
        await asyncio.to_thread(server.restart)
        assert await _use_at_once(bridge) == CONNECTIONS


async def test_events_are_published_at_the_first_try(server: RedisServer) -> None:
    layers: dict[str, Any] = CHANNEL_LAYERS
    (host,) = layers["default"]["CONFIG"]["hosts"]
    layer = RedisPubSubChannelLayer(hosts=[{**host, "address": server.url}])
    try:
        await layer.group_send("room", {"type": "first"})
        await asyncio.to_thread(server.restart)
        await layer.group_send("room", {"type": "second"})
    finally:
        await layer.flush()


async def _use_at_once(redis: Redis) -> int:
    """How many connections answered while all of them were in use."""
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(redis.client()) for _ in range(CONNECTIONS)]
        return len({int(await client.client_id()) for client in clients})
