"""Phones over adb: a private server of the real program, and requests to devices through its socket."""

import asyncio
import os
import shlex
import struct
from asyncio import IncompleteReadError, StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from vm_bridge.drivers.remote.errors import TransportError
from vm_bridge.errors import MachineGone

START_SECONDS = 15.0
STOP_SECONDS = 5.0
REQUEST_TIMEOUT_SECONDS = 20.0
"""Timeout of requests that take no time by themselves."""
MAX_OUTPUT = 200_000
"""Maximum stored output of a command (bytes)."""
MAX_FILE = 64 * 1024 * 1024
CHUNK = 64 * 1024
MAX_PIECE = 4 * 1024 * 1024
"""Maximum size of one part of an answer (bytes); adb itself sends at most a quarter of it."""
LENGTH_DIGITS = 4
STDOUT, STDERR, EXIT, CLOSE_STDIN = 1, 2, 3, 4
SHELL_HEADER = struct.Struct("<BI")
SYNC_HEADER = struct.Struct("<4sI")


class AdbRequestFailed(TransportError):
    """The server or the device rejected a request; the message is its own."""


@dataclass(frozen=True, slots=True)
class ShellResult:
    """Result of a command: exit status (None on timeout), output and errors, bounded."""

    code: int | None
    output: bytes
    errors: bytes

    @property
    def text(self) -> str:
        """What it wrote, for people."""
        return (self.output + self.errors).decode("utf-8", "replace")


class AdbServer:
    """A private adb server. Its socket and keys are in `folder`, so it shares nothing with other users of adb on this
    machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._socket = folder / "adb.sock"
        self._process: asyncio.subprocess.Process | None = None
        self._starting = asyncio.Lock()

    @property
    def public_key(self) -> str:
        """The public key that a device must trust. The server creates it when it starts."""
        return (self._folder / ".android" / "adbkey.pub").read_text("ascii")

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables that make the program `adb` use this server."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self._folder),
            "ADB_SERVER_SOCKET": f"localfilesystem:{self._socket}",
            # Ignore other people's emulators.
            "ADB_LOCAL_TRANSPORT_MAX_PORT": "0",
            "ADB_MDNS": "0",
        }

    async def start(self) -> None:
        """Start the server and wait until it answers. Does nothing if it already runs. Raises MachineGone."""
        async with self._starting:
            if self._process is not None and self._process.returncode is None:
                return
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._socket.unlink(missing_ok=True)
            try:
                self._process = await asyncio.create_subprocess_exec(
                    # A killed bridge takes its server along.
                    *("setpriv", "--pdeathsig", "KILL"),
                    *("adb", "-L", f"localfilesystem:{self._socket}", "server", "nodaemon"),
                    env=self.environment,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=asyncio.subprocess.DEVNULL,
                    stderr=asyncio.subprocess.DEVNULL,
                )
            except FileNotFoundError as error:
                raise MachineGone(f"{error.filename} is not installed; install adb") from error
            await self._answers()

    async def _answers(self) -> None:
        try:
            async with asyncio.timeout(START_SECONDS):
                while True:
                    with suppress(AdbRequestFailed):
                        await self.ask("host:version")
                        return
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise MachineGone("the adb server did not start") from None

    async def close(self) -> None:
        """End the server. Idempotent."""
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        process.terminate()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()

    async def ask(self, request: str) -> str:
        """The server's answer to a request about itself. Raises AdbRequestFailed."""
        async with self.open_connection(request) as (reader, _):
            return (await _read_length_prefixed(reader)).decode("utf-8", "replace")

    async def connect(self, address: str) -> "Device":
        """Connect to a device by its address. Raises AdbRequestFailed."""
        checked_output = await self.ask(f"host:connect:{address}")
        if "connected to" not in checked_output:
            raise AdbRequestFailed(checked_output)
        return Device(self, address)

    async def disconnect(self, address: str) -> None:
        """Disconnect a device; does nothing if there is none."""
        with suppress(AdbRequestFailed):
            await self.ask(f"host:disconnect:{address}")

    async def dial(self) -> tuple[StreamReader, StreamWriter]:
        """A new connection without any request yet. Raises OSError."""
        return await asyncio.open_unix_connection(self._socket)

    @asynccontextmanager
    async def open_connection(self, *requests: str) -> AsyncIterator[tuple[StreamReader, StreamWriter]]:
        """A connection on which the server granted these requests in order. Raises AdbRequestFailed."""
        try:
            async with asyncio.timeout(REQUEST_TIMEOUT_SECONDS):
                reader, writer = await self.dial()
        except (OSError, TimeoutError) as error:
            raise AdbRequestFailed(f"the adb server does not answer: {error}") from error
        try:
            async with asyncio.timeout(REQUEST_TIMEOUT_SECONDS):
                for request in requests:
                    await _send_request(reader, writer, request)
            yield reader, writer
        except (IncompleteReadError, ConnectionError, TimeoutError, ValueError) as error:
            raise AdbRequestFailed(f"the adb server or the device hung up: {error}") from error
        finally:
            writer.close()


class Device:
    """One phone, by its serial number on the server."""

    def __init__(self, server: AdbServer, serial: str) -> None:
        self._server, self.serial = server, serial

    async def run(self, *words: str, timeout: float = REQUEST_TIMEOUT_SECONDS) -> ShellResult:
        """Run one command; each word arrives as one argument. Raises AdbRequestFailed."""
        return await self.shell(shlex.join(words), timeout=timeout)

    async def shell(self, command: str, *, timeout: float = REQUEST_TIMEOUT_SECONDS) -> ShellResult:
        """Run a command line in the device's shell. Raises AdbRequestFailed."""
        output, errors = bytearray(), bytearray()
        async with self._opened(f"shell,v2,raw:{command}") as (reader, writer):
            writer.write(SHELL_HEADER.pack(CLOSE_STDIN, 0))
            try:
                async with asyncio.timeout(timeout):
                    while True:
                        kind, size = SHELL_HEADER.unpack(await reader.readexactly(SHELL_HEADER.size))
                        data = await _piece(reader, size)
                        if kind == EXIT:
                            return ShellResult(data[0] if data else None, bytes(output), bytes(errors))
                        kept = output if kind == STDOUT else errors
                        kept += data[: MAX_OUTPUT - len(kept)]
            except TimeoutError:
                return ShellResult(None, bytes(output), bytes(errors))

    async def checked_output(self, *words: str) -> str:
        """The output of a command that must not fail. Raises AdbRequestFailed."""
        ran = await self.run(*words)
        if ran.code != 0:
            raise AdbRequestFailed(f"{words[0]}: {ran.text.strip()}")
        return ran.output.decode("utf-8", "replace").strip()

    async def raw(self, command: str, *, most: int) -> bytes:
        """All output bytes of a command. Raises AdbRequestFailed, also beyond `most` bytes."""
        content = bytearray()
        async with self._opened(f"exec:{command}") as (reader, _), asyncio.timeout(REQUEST_TIMEOUT_SECONDS):
            while data := await reader.read(CHUNK * 4):
                content += data
                if len(content) > most:
                    raise AdbRequestFailed(f"{command} writes more than {most} bytes")
        return bytes(content)

    @asynccontextmanager
    async def stream_output(self, *words: str) -> AsyncIterator[StreamReader]:
        """Stream the output of a command, which ends with the context. Raises AdbRequestFailed."""
        async with self._opened(f"exec:{shlex.join(words)}") as (reader, _):
            yield reader

    async def read(self, path: str) -> bytes:
        """A file's content. Raises AdbRequestFailed."""
        content = bytearray()
        async with self._opened("sync:") as (reader, writer), asyncio.timeout(REQUEST_TIMEOUT_SECONDS):
            writer.write(_sync_request(b"RECV", path))
            while True:
                kind, size = SYNC_HEADER.unpack(await reader.readexactly(SYNC_HEADER.size))
                if kind == b"DONE":
                    return bytes(content)
                data = await _piece(reader, size)
                if kind != b"DATA":
                    raise AdbRequestFailed(data.decode("utf-8", "replace"))
                content += data
                if len(content) > MAX_FILE:
                    raise AdbRequestFailed("the file is too long")

    async def write(self, path: str, content: bytes) -> None:
        """Create or replace a file. Raises AdbRequestFailed."""
        async with self._opened("sync:") as (reader, writer), asyncio.timeout(REQUEST_TIMEOUT_SECONDS):
            writer.write(_sync_request(b"SEND", f"{path},{0o644}"))
            for start in range(0, len(content), CHUNK):
                piece = content[start : start + CHUNK]
                writer.write(SYNC_HEADER.pack(b"DATA", len(piece)) + piece)
                await writer.drain()
            writer.write(SYNC_HEADER.pack(b"DONE", 0))
            kind, size = SYNC_HEADER.unpack(await reader.readexactly(SYNC_HEADER.size))
            if kind != b"OKAY":
                raise AdbRequestFailed((await _piece(reader, size)).decode("utf-8", "replace"))

    @asynccontextmanager
    async def _opened(self, service: str) -> AsyncIterator[tuple[StreamReader, StreamWriter]]:
        async with self._server.open_connection(f"host:transport:{self.serial}", service) as pipes:
            yield pipes


async def _send_request(reader: StreamReader, writer: StreamWriter, request: str) -> None:
    """Raises AdbRequestFailed."""
    body = request.encode()
    writer.write(f"{len(body):04x}".encode() + body)
    await writer.drain()
    if await reader.readexactly(len(b"OKAY")) != b"OKAY":
        raise AdbRequestFailed((await _read_length_prefixed(reader)).decode("utf-8", "replace"))


async def _piece(reader: StreamReader, size: int) -> bytes:
    """Read `size` bytes as announced by the device. Raises AdbRequestFailed if the size is too large."""
    if size > MAX_PIECE:
        raise AdbRequestFailed(f"the device announces {size} bytes")
    return await reader.readexactly(size)


async def _read_length_prefixed(reader: StreamReader) -> bytes:
    """Read bytes prefixed with their length in four hexadecimal digits."""
    return await reader.readexactly(int(await reader.readexactly(LENGTH_DIGITS), 16))


def _sync_request(kind: bytes, path: str) -> bytes:
    body = path.encode("utf-8", "surrogateescape")
    return SYNC_HEADER.pack(kind, len(body)) + body
