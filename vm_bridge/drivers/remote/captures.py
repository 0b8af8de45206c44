"""Pictures of machines that send a picture only on request."""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager

from vm_bridge.drivers.remote.errors import TransportError
from vm_bridge.sandbox import Frame


class CaptureSource(ABC):
    """Polls the picture of a machine, a few times a second."""

    def __init__(self) -> None:
        self._closed = False
        self._latest: tuple[float, Frame] | None = None
        self._capturing = asyncio.Lock()

    @abstractmethod
    async def capture(self) -> tuple[int, int, bytes]:
        """Width, height and BGRX pixels of the current picture. Raises TransportError."""

    def close(self) -> None:
        """End every subscription."""
        self._closed = True

    @asynccontextmanager
    async def subscribe(self, *, fps: float) -> AsyncIterator[AsyncIterator[Frame]]:
        """See `FrameSource.subscribe`."""
        async with aclosing(self._frames(1 / fps)) as frames:
            yield frames

    async def _frames(self, interval: float) -> AsyncGenerator[Frame, None]:
        serial = 0
        while not self._closed:
            requested = time.monotonic()
            try:
                frame = await self._captured(requested)
            except TransportError:
                return
            if frame.serial != serial:
                serial = frame.serial
                yield frame
            await asyncio.sleep(max(0.0, requested + interval - time.monotonic()))

    async def _captured(self, requested: float) -> Frame:
        """A picture not older than `requested`. Concurrent requests share one. Raises TransportError."""
        async with self._capturing:
            if self._latest is not None and self._latest[0] >= requested:
                return self._latest[1]
            began, at = time.monotonic(), time.time()
            width, height, pixels = await self.capture()
            frame = Frame(1, at, width, height, memoryview(pixels))
            if self._latest is not None:
                last = self._latest[1]
                same = (last.width, last.height, last.pixels) == (width, height, frame.pixels)
                frame = last if same else Frame(last.serial + 1, at, width, height, frame.pixels)
            self._latest = (began, frame)
            return frame
