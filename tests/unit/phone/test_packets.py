"""The packets of adb's transport."""

import asyncio

import pytest

from vm_bridge.simulators.phone import packets
from vm_bridge.simulators.phone.packets import AdbError, Packet


async def read(data: bytes) -> Packet | None:
    reader = asyncio.StreamReader()
    reader.feed_data(data)
    reader.feed_eof()
    return await packets.read(reader)


async def test_a_packet_comes_back_as_it_went() -> None:
    packet = Packet(b"WRTE", 7, 2**32 - 1, b"\0hello\xff")
    assert await read(packets.encode(packet)) == packet


async def test_a_known_packet_looks_as_the_protocol_says() -> None:
    encoded = packets.encode(Packet(b"OKAY", 1, 2))
    assert encoded == bytes.fromhex("4f4b4159 01000000 02000000 00000000 00000000 b0b4bea6")


async def test_the_end_of_the_connection_is_no_packet() -> None:
    assert await read(packets.encode(Packet(b"WRTE", 1, 2, b"half"))[:-1]) is None


@pytest.mark.parametrize("place", [0, 20])
async def test_a_broken_header_is_an_error(place: int) -> None:
    data = bytearray(packets.encode(Packet(b"OKAY", 1, 2)))
    data[place] ^= 1
    with pytest.raises(AdbError):
        await read(bytes(data))


async def test_a_body_beyond_the_bound_is_an_error() -> None:
    with pytest.raises(AdbError):
        await read(packets.encode(Packet(b"WRTE", 1, 2, b"x" * (packets.MAX_BODY + 1))))
