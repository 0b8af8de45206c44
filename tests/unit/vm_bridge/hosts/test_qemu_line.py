"""The line to a virtual machine is made again until the machine has noticed who came."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from vm_bridge.errors import MachineGone
from vm_bridge.guest.relay import Ends
from vm_bridge.hosts.qemu_line import Line
from vm_bridge.virtual.channels import Channels
from vm_bridge.virtual.greeting import HERE, HOST


class FakeMachine:
    """Says `first` to each host that comes, in turn, and then is a machine whose guest says its port's name."""

    def __init__(self, *first: bytes) -> None:
        self._first = list(first)
        self.left = asyncio.Event()
        self.heard: list[tuple[float, bytes]] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        said = self._first.pop(0)
        writer.write(said)
        if said == HERE:
            self.heard.append(HOST.unpack(await reader.readexactly(HOST.size)))
            dials = {name: self._dial for name in ("guest", "tunnel", "rfb")}
            await Channels((reader, writer), dials, first=1).run()
        else:
            await reader.read()
        writer.close()
        await writer.wait_closed()
        if not self._first:
            self.left.set()

    async def _dial(self) -> Ends:
        led, seen = socket.socketpair()
        with seen:
            seen.send(b"hello")
        return await asyncio.open_unix_connection(sock=led)


@pytest.fixture(params=[(HERE,), (b"late words of an earlier life", HERE)])
def machine(request: pytest.FixtureRequest) -> FakeMachine:
    return FakeMachine(*request.param)


@pytest_asyncio.fixture
async def line(machine: FakeMachine, tmp_path: Path) -> AsyncIterator[Line]:
    async with await asyncio.start_unix_server(machine.serve, tmp_path / "line.sock"):
        line = Line(tmp_path)
        await line.open()
        yield line
        await line.close()
        await asyncio.wait_for(machine.left.wait(), 20)


async def test_the_machine_is_told_the_time_and_led_to(machine: FakeMachine, line: Line, tmp_path: Path) -> None:
    await line.connect(20)
    reader, writer = await asyncio.open_unix_connection(tmp_path / "guest.sock")
    assert await reader.read() == b"hello"
    [(told, randomness)] = machine.heard
    assert abs(told - time.time()) < 20
    assert len(set(randomness)) > 1
    writer.close()
    await writer.wait_closed()


async def test_behind_a_line_that_is_down_every_door_is_shut(line: Line, tmp_path: Path) -> None:
    await line.connect(20)
    await line.hang_up()
    reader, writer = await asyncio.open_unix_connection(tmp_path / "rfb.sock")
    assert await reader.read() == b""
    writer.close()
    await writer.wait_closed()


async def test_without_a_machine_there_is_no_line(tmp_path: Path) -> None:
    with pytest.raises(MachineGone):
        await Line(tmp_path).connect(5)


async def test_a_qemu_that_is_too_busy_to_take_a_call_is_called_again(tmp_path: Path) -> None:
    machine = FakeMachine(HERE)
    with socket.socket(socket.AF_UNIX) as busy, socket.socket(socket.AF_UNIX) as first:
        busy.bind(str(tmp_path / "line.sock"))
        busy.listen(0)
        first.connect(str(tmp_path / "line.sock"))  # more than one is not kept waiting
        line = Line(tmp_path)
        calling = asyncio.create_task(line.connect(20))
        await asyncio.sleep(0)
        taken, _ = busy.accept()
        taken.close()
        async with await asyncio.start_unix_server(machine.serve, sock=busy):
            await calling
            await line.hang_up()
            await asyncio.wait_for(machine.left.wait(), 20)
    assert machine.heard
