"""Relays the calls of one host to the guest of a pod. Ahead of each reply it sends the rows of the pictures that the
reply names, because pod and host share no memory."""

import asyncio
import base64
import json
import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from vm_bridge.guest.common import wire
from vm_bridge.guest.common.relay import StreamPair

PIXEL_BYTES = 4
BAND_ROWS = 64
"""Rows of one message. Unchanged bands are not sent."""
ZLIB_LEVEL = 1
MAX_START_BYTES = 1000
"""Longest call that is read for the size of a desktop."""
FRAME_FIELDS = ("before", "after")
"""Where a reply has a picture, beside being one."""


class SlotRows:
    """The rows of each slot that the host does not have yet. `memory` holds the slots one after another."""

    def __init__(self, memory: memoryview) -> None:
        self._memory = memory
        self._sent: dict[int, list[bytes]] = {}
        self._size = (0, 0)

    def resize(self, width: int, height: int) -> None:
        """Use slots of this size (pixels) from now on. The host has nothing of them."""
        if self._size != (width, height):
            self._size = width, height
            self._sent.clear()

    def changed(self, slot: int) -> Iterator[bytes]:
        """Encoded messages with the changed bands of a slot."""
        width, height = self._size
        stride, begin = width * PIXEL_BYTES, slot * width * height * PIXEL_BYTES
        sent = self._sent.setdefault(slot, [b""] * -(-height // BAND_ROWS))
        for band, old in enumerate(sent):
            top = band * BAND_ROWS
            rows = bytes(self._memory[begin + top * stride : begin + min(top + BAND_ROWS, height) * stride])
            if rows != old:
                sent[band] = rows
                data = base64.b64encode(zlib.compress(rows, ZLIB_LEVEL)).decode()
                yield wire.encode({"id": wire.PICTURE, "slot": slot, "top": top, "data": data})


async def relay_calls(host: StreamPair, guest: StreamPair, memory: memoryview) -> None:
    """Relay until one side hangs up; then both are closed."""
    rows = SlotRows(memory)
    try:
        with suppress(asyncio.IncompleteReadError, OSError, wire.WireError):
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(_relay_requests(host[0], guest[1], rows))]
                tasks.append(group.create_task(_relay_replies(guest[0], host[1], rows)))
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in tasks:
                    task.cancel()
    finally:
        host[1].close()
        guest[1].close()


async def _relay_requests(host: asyncio.StreamReader, guest: asyncio.StreamWriter, rows: SlotRows) -> None:
    with suppress(asyncio.IncompleteReadError, OSError, wire.WireError):
        while True:
            body = await _read_body(host)
            if len(body) <= MAX_START_BYTES:
                call = wire.decode(body)
                if call.get("op") == "start":
                    _resize(rows, call)
            guest.write(wire.HEADER.pack(len(body)) + body)
            await guest.drain()


async def _relay_replies(guest: asyncio.StreamReader, host: asyncio.StreamWriter, rows: SlotRows) -> None:
    with suppress(asyncio.IncompleteReadError, OSError, wire.WireError):
        while True:
            body = await _read_body(guest)
            if b'"slot":' in body or b'"width":' in body:
                message = json.loads(body)
                result = message.get("result") or {}
                if message.get("id") == wire.READY:
                    _resize(rows, result)
                for slot in slots_of(result):
                    # Compression takes up to 40 ms, and other connections go on meanwhile.
                    for picture in await asyncio.to_thread(list, rows.changed(slot)):
                        host.write(picture)
                        await host.drain()
            host.write(wire.HEADER.pack(len(body)) + body)
            await host.drain()


async def _read_body(reader: asyncio.StreamReader) -> bytes:
    return await reader.readexactly(wire.body_length(await reader.readexactly(wire.HEADER.size)))


def _resize(rows: SlotRows, message: dict[str, Any]) -> None:
    width, height = message.get("width"), message.get("height")
    if isinstance(width, int) and isinstance(height, int) and width > 0 and height > 0:
        rows.resize(width, height)


def slots_of(result: dict[str, Any]) -> list[int]:
    """The slots of the pictures that a guest's result names."""
    looks = [result, *(result.get(name) for name in FRAME_FIELDS)]
    return [look["slot"] for look in looks if isinstance(look, dict) and isinstance(look.get("slot"), int)]
