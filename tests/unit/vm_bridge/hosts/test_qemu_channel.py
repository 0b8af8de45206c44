"""The line to a virtual machine is made again until the machine has noticed who came."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
import pytest_asyncio

from vm_bridge.errors import MachineGone
from vm_bridge.guest.common.relay import CHUNK, StreamPair
from vm_bridge.hosts.qemu.channel import VirtualMachineChannel
from vm_bridge.virtual.handshake import guest_handshake
from vm_bridge.virtual.multiplexer import DATA, HEADER, MAX_MESSAGE_BYTES, Multiplexer, ProtocolViolation


class FakeMachine:
    """A machine whose guest says hello. It was doing something with the host of its state: `said` is what it still says
    to that one, `heard` what it had heard of a message by then."""

    def __init__(self, said: bytes = b"", heard: bytes | None = None) -> None:
        self._said, self._before = said, heard
        self.left = asyncio.Event()
        self.heard: list[tuple[float, bytes]] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(self._said)
        dials = {name: self._dial for name in ("guest", "tunnel", "rfb")}
        if self._before is not None:
            early = asyncio.StreamReader(limit=CHUNK)
            early.feed_data(self._before)
            follow = asyncio.create_task(_follow(reader, early))
            reader = early
            with suppress(ProtocolViolation):
                await Multiplexer((reader, writer), dials, first=1).run()
        with suppress(asyncio.IncompleteReadError):
            self.heard.append(await guest_handshake(reader, writer))
            await Multiplexer((reader, writer), dials, first=1).run()
        if self._before is not None:
            await follow
        writer.close()
        with suppress(OSError):  # the host has left before it was told of every end
            await writer.wait_closed()
        self.left.set()

    async def _dial(self) -> StreamPair:
        led, seen = socket.socketpair()
        with seen:
            seen.send(b"hello")
        return await asyncio.open_unix_connection(sock=led)


async def _follow(reader: asyncio.StreamReader, early: asyncio.StreamReader) -> None:
    while data := await reader.read(CHUNK):
        early.feed_data(data)
    early.feed_eof()


@pytest.fixture(
    params=[
        (),
        (b"late words of an earlier life" * 5000,),
        (b"", b""),
        (b"", HEADER.pack(DATA, 2, MAX_MESSAGE_BYTES)[:5]),
        (b"", HEADER.pack(DATA, 2, MAX_MESSAGE_BYTES)),
        (HEADER.pack(DATA, 2, 3)[:7], HEADER.pack(DATA, 2, 700) + b"half of it"),
    ],
    ids=["fresh", "saying", "waiting", "in a header", "in a long message", "in the middle of both"],
)
def machine(request: pytest.FixtureRequest) -> FakeMachine:
    return FakeMachine(*request.param)


@pytest_asyncio.fixture
async def line(machine: FakeMachine, tmp_path: Path) -> AsyncIterator[VirtualMachineChannel]:
    async with await asyncio.start_unix_server(machine.serve, tmp_path / "line.sock"):
        line = VirtualMachineChannel(tmp_path)
        await line.open()
        yield line
        await line.close()
        await asyncio.wait_for(machine.left.wait(), 20)


async def test_the_machine_is_told_the_time_and_led_to(
    machine: FakeMachine, line: VirtualMachineChannel, tmp_path: Path
) -> None:
    await line.connect(20)
    reader, writer = await asyncio.open_unix_connection(tmp_path / "guest.sock")
    assert await reader.read() == b"hello"
    [(told, randomness)] = machine.heard
    assert abs(told - time.time()) < 20
    assert len(set(randomness)) > 1
    writer.close()
    await writer.wait_closed()


async def test_behind_a_line_that_is_down_every_door_is_shut(line: VirtualMachineChannel, tmp_path: Path) -> None:
    await line.connect(20)
    await line.hang_up()
    reader, writer = await asyncio.open_unix_connection(tmp_path / "rfb.sock")
    assert await reader.read() == b""
    writer.close()
    await writer.wait_closed()


async def test_without_a_machine_there_is_no_line(tmp_path: Path) -> None:
    with pytest.raises(MachineGone):
        await VirtualMachineChannel(tmp_path).connect(5)


async def test_a_qemu_that_is_too_busy_to_take_a_call_is_called_again(tmp_path: Path) -> None:
    machine = FakeMachine()
    with socket.socket(socket.AF_UNIX) as busy, socket.socket(socket.AF_UNIX) as first:
        busy.bind(str(tmp_path / "line.sock"))
        busy.listen(0)
        first.connect(str(tmp_path / "line.sock"))  # more than one is not kept waiting
        line = VirtualMachineChannel(tmp_path)
        calling = asyncio.create_task(line.connect(20))
        await asyncio.sleep(0)
        taken, _ = busy.accept()
        taken.close()
        async with await asyncio.start_unix_server(machine.serve, sock=busy):
            await calling
            await line.hang_up()
            await asyncio.wait_for(machine.left.wait(), 20)
    assert machine.heard
