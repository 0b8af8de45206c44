"""A socket like the adb server's that gives access to a single device: other devices, and the server itself, are
blocked."""

import asyncio
import re
from asyncio import IncompleteReadError, StreamReader, StreamWriter
from contextlib import suppress
from pathlib import Path
from typing import Any

from vm_bridge.drivers.phone.adb import LENGTH_DIGITS, AdbServer
from vm_bridge.guest.common.relay import relay

IDLE_SECONDS = 300.0
"""A connection that is idle for this long is closed."""
OKAY, FAIL = b"OKAY", b"FAIL"
TRANSPORT_ID_BYTES = 8
"""Bytes after the answer to `host:tport`."""
SERVER_REQUESTS = frozenset({"host:version", "host:features", "host:host-features"})
"""Requests about the server itself by the program `adb`."""
DEVICE_REQUESTS = ("features", "get-state", "get-serialno", r"wait-for-[a-z]+-[a-z]+")


class AdbGateway:
    """Admits requests for one device only. The server must know the device.

    The program `adb` connects through `ADB_SERVER_SOCKET=localfilesystem:PATH` and `ANDROID_SERIAL`.
    """

    def __init__(self, server: AdbServer, serial: str) -> None:
        self._server, self._serial = server, serial
        self._transports = {
            f"host:transport:{serial}",
            f"host:tport:serial:{serial}",
            *("host:transport-any", "host:tport:any"),
        }
        about = "|".join(DEVICE_REQUESTS)
        self._about_device = re.compile(rf"host-serial:{re.escape(serial)}:({about})")
        self._about_transport = re.compile(rf"host-transport-id:([0-9]+):({about})")
        self._transport_ids: set[int] = set()
        """Transport ids that the server assigned to connections with the device."""
        self._listener: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()
        self.lost = 0
        """Number of times the server did not reach the device."""
        self.refused = 0
        """Number of requests that were not for this device."""

    async def open(self, path: Path) -> None:
        """Listen on a new socket, for all users who can access its folder."""
        self._listener = await asyncio.start_unix_server(self._accept, path)
        await asyncio.to_thread(path.chmod, 0o666)

    async def close(self) -> None:
        """End every connection. Idempotent."""
        if self._listener is not None:
            self._listener.close()
        serving = tuple(self._serving)
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)

    def _accept(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.create_task(self._attend(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _attend(self, reader: StreamReader, writer: StreamWriter) -> None:
        try:
            with suppress(IncompleteReadError, OSError, TimeoutError, ValueError):
                async with asyncio.timeout(IDLE_SECONDS):
                    request = await _read_request(reader)
                await self._answer(request, reader, writer)
        finally:
            writer.close()

    async def _answer(self, request: str, reader: StreamReader, writer: StreamWriter) -> None:
        if request == "host:devices":
            return _send(writer, OKAY, f"{self._serial}\tdevice\n")
        if request in self._transports:
            return await self._to_device(request, reader, writer)
        if request in SERVER_REQUESTS or self._is_about_device(request):
            return await self._forward(request, (reader, writer))
        self.refused += 1
        return _send(writer, FAIL, "this socket leads to one device")

    def _is_about_device(self, request: str) -> bool:
        numbered = self._about_transport.fullmatch(request)
        if numbered is not None:
            return int(numbered[1]) in self._transport_ids
        return self._about_device.fullmatch(request) is not None

    async def _to_device(self, request: str, reader: StreamReader, writer: StreamWriter) -> None:
        """The server takes further requests about itself after a transport was chosen, so the next one is checked
        too."""
        inner_reader, inner_writer = await self._server.dial()
        try:
            _write_request(inner_writer, f"host:tport:serial:{self._serial}")
            answer = await inner_reader.readexactly(len(OKAY))
            if answer != OKAY:
                self.lost += 1
                size = await inner_reader.readexactly(LENGTH_DIGITS)
                writer.write(answer + size + await inner_reader.readexactly(int(size, 16)))
                return
            number = await inner_reader.readexactly(TRANSPORT_ID_BYTES)
            self._transport_ids.add(int.from_bytes(number, "little"))
            writer.write(OKAY + (number if request.startswith("host:tport") else b""))
            async with asyncio.timeout(IDLE_SECONDS):
                service = await _read_request(reader)
            if service.startswith("host"):
                self.refused += 1
                return _send(writer, FAIL, "this socket leads to one device")
            _write_request(inner_writer, service)
            with suppress(TimeoutError):
                await relay((reader, writer), (inner_reader, inner_writer), idle=IDLE_SECONDS)
        finally:
            inner_writer.close()

    async def _forward(self, request: str, client: Any) -> None:
        inner = await self._server.dial()
        _write_request(inner[1], request)
        with suppress(TimeoutError):
            await relay(client, inner, idle=IDLE_SECONDS)


async def _read_request(reader: StreamReader) -> str:
    """Raises IncompleteReadError, and ValueError for an invalid request."""
    size = int(await reader.readexactly(LENGTH_DIGITS), 16)
    return (await reader.readexactly(size)).decode()


def _write_request(writer: StreamWriter, request: str) -> None:
    body = request.encode()
    writer.write(f"{len(body):04x}".encode() + body)


def _send(writer: StreamWriter, status: bytes, text: str) -> None:
    """An answer with its length."""
    body = text.encode()
    writer.write(status + f"{len(body):04x}".encode() + body)
