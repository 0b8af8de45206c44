"""Packets for a receiver that reads at its own speed. A receiver that falls behind continues at the next key frame."""

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

import av

from vm_bridge.streams.broadcast import BroadcastFrame

MAX_QUEUED_PACKETS = 8
"""Most packets that wait."""


class QueuedPacket(NamedTuple):
    """A packet, and the size of its picture."""

    packet: "av.Packet[Any]"
    width: int
    height: int


class PacketQueue:
    """Never makes the encoder wait. `overrun` is called when it dropped what waited, and a key frame is needed."""

    def __init__(self, on_overrun: Callable[[], None]) -> None:
        self._on_overrun = on_overrun
        self._queue: asyncio.Queue[QueuedPacket | None] = asyncio.Queue(MAX_QUEUED_PACKETS + 1)
        self._needs_key = True

    def offer(self, frame: BroadcastFrame) -> None:
        """Take a packet, unless it builds on one that was dropped."""
        packet = frame.packet
        if packet is None or (self._needs_key and not packet.is_keyframe):
            return
        if self._queue.qsize() >= MAX_QUEUED_PACKETS:
            self._drain()
            self._needs_key = True
            self._on_overrun()
            return
        self._needs_key = False
        self._queue.put_nowait(QueuedPacket(packet, frame.picture.width, frame.picture.height))

    def end(self) -> None:
        """Drop what waits; `get` gives None."""
        self._drain()
        self._queue.put_nowait(None)

    def close(self) -> None:
        """After what waits `get` gives None; nothing more is offered."""
        if not self._queue.full():
            self._queue.put_nowait(None)

    async def get(self) -> QueuedPacket | None:
        """The next packet; None at the end."""
        return await self._queue.get()

    def _drain(self) -> None:
        while not self._queue.empty():
            self._queue.get_nowait()
