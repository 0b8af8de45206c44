"""Still frames: each part is one picture, whatever is done to the shared memory meanwhile."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import numpy as np
import simplejpeg

from vm_bridge.sandbox import Frame
from vm_bridge.streams.stills import stream_stills

WIDTH, HEIGHT = 1920, 1080


class Shared:
    """One picture in memory that others overwrite as soon as the event loop turns."""

    def __init__(self) -> None:
        self.pixels = np.full((HEIGHT, WIDTH, 4), 200, np.uint8)

    @asynccontextmanager
    async def subscribe(self, *, fps: float) -> AsyncIterator[AsyncIterator[Frame]]:
        yield self._frames()

    async def _frames(self) -> AsyncIterator[Frame]:
        asyncio.get_running_loop().call_soon(lambda: asyncio.get_running_loop().call_soon(self.pixels.fill, 0))
        yield Frame(1, time.time(), WIDTH, HEIGHT, self.pixels.data.cast("B"))
        await asyncio.Event().wait()


async def test_a_picture_is_whole_though_its_memory_is_used_again() -> None:
    parts = stream_stills(Shared(), asyncio.Event())
    part = await anext(parts)
    await parts.aclose()  # type: ignore[attr-defined]
    body = part.partition(b"\r\n\r\n")[2][:-2]
    image = simplejpeg.decode_jpeg(body, colorspace="GRAY")
    assert (image.min(), image.max()) == (200, 200)
