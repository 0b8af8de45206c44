"""The picture of a machine without a desktop."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import numpy as np
import numpy.typing as npt

from vm_bridge.sandbox import Frame

Pixels = npt.NDArray[np.uint8]


class FakeScreen:
    """BGRX pixels that tests may paint on; `touch` tells the viewers that they changed."""

    def __init__(self, width: int, height: int, blank: Callable[[int, int], Pixels]) -> None:
        self.size = (width, height)
        self.serial = 0
        self.viewers = 0
        self.closed = False
        self._blank = blank
        self._pixels: Pixels | None = None
        self._changed = asyncio.Event()

    @property
    def pixels(self) -> Pixels:
        """Painted when first looked at: of five thousand machines most are never seen."""
        if self._pixels is None:
            self._pixels = self._blank(*self.size)
        return self._pixels

    @property
    def nbytes(self) -> int:
        """What the picture takes."""
        return 0 if self._pixels is None else self._pixels.nbytes

    def clear(self) -> None:
        """Back to the blank picture."""
        self._pixels = None
        self.touch()

    def touch(self) -> None:
        self.serial += 1
        self._wake()

    def close(self) -> None:
        self.closed = True
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    @asynccontextmanager
    async def subscribe(self, *, fps: float) -> AsyncIterator[AsyncIterator[Frame]]:
        """See `FrameSource.subscribe`."""
        self.viewers += 1
        try:
            yield self._frames(1 / fps)
        finally:
            self.viewers -= 1

    async def _frames(self, interval: float) -> AsyncIterator[Frame]:
        shown, due = -1, 0.0
        while not self.closed:
            changed = self._changed
            if self.serial == shown:
                await changed.wait()
                continue
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            due = time.monotonic() + interval
            shown = self.serial
            height, width = self.pixels.shape[:2]
            yield Frame(shown, time.time(), width, height, self.pixels.copy().data.cast("B"))
