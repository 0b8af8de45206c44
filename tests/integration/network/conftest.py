"""A small internet on an address of its own, secrets of the host on every other, and sandboxes between them."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from protocol.actions.types import RunCommand
from protocol.trajectory.tasks import Task
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.machine import Machine
from vm_bridge.network.addresses import is_public
from vm_bridge.network.egress_proxy import EgressProxy
from vm_bridge.sandbox import Sandbox

OUTSIDE = "127.0.0.2"
"""What these tests call public; every other address is judged as it is everywhere."""
SECRET = "a secret of the host"
numbers = count(1)


@dataclass
class Internet:
    """A web server that answers what it was asked, on `OUTSIDE`, and names that lead there or elsewhere."""

    port: int = 0
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    fickle: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    """Names that lead elsewhere every time."""
    asked: list[bytes] = field(default_factory=list)

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """As its names say; an address means itself, and other names are resolved by this machine."""
        if host in self.fickle:
            return self.fickle[host].pop(0)
        if host in self.names:
            return self.names[host]
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return [str(address[0]) for *_, address in found]


async def answering(asked: list[bytes], body: Callable[[bytes], bytes], host: str) -> asyncio.Server:
    """A web server that notes the head of every request; `body` may make a whole response."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            asked.append(head)
            content = body(head)
            if not content.startswith(b"HTTP/"):
                content = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(content), content)
            writer.write(content)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    return await asyncio.start_server(answer, host, 0)


def port_of(server: asyncio.Server) -> int:
    """Where it listens."""
    port: int = server.sockets[0].getsockname()[1]
    return port


@pytest.fixture
async def internet() -> AsyncIterator[Internet]:
    world = Internet(names={"allowed.example": (OUTSIDE,), "other.example": (OUTSIDE,)})

    def body(head: bytes) -> bytes:
        if head.startswith(b"GET /to-the-host "):
            return (
                b"HTTP/1.1 302 Found\r\nLocation: http://inside.example:%d/\r\nContent-Length: 0\r\n\r\n" % world.port
            )
        return b"hello from outside"

    server = await answering(world.asked, body, OUTSIDE)
    world.port = port_of(server)
    yield world
    server.close()
    await server.wait_closed()


@pytest.fixture
async def host_secret() -> AsyncIterator[int]:
    """The port of a server of the host, on all of its addresses but that of the internet."""
    server = await answering([], lambda _: SECRET.encode(), "0.0.0.0")
    yield port_of(server)
    server.close()
    await server.wait_closed()


def public_here(address: str) -> bool:
    return address == OUTSIDE or is_public(address)


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where images are prepared, once for all tests."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture
async def sandbox(internet: Internet, data: Path) -> AsyncIterator[Sandbox]:
    host = LocalHost(data, make_egress=partial(EgressProxy, resolver=internet.resolve, public=public_here))
    yield await host.create("desktop")
    await host.close()


@pytest.fixture
def machine(sandbox: Sandbox) -> Machine:
    return sandbox.bind(1)


Run = Callable[[str], Awaitable[str]]


@pytest.fixture
def run(machine: Machine) -> Run:
    """Runs a command inside; what it printed."""

    async def run(command: str) -> str:
        done = await machine.perform(f"command-{next(numbers)}", RunCommand(command=command, timeout=60), settle=False)
        assert done.error is None, done.error
        return done.after.text or ""

    return run


def task(*network: str) -> Task:
    """A task that may reach these."""
    return Task(id="task", instruction="Look around.", network=network)
