"""Watches the picture of a machine: when it rests, and when it shows an expected picture."""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from protocol.blobs import BlobRef
from protocol.trajectory.observations import Rest
from vm_bridge.errors import MachineGone
from vm_bridge.sandbox import Frame, FrameSource

FIRST_FRAME_SECONDS = 30.0
WATCH_FPS = 30


@dataclass(frozen=True, slots=True)
class CapturedFrame:
    """A copied picture: BGRX, row by row; `at` is seconds since the epoch."""

    serial: int
    at: float
    width: int
    height: int
    pixels: bytes


class ExpectedPicture:
    """A picture that the screen is expected to show.

    Args:
        ref: The picture.
        encode: Makes the bytes of a captured frame.
    """

    def __init__(self, ref: BlobRef, encode: Callable[[CapturedFrame], bytes]) -> None:
        self._ref, self._encode = ref, encode
        self._looked_at: CapturedFrame | None = None

    async def is_shown(self, shot: CapturedFrame) -> bool:
        """Whether a frame is this picture. Checks each frame once."""
        if shot is self._looked_at:
            return False
        self._looked_at = shot
        data = await asyncio.to_thread(self._encode, shot)
        return hashlib.sha256(data).hexdigest() == self._ref.sha256


class FrameWatcher:
    """The newest picture of a machine during an action or an observation."""

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

    async def settle(
        self,
        skip_settle: asyncio.Event,
        *,
        since: float,
        quiet: float,
        limit: float,
        awaited: ExpectedPicture | None = None,
    ) -> Rest:
        """Wait until the picture has not changed for `quiet` seconds after `since`, or is the awaited picture, at most
        until `limit` seconds after `since`."""
        while not skip_settle.is_set():
            self._moved.clear()
            shot = self.shot
            if awaited is not None and await awaited.is_shown(shot) and shot is self.shot:
                return "rested"
            now = time.monotonic()
            rests_at = max(since, self._changed_at) + quiet
            if rests_at <= now:
                return "rested"
            if since + limit <= now:
                return "timeout"
            await wait_either(skip_settle, self._moved, min(rests_at, since + limit) - now)
        return "hurried"

    async def keep(self, frames: AsyncIterator[Frame]) -> None:
        """Store every arriving picture."""
        async for frame in frames:
            self._shot = CapturedFrame(frame.serial, frame.captured_at, frame.width, frame.height, bytes(frame.pixels))
            self._changed_at = time.monotonic()
            self._moved.set()
        self._moved.set()

    async def wait_for(self, awaited: ExpectedPicture) -> None:
        """Wait until the newest picture is the awaited one."""
        while True:
            self._moved.clear()
            shot = self.shot
            if await awaited.is_shown(shot) and shot is self.shot:
                return
            await self._moved.wait()

    async def begin(self) -> None:
        """Wait for the first picture. Raises MachineGone if there is none."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FIRST_FRAME_SECONDS):
                await self._moved.wait()
        _ = self.shot


@asynccontextmanager
async def watch_frames(source: FrameSource) -> AsyncIterator[FrameWatcher]:
    """Watch a machine from its current picture on. Raises MachineGone if it has none."""
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
