"""The simulator's daemon, asked by the real adb program."""

import asyncio
import contextlib
import os
import select
import socket
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio

from vm_bridge.drivers.phone.adb import AdbRequestFailed, AdbServer, Device
from vm_bridge.simulators.phone.daemon import Daemon
from vm_bridge.simulators.phone.keys import read_keys
from vm_bridge.simulators.phone.services import find_service
from vm_bridge.simulators.phone.shell import Shell

BANNER = b"device::ro.product.name=test;ro.product.model=Test;ro.product.device=test;features=shell_v2"
SECONDS = 30.0


class Adb:
    """The program `adb` against one device of one server."""

    def __init__(self, server: AdbServer, serial: str) -> None:
        self._environment, self.serial = server.environment, serial

    async def __call__(self, *words: str, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
        """Exit status, output and errors."""
        process = await asyncio.create_subprocess_exec(
            *("adb", "-s", self.serial, *words),
            env=self._environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(SECONDS):
            output, errors = await process.communicate(stdin)
        assert process.returncode is not None
        return process.returncode, output, errors


@pytest_asyncio.fixture
async def address(tmp_path: Path) -> AsyncIterator[str]:
    """Where a daemon serves that trusts the keys of `tmp_path`/adb_keys."""
    listening = socket.create_server(("127.0.0.1", 0))
    shell = Shell({"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
    daemon = Daemon(BANNER, partial(read_keys, tmp_path / "adb_keys"), partial(find_service, shell=shell))
    serving = asyncio.create_task(daemon.serve(listening))
    yield f"127.0.0.1:{listening.getsockname()[1]}"
    serving.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await serving


@pytest_asyncio.fixture
async def device(adb: AdbServer, address: str, tmp_path: Path) -> AsyncIterator[Adb]:
    (tmp_path / "adb_keys").write_text(adb.public_key)
    await adb.connect(address)
    yield Adb(adb, address)
    await adb.disconnect(address)


async def test_a_trusted_key_is_let_in(device: Adb) -> None:
    assert await device("get-state") == (0, b"device\n", b"")


async def test_any_other_stays_outside(adb: AdbServer, address: str, tmp_path: Path) -> None:
    (tmp_path / "adb_keys").write_text("AAAA nobody@nowhere\n")
    with pytest.raises(AdbRequestFailed):
        await adb.connect(address)
    assert "unauthorized" in await adb.ask("host:devices")
    with pytest.raises(AdbRequestFailed):
        await Device(adb, address).run("true")
    await adb.disconnect(address)


async def test_a_command_gives_its_output_errors_and_status_apart(device: Adb) -> None:
    assert await device("shell", "echo out; echo err >&2; exit 7") == (7, b"out\n", b"err\n")


async def test_a_killed_command_says_so(device: Adb) -> None:
    assert (await device("shell", "kill -9 $$"))[0] == 128 + 9


async def test_a_command_reads_what_it_is_given(device: Adb) -> None:
    content = os.urandom(1_000_000)
    assert await device("shell", "cat", stdin=content) == (0, content, b"")


async def test_the_first_shell_protocol_gives_everything_at_once(device: Adb) -> None:
    status, output, _ = await device("shell", "-x", "echo out; echo err >&2; exit 7")
    assert (status, sorted(output.split())) == (0, [b"err", b"out"])


async def test_exec_keeps_every_byte(device: Adb) -> None:
    assert (await device("exec-out", "printf", r"\001\r\n\377"))[1] == b"\x01\r\n\xff"


async def test_three_megabytes_come_back_identical(device: Adb, tmp_path: Path) -> None:
    there, back = tmp_path / "there", tmp_path / "back"
    content = os.urandom(3_000_000)
    there.write_bytes(content)
    assert (await device("push", str(there), str(tmp_path / "phone" / "file")))[0] == 0
    assert (await device("pull", str(tmp_path / "phone" / "file"), str(back)))[0] == 0
    assert back.read_bytes() == content
    assert [path.name for path in (tmp_path / "phone").iterdir()] == ["file"]


async def test_a_file_that_cannot_be_had_is_an_error(device: Adb, tmp_path: Path) -> None:
    status, output, errors = await device("pull", str(tmp_path / "nothing"), str(tmp_path / "back"))
    assert (status, b"does not exist" in output + errors) == (1, True)
    status, output, errors = await device("push", __file__, "/proc/file")
    assert (status, b"failed to copy" in output + errors) == (1, True)
    assert (await device("shell", "echo still there"))[1] == b"still there\n"


async def test_a_folder_is_listed(device: Adb, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "żółw").write_text("12345")
    _, output, _ = await device("ls", str(tmp_path / "folder"))
    assert any(line.endswith("00000005 " + line.split()[2] + " żółw") for line in output.decode().splitlines())


async def test_what_it_does_not_offer_is_refused(device: Adb) -> None:
    assert (await device("root"))[0] != 0
    assert (await device("shell", "echo still there"))[1] == b"still there\n"


async def test_many_streams_share_a_connection(device: Adb) -> None:
    results = await asyncio.gather(*(device("shell", f"head -c 300000 /dev/zero; echo {n}") for n in range(8)))
    assert [output[-2:] for _, output, _ in results] == [f"{n}\n".encode() for n in range(8)]


async def test_a_stream_nobody_reads_holds_up_no_other(device: Adb, adb: AdbServer) -> None:
    async with adb.open_connection(f"host:transport:{device.serial}", "exec:cat /dev/zero") as (reader, _):
        await reader.readexactly(1)
        assert (await device("shell", "echo through"))[1] == b"through\n"


async def test_a_command_ends_with_the_stream(device: Adb, adb: AdbServer, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    request = f"exec:echo on; exec cat {fifo}"
    async with adb.open_connection(f"host:transport:{device.serial}", request) as (reader, _):
        assert await reader.readline() == b"on\n"
        writing = await asyncio.to_thread(os.open, fifo, os.O_WRONLY)
    closed = select.poll()
    closed.register(writing, 0)
    assert await asyncio.to_thread(closed.poll, SECONDS * 1000)  # the reader has gone
    os.close(writing)
