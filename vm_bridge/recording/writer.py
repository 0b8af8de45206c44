"""One recording on its way to disk: watches a broadcast as a viewer does, and never makes it wait."""

import asyncio
import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from vm_bridge.api.wire import RecordingPart
from vm_bridge.recording.mp4 import Mp4Part
from vm_bridge.streams.broadcast import Broadcast, BroadcastFrame
from vm_bridge.streams.packets import PacketQueue, QueuedPacket

logger = logging.getLogger(__name__)

FRAMES_PER_KEY_FRAME = 150
"""Whoever seeks decodes at most so many pictures; a screen that rests needs no key frame for it."""
MAX_PART_BYTES = 24 * 2**20
"""A part this large ends with the next key frame."""
MAX_RECORDING_BYTES = 512 * 2**20
"""A recording this large ends."""


class RecordingWriter:
    """Writes parts into `folder`: a new one when the picture's size changes, and when the last is large enough.

    `changed` is told the parts whenever one begins or ends; `ended` is called when all are whole.
    """

    wants_packets = True

    def __init__(
        self,
        broadcast: Broadcast,
        folder: Path,
        *,
        changed: Callable[[tuple[RecordingPart, ...]], None],
        ended: Callable[[], None],
    ) -> None:
        self._parts: tuple[RecordingPart, ...] = ()
        self._full = False
        self._broadcast = broadcast
        self._folder = folder
        self._changed = changed
        self._ended = ended
        self._queue = PacketQueue(broadcast.request_key)
        self._part: Mp4Part | None = None
        self._size = (0, 0)
        self._since_key = 0
        self._task = asyncio.create_task(self._run())
        self._task.add_done_callback(self._done)
        broadcast.join(self)

    @property
    def rate(self) -> int:
        """A disk sets no pace."""
        return self._broadcast.bitrate

    def offer(self, frame: BroadcastFrame) -> None:
        self._queue.offer(frame)

    def end(self) -> None:
        self._queue.end()

    async def stop(self) -> None:
        """Write what has come, and end. Idempotent."""
        self._broadcast.leave(self)
        self._queue.close()
        await asyncio.wait({self._task})

    async def _run(self) -> None:
        try:
            while not self._full and (queued := await self._queue.get()) is not None:
                await asyncio.to_thread(self._write, queued)
                self._pace(queued)
        finally:
            self._broadcast.leave(self)
            await asyncio.to_thread(self._finish)

    def _pace(self, queued: QueuedPacket) -> None:
        """See that key frames come often enough, and that the file ends in time."""
        assert self._part is not None
        self._since_key = 0 if queued.packet.is_keyframe else self._since_key + 1
        if self._since_key >= FRAMES_PER_KEY_FRAME or self._part.size > MAX_PART_BYTES:
            self._broadcast.request_key()
        self._full = self._part.size + sum(part.size for part in self._parts) > MAX_RECORDING_BYTES

    def _write(self, queued: QueuedPacket) -> None:
        packet, size = queued.packet, (queued.width, queued.height)
        large = self._part is not None and self._part.size > MAX_PART_BYTES
        if self._part is not None and not (packet.is_keyframe and (large or size != self._size)):
            self._part.write(packet)
            return
        self._finish()
        path = self._folder / f"{len(self._parts)}.mp4"
        self._part, self._size = Mp4Part(path, packet, width=queued.width, height=queued.height), size
        started = datetime.fromtimestamp(self._part.started_at, UTC)
        self._parts += (RecordingPart(number=len(self._parts), started_at=started, ended_at=None, size=0),)
        self._changed(self._parts)

    def _finish(self) -> None:
        if self._part is None:
            return
        now = time.time()
        self._part.finish(now)
        ended = {"ended_at": datetime.fromtimestamp(now, UTC), "size": self._part.path.stat().st_size}
        self._parts = (*self._parts[:-1], self._parts[-1].model_copy(update=ended))
        self._part = None
        self._changed(self._parts)

    def _done(self, task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("a recording failed; the part that was written is kept", exc_info=error)
        self._ended()
