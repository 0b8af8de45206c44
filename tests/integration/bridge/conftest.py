"""A private Redis, and a bridge over fake machines in the test's own loop."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from redis import Redis as SyncRedis
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisDown

from annotation_app.operations.runtime.redis import find_redis_server
from annotation_app.operations.runtime.redis_users import BRIDGE, OPERATOR, PLATFORM, user_lines
from tests.waiting import eventually, wait_until
from vm_bridge.__main__ import create_bridge_app
from vm_bridge.api.client import BridgeClient
from vm_bridge.config import Config
from vm_bridge.leases import LeaseGuard
from vm_bridge.leases.fleet_overview import FleetOverview
from vm_bridge.leases.guard import RedisScripts
from vm_bridge.leases.inventory import HostInventory
from vm_bridge.leases.store import LeaseStore
from vm_bridge.simulators.fake.sandbox import FakeHost, FakeSandbox

SECRET = "a secret of the tests only"


@pytest.fixture(scope="session")
def private_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The operator's URL of a Redis server of this run's own, on a unix socket, with the users of an installation."""
    folder = tmp_path_factory.mktemp("redis")
    (folder / "redis.conf").write_text(user_lines({name: name for name in (OPERATOR, PLATFORM, BRIDGE)}))
    options = ("--port", "0", "--unixsocket", "socket", "--save", "", "--dir", str(folder))
    command = [str(find_redis_server(folder)), str(folder / "redis.conf"), *options]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(command, cwd=folder, stdout=log)
    url = f"unix://{OPERATOR}:{OPERATOR}@{folder}/socket"
    try:
        wait_until(lambda: _answers(url))
        yield url
    finally:
        server.terminate()
        server.wait(10)


def _answers(url: str) -> bool:
    try:
        with SyncRedis.from_url(url) as redis:
            return bool(redis.ping())
    except RedisDown:
        return False


@pytest.fixture
def bridge_redis(private_redis: str) -> str:
    """The bridge's own URL of that server, emptied."""
    with SyncRedis.from_url(private_redis) as redis:
        redis.flushall()
    return as_user(private_redis, BRIDGE)


def as_user(url: str, user: str) -> str:
    """The same server's URL for another of its users."""
    return url.replace(f"{OPERATOR}:{OPERATOR}@", f"{user}:{user}@")


@pytest.fixture
async def redis(bridge_redis: str) -> AsyncIterator[Redis]:
    """A connection to it, as the bridge's user."""
    async with Redis.from_url(bridge_redis, decode_responses=True, driver_info=None) as redis:
        yield redis


@pytest.fixture
async def operator(bridge_redis: str, private_redis: str) -> AsyncIterator[Redis]:
    """A connection that may do everything, for tests that change what the bridge may not."""
    async with Redis.from_url(private_redis, decode_responses=True) as redis:
        yield redis


@pytest.fixture
def lease_guard(redis: Redis) -> LeaseGuard:
    """Who may act and watch, asked directly."""
    return LeaseGuard(redis)


@dataclass(frozen=True, slots=True)
class RunningBridge:
    """A bridge that serves, and the fake machines behind it."""

    url: str
    host: FakeHost
    config: Config


@pytest.fixture
def fake_host() -> FakeHost:
    """The machines of the bridge under test."""
    return FakeHost(capacity=3)


@pytest.fixture
def bridge_settings() -> dict[str, Any]:
    """What a test module wants of its bridge beside the defaults."""
    return {}


@pytest.fixture
async def bridge(
    bridge_redis: str, fake_host: FakeHost, tmp_path: Path, bridge_settings: dict[str, Any]
) -> AsyncIterator[RunningBridge]:
    """A bridge over `fake_host`, on a free port."""
    server = uvicorn.Server(
        uvicorn.Config(
            "unset", port=0, ws="websockets-sansio", log_config=None, access_log=False, timeout_graceful_shutdown=1
        )
    )
    listener = server.config.bind_socket()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    settings = {"web_origins": (url,), "max_machines": 3, "data": tmp_path, **bridge_settings}
    config = Config(secret=SECRET, redis_url=bridge_redis, bridge_url=url, **settings)
    server.config.app = create_bridge_app(config, fake_host)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    await eventually(lambda: server.started or serving.done())
    yield RunningBridge(url, fake_host, config)
    server.should_exit = True
    await serving
    listener.close()


@pytest.fixture
async def client(bridge: RunningBridge) -> AsyncIterator[BridgeClient]:
    """A client that knows the secret."""
    async with BridgeClient(bridge.url, SECRET) as client:
        yield client


@dataclass(frozen=True, slots=True)
class FakeInventory:
    """A host without a pool: the test itself puts machines on the shelf and hears what is to be done."""

    inventory: HostInventory

    async def put(self, *names: str, image: str = "desktop") -> None:
        """Make machines free."""
        for name in names:
            await self.inventory.add_free_machine(FakeSandbox(image, name=name), above=0)

    async def work(self) -> list[tuple[str, str]]:
        """What the host is to do now."""
        return [(work.verb, work.name) for work in await self.inventory.work(0.05)]


@pytest.fixture
async def fake_inventory(redis: Redis) -> FakeInventory:
    """A host of two images, with no machine yet."""
    fake_inventory = FakeInventory(HostInventory(redis, RedisScripts(redis), "host-1", "http://host-1"))
    await fake_inventory.inventory.register(images=("desktop", "phone"), capacity=10)
    return fake_inventory


@pytest.fixture
def leases(redis: Redis) -> LeaseStore:
    """The ledger of leases, asked directly."""
    return LeaseStore(redis)


@pytest.fixture
def overview(redis: Redis) -> FleetOverview:
    """What an operator reads, asked directly."""
    return FleetOverview(redis)
