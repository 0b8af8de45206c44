"""The services that run a command: `shell` with and without its packets, and `exec`."""

import asyncio
import os
import signal
import struct
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from vm_bridge.simulators.phone.daemon import Stream, StreamClosed

STDIN, STDOUT, STDERR, EXIT, CLOSE_STDIN = range(5)
"""What a packet of the second shell protocol carries."""
HEADER = struct.Struct("<BI")
MAX_PACKET = 1024 * 1024
CHUNK = 64 * 1024

Output = Callable[[int, bytes], Awaitable[None]]
"""Takes what the command wrote: to standard output or to standard error."""


class Shell:
    """Runs commands with `/bin/sh`; `environment` is what they start with."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    async def packets(self, stream: Stream, command: str) -> None:
        """The second protocol: output and errors apart, and the exit status at the end."""
        writing = asyncio.Lock()

        async def output(kind: int, data: bytes) -> None:
            async with writing:
                await stream.write(HEADER.pack(kind, len(data)) + data)

        process = await self._start(command, stderr=asyncio.subprocess.PIPE)
        status = await _forward_output(process, _unpack(stream, process.stdin), output)
        await output(EXIT, bytes([status]))

    async def plain(self, stream: Stream, command: str) -> None:
        """The first protocol, and `exec`: whatever the command writes, and nothing else."""

        async def output(_kind: int, data: bytes) -> None:
            await stream.write(data)

        process = await self._start(command, stderr=asyncio.subprocess.STDOUT)
        await _forward_output(process, _copy(stream, process.stdin), output)

    async def _start(self, command: str, *, stderr: int) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *(("/bin/sh", "-c", command) if command else ("/bin/sh",)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            env=dict(self._environment),
            start_new_session=True,
        )


async def _forward_output(process: asyncio.subprocess.Process, feeding: Awaitable[None], output: Output) -> int:
    """Pass on what the command writes until it ends; its exit status, as a shell tells it.

    `feeding` ends with the stream, and the command with `feeding`.
    """
    feed = asyncio.ensure_future(feeding)
    feed.add_done_callback(lambda _: _kill(process))
    try:
        pipes = ((STDOUT, process.stdout), (STDERR, process.stderr))
        await asyncio.gather(*(_drain(pipe, kind, output) for kind, pipe in pipes if pipe is not None))
        status = await process.wait()
    finally:
        feed.cancel()
    return status if status >= 0 else 128 - status


def _kill(process: asyncio.subprocess.Process) -> None:
    """End a command and all it started, unless they went their own way."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


async def _drain(pipe: asyncio.StreamReader, kind: int, output: Output) -> None:
    """To the end, also of what nobody wants any more: only then is the pipe closed."""
    wanted = True
    while data := await pipe.read(CHUNK):
        try:
            if wanted:
                await output(kind, data)
        except StreamClosed:
            wanted = False


async def _copy(stream: Stream, stdin: asyncio.StreamWriter | None) -> None:
    while data := await stream.read():
        await _feed(stdin, data)
    await _feed(stdin, b"")


async def _unpack(stream: Stream, stdin: asyncio.StreamWriter | None) -> None:
    """What the computer types, out of its packets."""
    held = b""
    while data := await stream.read():
        held += data
        while len(held) >= HEADER.size:
            kind, size = HEADER.unpack_from(held)
            if size > MAX_PACKET:
                return
            if len(held) < HEADER.size + size:
                break
            body, held = held[HEADER.size : HEADER.size + size], held[HEADER.size + size :]
            if kind in (STDIN, CLOSE_STDIN):
                await _feed(stdin, body if kind == STDIN else b"")


async def _feed(stdin: asyncio.StreamWriter | None, data: bytes) -> None:
    """Give the command input; nothing at all means that there is no more. It may have ended already."""
    if stdin is None or stdin.is_closing():
        return
    with suppress(ConnectionError):
        if data:
            stdin.write(data)
            await stdin.drain()
        else:
            stdin.close()
