"""The packets of adb's transport: a header of six little-endian words, and a body."""

import struct
from asyncio import IncompleteReadError, StreamReader
from dataclasses import dataclass

VERSION = 0x01000001
"""From this version on nobody sums up bodies."""
MAX_BODY = 256 * 1024
"""Longest body either side may send (bytes)."""
HEADER = struct.Struct("<6I")
ALL_ONES = 0xFFFFFFFF


class AdbError(Exception):
    """The peer broke the protocol."""


@dataclass(frozen=True, slots=True)
class Packet:
    """One message; what the two words mean depends on the command (`CNXN`, `AUTH`, `OPEN`, `OKAY`, `WRTE`, `CLSE`)."""

    command: bytes
    first: int
    second: int
    body: bytes = b""


def encode(packet: Packet) -> bytes:
    """As it goes over the wire."""
    (word,) = struct.unpack("<I", packet.command)
    checksum = sum(packet.body) & ALL_ONES if packet.command == b"CNXN" else 0
    return HEADER.pack(word, packet.first, packet.second, len(packet.body), checksum, word ^ ALL_ONES) + packet.body


async def read(reader: StreamReader) -> Packet | None:
    """The next packet; None at the end of the connection. Raises AdbError."""
    try:
        word, first, second, size, _, magic = HEADER.unpack(await reader.readexactly(HEADER.size))
        if magic != word ^ ALL_ONES:
            raise AdbError("the header's magic word is wrong")
        if size > MAX_BODY:
            raise AdbError(f"a body of {size} bytes is too long")
        return Packet(struct.pack("<I", word), first, second, await reader.readexactly(size))
    except (IncompleteReadError, ConnectionError):
        return None
