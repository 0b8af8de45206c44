"""Pictures of machines that are seen only when they are asked, and the watch that tells when a picture rests."""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass

from protocol.trajectory.observations import Rest
from vm_bridge.drivers.remote.errors import TransportError
from vm_bridge.errors import MachineGone
from vm_bridge.sandbox import Frame, FrameSource

FIRST_FRAME_SECONDS = 30.0
WATCH_FPS = 30


class CaptureSource(ABC):
    """The picture of a machine that gives one whenever it is asked, a few times a second."""

    def __init__(self) -> None:
        self._closed = False
        self._latest: tuple[float, Frame] | None = None
        self._capturing = asyncio.Lock()

    @abstractmethod
    async def capture(self) -> tuple[int, int, bytes]:
        """Width, height and BGRX pixels of the present picture. Raises TransportError."""

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
        """A picture not older than `asked`; all who ask meanwhile share one. Raises TransportError."""
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


@dataclass(frozen=True, slots=True)
class CapturedFrame:
    """A picture that stays: BGRX, one row after another; `at` is seconds since the epoch."""

    serial: int
    at: float
    width: int
    height: int
    pixels: bytes


class FrameWatcher:
    """The newest picture of a machine, for as long as somebody acts on it or looks."""

    def __init__(self) -> None:
        self._shot: CapturedFrame | None = None
        self._moved = asyncio.Event()
        self._changed_at = 0.0

    @property
    def shot(self) -> CapturedFrame:
        """Raises MachineGone before the first."""
        if self._shot is None:
            raise MachineGone("the machine gives no picture")
        return self._shot

    async def settle(self, skip_settle: asyncio.Event, *, since: float, quiet: float, limit: float) -> Rest:
        """Wait until the picture stands still for `quiet` seconds after `since`, at most until `limit` after it."""
        while not skip_settle.is_set():
            now = time.monotonic()
            rests_at = max(since, self._changed_at) + quiet
            if rests_at <= now:
                return "rested"
            if since + limit <= now:
                return "timeout"
            self._moved.clear()
            await wait_either(skip_settle, self._moved, min(rests_at, since + limit) - now)
        return "hurried"

    async def keep(self, frames: AsyncIterator[Frame]) -> None:
        """Take every picture that comes."""
        async for frame in frames:
            self._shot = CapturedFrame(frame.serial, frame.captured_at, frame.width, frame.height, bytes(frame.pixels))
            self._changed_at = time.monotonic()
            self._moved.set()
        self._moved.set()

    async def begin(self) -> None:
        """Returns when there is a picture. Raises MachineGone when there is none."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FIRST_FRAME_SECONDS):
                await self._moved.wait()
        _ = self.shot


@asynccontextmanager
async def watch_frames(source: FrameSource) -> AsyncIterator[FrameWatcher]:
    """Look at a machine from its present picture on. Raises MachineGone when it gives none."""
    watch = FrameWatcher()
    async with source.subscribe(fps=WATCH_FPS) as frames:
        keeping = asyncio.create_task(watch.keep(frames))
        try:
            await watch.begin()
            yield watch
        finally:
            keeping.cancel()
            await asyncio.wait({keeping})


async def wait_either(first: asyncio.Event, second: asyncio.Event, seconds: float) -> None:
    waits = {asyncio.create_task(event.wait()) for event in (first, second)}
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
