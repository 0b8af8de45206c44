"""How host and virtual machine begin to talk, on a line of which neither knows what the other was doing.

A machine that was put back to a state goes on in the middle of what it said to the host of that time. It may never
notice that this one left: the kernel tells of a host that leaves and of one that comes, but not of both at once. So a
host knocks with what is no message, and waits for an answer to this very knock.
"""

import asyncio
import os
import struct
import time
from contextlib import suppress

from vm_bridge.virtual.multiplexer import MAX_MESSAGE_BYTES

PORT_NAME = "org.pilothouse.line"
"""The name of the port that is the line."""
RETRY_SECONDS = 3.0
"""How long an answer may take until the host knocks again."""
NONCE_BYTES = 16
HOST_MAGIC = b"\x00PILOTHOUSE-HOST"
HOST_PREAMBLE = b"\xff" * (2 * MAX_MESSAGE_BYTES) + HOST_MAGIC
"""First bytes with which no message begins, more than the rest of any that the machine may be waiting for."""
GUEST_MAGIC = b"\x00PILOTHOUSE-LINE"
"""The machine's answer, before the knock's own number; all it said before is forgotten."""
HOST_DATA_FOLLOWS = b"\x01"
HOST_DATA = struct.Struct(">d32s")
"""What the host says then: the time (seconds since the epoch) and fresh randomness, since a machine that was put back
to an earlier state has the time and the randomness of that state."""


async def host_handshake(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Returns when the machine listens to this host. Raises IncompleteReadError when the line ends."""
    answered = False
    while not answered:
        number = os.urandom(NONCE_BYTES)
        writer.write(HOST_PREAMBLE + number)
        with suppress(TimeoutError):
            async with asyncio.timeout(RETRY_SECONDS):
                await _read_until(reader, GUEST_MAGIC + number)
                answered = True
    writer.write(HOST_DATA_FOLLOWS + HOST_DATA.pack(time.time(), os.urandom(32)))


async def guest_handshake(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[float, bytes]:
    """The time and randomness of the host that knocks. Raises IncompleteReadError when the line ends."""
    while True:
        await _read_until(reader, HOST_MAGIC)
        writer.write(GUEST_MAGIC + await reader.readexactly(NONCE_BYTES))
        if await reader.readexactly(1) == HOST_DATA_FOLLOWS:
            now, randomness = HOST_DATA.unpack(await reader.readexactly(HOST_DATA.size))
            return now, randomness


async def _read_until(reader: asyncio.StreamReader, words: bytes) -> None:
    """Read all that comes until these words have."""
    while True:
        try:
            await reader.readuntil(words)
        except asyncio.LimitOverrunError as long:
            await reader.readexactly(long.consumed)
        else:
            return
