"""Two installations on one machine, started at once, on the ports that the demo prefers."""

import contextlib
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import redis

from annotation_app.operations.runtime.stack import LOOPBACK, Ports
from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform, temporary_platform

PORTS = ("PILOTHOUSE_BRIDGE_URL", "PILOTHOUSE_SCRIPTED_URL", "PILOTHOUSE_REDIS_URL", "PILOTHOUSE_VNC_PUBLIC_URL")


@pytest.fixture
def taken() -> Iterator[None]:
    """The first choices of the bridge and of Redis are held by another program, if none holds them already."""
    with contextlib.ExitStack() as held:
        for port in (Ports().bridge, Ports().redis):
            server = held.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                server.bind((LOOPBACK, port))
                server.listen()
        yield


def ports_of(platform: TemporaryPlatform) -> list[int | None]:
    addresses = [platform.environment[name].replace("{host}", LOOPBACK) for name in PORTS]
    return [urlsplit(address).port for address in (platform.url, *addresses)]


@pytest.mark.usefixtures("taken")
def test_two_installations_start_at_once_and_share_no_port(tmp_path: Path) -> None:
    with contextlib.ExitStack() as started, ThreadPoolExecutor(max_workers=2) as starting:
        both = [temporary_platform(tmp_path / name, port=None, storage_only=True) for name in ("one", "two")]
        one, two = starting.map(started.enter_context, both)
        ports = [*ports_of(one), *ports_of(two)]
        assert None not in ports
        assert len(set(ports)) == len(ports)
        for platform in (one, two):
            with redis.Redis.from_url(platform.environment["PILOTHOUSE_REDIS_URL"]) as client:
                client.set("json:who", str(platform.data))
        for platform in (one, two):
            with redis.Redis.from_url(platform.environment["PILOTHOUSE_REDIS_URL"]) as client:
                assert client.get("json:who") == str(platform.data).encode()
