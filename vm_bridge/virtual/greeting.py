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

from vm_bridge.virtual.channels import PIECE

LINE = "org.pilothouse.line"
"""The name of the port that is the line."""
NOTICE_SECONDS = 3.0
"""How long an answer may take until the host knocks again."""
NONCE = 16
HOST_HERE = b"\x00PILOTHOUSE-HOST"
KNOCK = b"\xff" * (2 * PIECE) + HOST_HERE
"""First bytes with which no message begins, more than the rest of any that the machine may be waiting for."""
HERE = b"\x00PILOTHOUSE-LINE"
"""The machine's answer, before the knock's own number; all it said before is forgotten."""
SAYS = b"\x01"
HOST = struct.Struct(">d32s")
"""What the host says then: the time (seconds since the epoch) and fresh randomness, since a machine that was put back
to an earlier state has the time and the randomness of that state."""


async def host_greets(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Returns when the machine listens to this host. Raises IncompleteReadError when the line ends."""
    answered = False
    while not answered:
        number = os.urandom(NONCE)
        writer.write(KNOCK + number)
        with suppress(TimeoutError):
            async with asyncio.timeout(NOTICE_SECONDS):
                await _past(reader, HERE + number)
                answered = True
    writer.write(SAYS + HOST.pack(time.time(), os.urandom(32)))


async def machine_answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[float, bytes]:
    """The time and randomness of the host that knocks. Raises IncompleteReadError when the line ends."""
    while True:
        await _past(reader, HOST_HERE)
        writer.write(HERE + await reader.readexactly(NONCE))
        if await reader.readexactly(1) == SAYS:
            now, randomness = HOST.unpack(await reader.readexactly(HOST.size))
            return now, randomness


async def _past(reader: asyncio.StreamReader, words: bytes) -> None:
    """Read all that comes until these words have."""
    while True:
        try:
            await reader.readuntil(words)
        except asyncio.LimitOverrunError as long:
            await reader.readexactly(long.consumed)
        else:
            return
