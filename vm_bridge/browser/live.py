"""A session's live picture. Nothing is taken while nobody watches."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import numpy as np
import simplejpeg

from vm_bridge.browser.errors import BrowserFailed
from vm_bridge.sandbox import Frame

if TYPE_CHECKING:
    from vm_bridge.browser.session import Session

QUALITY = 90
AGAIN_SECONDS = 1.0
"""After a picture that failed."""


class Live:
    """Frames of the active page, taken once for all who watch."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._rates: list[float] = []
        self._stale = asyncio.Event()
        self._stale.set()
        self._news = asyncio.Condition()
        self._last: Frame | None = None
        self._jpeg = b""
        self._taking: asyncio.Task[None] | None = None
        self._over = False

    @property
    def watched(self) -> bool:
        return bool(self._rates)

    def touch(self) -> None:
        """What is shown may have changed."""
        self._stale.set()

    async def close(self) -> None:
        """Everybody's frames end. Idempotent."""
        self._over = True
        if self._taking is not None:
            self._taking.cancel()
        async with self._news:
            self._news.notify_all()

    @asynccontextmanager
    async def subscribe(self, *, fps: float) -> AsyncIterator[AsyncIterator[Frame]]:
        """See `FrameSource.subscribe`."""
        self._rates.append(fps)
        if self._taking is None or self._taking.done():
            self._stale.set()
            self._taking = asyncio.create_task(self._take())
        try:
            yield self._frames(fps)
        finally:
            self._rates.remove(fps)
            if not self._rates and self._taking is not None:
                self._taking.cancel()
                self._taking = None

    async def _frames(self, fps: float) -> AsyncIterator[Frame]:
        seen = -1
        while not self._over:
            async with self._news:
                while not self._over and (self._last is None or self._last.serial == seen):
                    await self._news.wait()
                frame = self._last
            if self._over or frame is None:
                return
            seen = frame.serial
            began = time.monotonic()
            yield frame
            await asyncio.sleep(max(0.0, 1 / fps - (time.monotonic() - began)))

    async def _take(self) -> None:
        while True:
            await self._stale.wait()
            self._stale.clear()
            began = time.monotonic()
            try:
                jpeg = await self._session.picture("jpeg", QUALITY, aside=True)
            except BrowserFailed:
                await asyncio.sleep(AGAIN_SECONDS)
                self._stale.set()
                continue
            if jpeg != self._jpeg:
                await self._show(await asyncio.to_thread(_decode, jpeg))
                self._jpeg = jpeg  # only now: whoever watches next must not miss what this one was ended in
            if self._rates:
                await asyncio.sleep(max(0.0, 1 / max(self._rates) - (time.monotonic() - began)))

    async def _show(self, pixels: "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]") -> None:
        serial = self._last.serial + 1 if self._last is not None else 1
        height, width = pixels.shape[:2]
        async with self._news:
            self._last = Frame(serial, time.time(), width, height, pixels.data.cast("B"))
            self._news.notify_all()


def _decode(jpeg: bytes) -> "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]":
    pixels: np.ndarray[tuple[int, ...], np.dtype[np.uint8]] = simplejpeg.decode_jpeg(jpeg, colorspace="BGRX")
    return np.ascontiguousarray(pixels)
