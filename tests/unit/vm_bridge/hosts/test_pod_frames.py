"""The pictures of a pod reach the host whole, and only where they changed."""

import asyncio
import socket

from vm_bridge.drivers.computer.remote_frames import FrameCanvas
from vm_bridge.guest.common import wire
from vm_bridge.pod.frame_sender import BAND_ROWS, PIXEL_BYTES, SlotRows, relay_calls, slots_of

WIDTH, HEIGHT = 40, 2 * BAND_ROWS + 10
SIZE = WIDTH * HEIGHT * PIXEL_BYTES


def messages(rows: SlotRows, slot: int) -> list[wire.Message]:
    return [wire.decode(message[wire.HEADER.size :]) for message in rows.changed(slot)]


def test_a_picture_arrives_and_only_its_changed_bands_follow() -> None:
    memory = bytearray(place % 251 for place in range(2 * SIZE))
    rows, canvas = SlotRows(memoryview(memory)), FrameCanvas(WIDTH, HEIGHT)
    rows.resize(WIDTH, HEIGHT)
    for message in messages(rows, 1):
        canvas.paint(message)
    assert canvas.pixels(1, SIZE) == memory[SIZE : 2 * SIZE]
    assert messages(rows, 1) == []
    memory[2 * SIZE - 1] ^= 1
    (changed,) = messages(rows, 1)
    assert changed["top"] == 2 * BAND_ROWS
    canvas.paint(changed)
    assert canvas.pixels(1, SIZE) == memory[SIZE : 2 * SIZE]


def test_another_size_sends_everything_again() -> None:
    rows = SlotRows(memoryview(bytearray(2 * SIZE)))
    rows.resize(WIDTH, HEIGHT)
    assert len(messages(rows, 0)) == 3
    rows.resize(WIDTH, BAND_ROWS)
    assert len(messages(rows, 0)) == 1


def test_pictures_are_found_in_every_kind_of_reply() -> None:
    look = {"serial": 3, "slot": 2, "at": 1.0}
    assert slots_of(look) == [2]
    assert slots_of({"before": look, "after": {**look, "slot": 0}, "error": None}) == [2, 0]
    assert slots_of({"after": None, "text": '"slot":'}) == []


async def test_a_reply_comes_after_its_picture() -> None:
    ours, host = socket.socketpair()
    guest, theirs = socket.socketpair()
    streams = [await asyncio.open_unix_connection(sock=each) for each in (ours, host, guest, theirs)]
    (reader, writer), relay_host, relay_guest, (guest_reader, guest_writer) = streams
    relaying = asyncio.create_task(relay_calls(relay_host, relay_guest, memoryview(bytearray(SIZE))))

    async def receive(reader: asyncio.StreamReader) -> wire.Message:
        return wire.decode(await reader.readexactly(wire.body_length(await reader.readexactly(wire.HEADER.size))))

    writer.write(wire.encode({"id": 1, "op": "start", "width": WIDTH, "height": HEIGHT}))
    assert (await receive(guest_reader))["op"] == "start"
    guest_writer.write(wire.encode({"id": 1, "result": {"serial": 1, "slot": 0, "at": 1.0}}))
    assert [(await receive(reader))["id"] for _ in range(4)] == [wire.PICTURE] * 3 + [1]
    guest_writer.close()
    assert await reader.read() == b""
    await relaying
    writer.close()
