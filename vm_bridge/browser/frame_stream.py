"""A session's live picture. Nothing is captured without viewers."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import numpy as np
import simplejpeg

from vm_bridge.browser.errors import BrowserFailed
from vm_bridge.browser.interfaces import ScreenshotSource
from vm_bridge.sandbox import Frame

QUALITY = 90
RETRY_SECONDS = 1.0
"""Delay after a failed picture."""


class FrameStream:
    """Frames of the active page, captured once for all viewers."""

    def __init__(self, source: ScreenshotSource) -> None:
        self._source = source
        self._rates: list[float] = []
        self._stale = asyncio.Event()
        self._stale.set()
        self._new_frame = asyncio.Condition()
        self._last: Frame | None = None
        self._jpeg = b""
        self._capture_task: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def watched(self) -> bool:
        return bool(self._rates)

    def touch(self) -> None:
        """The display may have changed."""
        self._stale.set()

    async def close(self) -> None:
        """End all subscriptions. Idempotent."""
        self._closed = True
        if self._capture_task is not None:
            self._capture_task.cancel()
        async with self._new_frame:
            self._new_frame.notify_all()

    @asynccontextmanager
    async def subscribe(self, *, fps: float) -> AsyncIterator[AsyncIterator[Frame]]:
        """See `FrameSource.subscribe`."""
        self._rates.append(fps)
        if self._capture_task is None or self._capture_task.done():
            self._stale.set()
            self._capture_task = asyncio.create_task(self._capture_frames())
        try:
            yield self._frames(fps)
        finally:
            self._rates.remove(fps)
            if not self._rates and self._capture_task is not None:
                self._capture_task.cancel()
                self._capture_task = None

    async def _frames(self, fps: float) -> AsyncIterator[Frame]:
        seen = -1
        while not self._closed:
            async with self._new_frame:
                while not self._closed and (self._last is None or self._last.serial == seen):
                    await self._new_frame.wait()
                frame = self._last
            if self._closed or frame is None:
                return
            seen = frame.serial
            began = time.monotonic()
            yield frame
            await asyncio.sleep(max(0.0, 1 / fps - (time.monotonic() - began)))

    async def _capture_frames(self) -> None:
        while True:
            await self._stale.wait()
            self._stale.clear()
            began = time.monotonic()
            try:
                jpeg = await self._source.picture("jpeg", QUALITY, passive=True)
            except BrowserFailed:
                await asyncio.sleep(RETRY_SECONDS)
                self._stale.set()
                continue
            if jpeg != self._jpeg:
                await self._publish(await asyncio.to_thread(_decode, jpeg))
                self._jpeg = jpeg  # only now: a cancelled capture must not hide this picture from the next viewer
            if self._rates:
                await asyncio.sleep(max(0.0, 1 / max(self._rates) - (time.monotonic() - began)))

    async def _publish(self, pixels: "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]") -> None:
        serial = self._last.serial + 1 if self._last is not None else 1
        height, width = pixels.shape[:2]
        async with self._new_frame:
            self._last = Frame(serial, time.time(), width, height, pixels.data.cast("B"))
            self._new_frame.notify_all()


def _decode(jpeg: bytes) -> "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]":
    pixels: np.ndarray[tuple[int, ...], np.dtype[np.uint8]] = simplejpeg.decode_jpeg(jpeg, colorspace="BGRX")
    return np.ascontiguousarray(pixels)
