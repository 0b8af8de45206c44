"""How a command of the phone's shell reaches the phone: one request over a unix socket of the phone's user."""

import asyncio
import json
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path

from vm_bridge.simulators.phone.commands import CommandResult

REPLY_HEADER = struct.Struct(">BII")
"""Exit status, length of the output, length of the errors."""
MAX_REQUEST = 1024 * 1024
REQUEST_SECONDS = 5.0


async def serve_commands(path: Path, run: Callable[[list[str]], Awaitable[CommandResult]]) -> asyncio.Server:
    """Answers commands from now on: a line of JSON with the words of a command line, and back what it left."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                request = await reader.readline()
            result = await run(_parse_request(request))
            writer.write(REPLY_HEADER.pack(result.code, len(result.output), len(result.errors)))
            writer.write(result.output + result.errors)
            await writer.drain()
        except (ValueError, TimeoutError, ConnectionError):
            pass  # a program that does not ask properly, or has gone, gets no answer
        finally:
            writer.close()

    return await asyncio.start_unix_server(answer, path, limit=MAX_REQUEST)


def _parse_request(request: bytes) -> list[str]:
    """Raises ValueError."""
    words = json.loads(request)
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        raise ValueError("not a list of words")
    return words
