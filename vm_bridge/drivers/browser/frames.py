"""The live picture of a browser machine, across its sessions."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any

from vm_bridge.errors import MachineGone
from vm_bridge.sandbox import Frame, FrameSource


class BrowserFrames:
    """Frames of one session after another. `present` returns the current session's source, and opens a session if there
    is none.
    """

    def __init__(self, present: Callable[[], Awaitable[FrameSource]]) -> None:
        self.watchers = 0
        """Number of viewers."""
        self._present = present
        self._moved = asyncio.Event()
        self._closed = False
        self._serial = 0

    def move(self) -> None:
        """The session has changed, or soon will."""
        self._moved.set()
        self._moved = asyncio.Event()

    def close(self) -> None:
        """End every subscription."""
        self._closed = True
        self.move()

    @asynccontextmanager
    async def subscribe(self, *, fps: float) -> AsyncIterator[AsyncIterator[Frame]]:
        """See `FrameSource.subscribe`."""
        self.watchers += 1
        try:
            async with aclosing(self._frames(fps)) as frames:
                yield frames
        finally:
            self.watchers -= 1

    async def _frames(self, fps: float) -> AsyncGenerator[Frame, None]:
        while not self._closed:
            moved = self._moved
            try:
                source = await self._present()
            except MachineGone:
                return
            async with source.subscribe(fps=fps) as frames:
                async for frame in _until(moved, frames):
                    self._serial += 1
                    yield replace(frame, serial=self._serial)
            if not moved.is_set() and not self._closed:
                await moved.wait()  # the session has ended, and its machine is notified soon


async def _until(over: asyncio.Event, frames: AsyncIterator[Frame]) -> AsyncGenerator[Frame, None]:
    """Yield frames until they end or `over` is set."""
    ended: asyncio.Future[Any] = asyncio.ensure_future(over.wait())
    pending: asyncio.Future[Any] = asyncio.ensure_future(_next(frames))
    try:
        while True:
            await asyncio.wait({ended, pending}, return_when=asyncio.FIRST_COMPLETED)
            if ended.done() or (frame := pending.result()) is None:
                return
            yield frame
            pending = asyncio.ensure_future(_next(frames))
    finally:
        ended.cancel()
        pending.cancel()
        await asyncio.wait({ended, pending})  # a source cannot close during a request


async def _next(frames: AsyncIterator[Frame]) -> Frame | None:
    return await anext(frames, None)
