"""What the pool and the streams rely on of every sandbox, whatever makes it."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from protocol.actions.types import RunCommand
from tests.integration.kubernetes.machines import MARKS as PODS
from tests.integration.kubernetes.machines import pod_host
from tests.integration.network.conftest import answering, port_of
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.sandbox import Host, Sandbox
from vm_bridge.simulators.fake.sandbox import FakeHost, FakeSandbox

PORT = 5000
commands = (f"command-{number:04}" for number in itertools.count())
Serve = Callable[[Sandbox], Awaitable[None]]


@pytest_asyncio.fixture(params=["fake", "local", pytest.param("pods", marks=PODS)])
async def sandbox(request: pytest.FixtureRequest, tmp_path: Path, data: Path) -> AsyncIterator[Sandbox]:
    host: Host
    match request.param:
        case "fake":
            host = FakeHost()
        case "pods":
            host = pod_host(data, request.getfixturevalue("pod_cluster"))
        case _:
            host = LocalHost(tmp_path)
    yield await host.create(host.images[0] if request.param == "pods" else "desktop")
    await host.close()


@pytest_asyncio.fixture
async def serve() -> AsyncIterator[Serve]:
    """Lets a web server listen on a sandbox's loopback; a painted one has that of the tests."""
    ours = await answering([], lambda _: b"hello", "127.0.0.1")

    async def serve(sandbox: Sandbox) -> None:
        if isinstance(sandbox, FakeSandbox):
            sandbox.ports[PORT] = port_of(ours)
            return
        listening = f"until (: < /dev/tcp/127.0.0.1/{PORT}) 2>/dev/null; do sleep 0.1; done"
        command = (
            f"echo hello > index.html; python3 -m http.server {PORT} >/dev/null 2>&1 & timeout 20 bash -c '{listening}'"
        )
        done = await sandbox.bind(1).perform(next(commands), RunCommand(command=command), settle=False)
        assert done.error is None

    yield serve
    ours.close()


async def fetch_page(sandbox: Sandbox) -> bytes:
    reader, writer = await asyncio.open_connection(sock=await sandbox.dial(PORT))
    writer.write(b"GET / HTTP/1.0\r\nHost: a\r\n\r\n")
    answer = await reader.read()
    writer.close()
    return answer


async def test_a_port_of_its_loopback_is_reached(sandbox: Sandbox, serve: Serve) -> None:
    await serve(sandbox)
    assert b"hello" in await fetch_page(sandbox)


async def test_a_port_nobody_listens_on_is_refused(sandbox: Sandbox) -> None:
    with pytest.raises(ConnectionRefusedError):
        await sandbox.dial(PORT)


async def test_nothing_listens_after_a_reset_and_nothing_at_all_at_the_end(sandbox: Sandbox, serve: Serve) -> None:
    await serve(sandbox)
    await sandbox.reset()
    with pytest.raises(ConnectionRefusedError):
        await sandbox.dial(PORT)
    await sandbox.destroy()
    with pytest.raises(OSError):
        await sandbox.dial(PORT)
