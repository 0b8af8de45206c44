"""Requests that a gateway to one device lets through, against a stand-in for adb's server."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from vm_bridge.drivers.phone.adb import AdbServer
from vm_bridge.drivers.phone.adb_gateway import AdbGateway

SERIAL = "emulator-5554"
NUMBER = (7).to_bytes(8, "little")
Ask = Callable[..., Awaitable[bytes]]


def framed(text: str) -> bytes:
    return f"{len(text):04x}{text}".encode()


@pytest_asyncio.fixture
async def heard(tmp_path: Path) -> AsyncIterator[list[str]]:
    """What reached the server, which knows one device and echoes what is sent to it."""
    requests: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while size := await reader.read(4):
            requests.append((await reader.readexactly(int(size, 16))).decode())
            if requests[-1].startswith("host:tport"):
                writer.write(b"OKAY" + NUMBER if requests[-1].endswith(SERIAL) else b"FAIL" + framed("not found"))
            else:
                writer.write(b"OKAY" + framed(requests[-1]))
        writer.close()

    async with await asyncio.start_unix_server(serve, tmp_path / "adb.sock"):
        yield requests


@pytest_asyncio.fixture
async def gateway(heard: list[str], tmp_path: Path) -> AsyncIterator[AdbGateway]:
    made = AdbGateway(AdbServer(tmp_path), SERIAL)
    await made.open(tmp_path / "way.sock")
    yield made
    await made.close()


@pytest.fixture
def ask(gateway: AdbGateway, tmp_path: Path) -> Ask:
    async def asked(*requests: str, more: int = 0) -> bytes:
        """All that comes, when everything was asked; after a transport `more` bytes are read first."""
        reader, writer = await asyncio.open_unix_connection(tmp_path / "way.sock")
        writer.write(framed(requests[0]))
        first = await reader.readexactly(more)
        for request in requests[1:]:
            writer.write(framed(request))
        writer.write_eof()
        rest = await reader.read()
        writer.close()
        return first + rest

    return asked


async def test_the_device_is_reached_by_all_that_adb_calls_it(ask: Ask, heard: list[str]) -> None:
    said = b"OKAY" + framed("shell:ls")
    assert await ask(f"host:tport:serial:{SERIAL}", "shell:ls", more=12) == b"OKAY" + NUMBER + said
    assert await ask("host:tport:any", "shell:ls", more=12) == b"OKAY" + NUMBER + said
    assert await ask(f"host:transport:{SERIAL}", "shell:ls", more=4) == b"OKAY" + said
    assert set(heard) == {f"host:tport:serial:{SERIAL}", "shell:ls"}
    assert await ask("host:devices") == b"OKAY" + framed(f"{SERIAL}\tdevice\n")


@pytest.mark.parametrize(
    "request_text",
    [
        "host:transport:other",
        "host:tport:serial:other",
        "host:kill",
        "host:connect:10.0.0.1:5555",
        "host:track-devices",
        "host-serial:other:features",
        f"host-serial:{SERIAL}:forward:tcp:1;tcp:2",
        "host-transport-id:7:wait-for-any-device",
        f"host:transport:{SERIAL}x",
    ],
)
async def test_other_devices_and_the_server_itself_stay_closed(
    ask: Ask, heard: list[str], gateway: AdbGateway, request_text: str
) -> None:
    assert (await ask(request_text)).startswith(b"FAIL")
    assert heard == []
    assert gateway.refused == 1


async def test_another_device_is_not_chosen_after_the_first(ask: Ask, heard: list[str], gateway: AdbGateway) -> None:
    answer = await ask(f"host:tport:serial:{SERIAL}", "host:transport:other", more=12)
    assert answer.startswith(b"OKAY" + NUMBER + b"FAIL")
    assert heard == [f"host:tport:serial:{SERIAL}"]
    assert gateway.refused == 1


async def test_questions_about_the_device_go_through(ask: Ask, heard: list[str]) -> None:
    for asked in ("host:version", f"host-serial:{SERIAL}:features"):
        assert await ask(asked) == b"OKAY" + framed(asked)
    await ask("host:tport:any", "root:", more=12)
    waits = "host-transport-id:7:wait-for-any-disconnect"
    assert await ask(waits) == b"OKAY" + framed(waits)
    assert (await ask("host-transport-id:8:wait-for-any-disconnect")).startswith(b"FAIL")


async def test_a_device_that_the_server_lost_is_counted(heard: list[str], tmp_path: Path) -> None:
    lost = AdbGateway(AdbServer(tmp_path), "unplugged")
    await lost.open(tmp_path / "lost.sock")
    reader, writer = await asyncio.open_unix_connection(tmp_path / "lost.sock")
    writer.write(framed("host:tport:any"))
    writer.write_eof()
    assert await reader.readexactly(4) == b"FAIL"
    writer.close()
    assert lost.lost == 1
    await lost.close()
