"""Pictures of a phone: those it captures where it has no better source, and the watch that tells when they rest."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from struct import Struct

import numpy as np

from vm_bridge.drivers.phone_adb import AdbRefused, Device
from vm_bridge.errors import MachineGone
from vm_bridge.sandbox import Frame, FrameSource
from vocabulary.observations import Rest

MAX_PICTURE = 64 * 1024 * 1024
HEADERS = (Struct("<IIII"), Struct("<III"))
"""Before the pixels: width, height, format, and on newer phones a colour space."""
FIRST_SECONDS = 10.0
WATCH_FPS = 30


class Screencap:
    """The picture as the phone's own `screencap` gives it, a few times a second. Needs nothing on the phone."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._closed = False
        self._latest: tuple[float, Frame] | None = None
        self._capturing = asyncio.Lock()

    def attach(self, device: Device) -> None:
        """Look at this device from now on."""
        self._device = device

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
            asked = time.monotonic()
            try:
                frame = await self._captured(asked)
            except AdbRefused:
                return
            if frame.serial != serial:
                serial = frame.serial
                yield frame
            await asyncio.sleep(max(0.0, asked + interval - time.monotonic()))

    async def _captured(self, asked: float) -> Frame:
        """A picture not older than `asked`; all who ask meanwhile share one. Raises AdbRefused."""
        async with self._capturing:
            if self._latest is not None and self._latest[0] >= asked:
                return self._latest[1]
            began, at = time.monotonic(), time.time()
            width, height, pixels = picture_read(await self._device.raw("screencap", most=MAX_PICTURE))
            frame = Frame(1, at, width, height, memoryview(pixels))
            if self._latest is not None:
                last = self._latest[1]
                same = (last.width, last.height, last.pixels) == (width, height, frame.pixels)
                frame = last if same else Frame(last.serial + 1, at, width, height, frame.pixels)
            self._latest = (began, frame)
            return frame


def picture_read(captured: bytes) -> tuple[int, int, bytes]:
    """Width, height and BGRX pixels of what `screencap` wrote. Raises AdbRefused when it is no picture."""
    for header in HEADERS:
        if len(captured) < header.size:
            continue
        width, height = header.unpack_from(captured)[:2]
        if len(captured) == header.size + width * height * 4 > header.size:
            rgba = np.frombuffer(captured, np.uint8, offset=header.size).reshape(-1, 4)
            return width, height, rgba[:, [2, 1, 0, 3]].tobytes()
    raise AdbRefused("the phone gave no picture")


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture that stays: BGRX, one row after another; `at` is seconds since the epoch."""

    serial: int
    at: float
    width: int
    height: int
    pixels: bytes


class Watch:
    """The newest picture of a phone, for as long as somebody acts on it or looks."""

    def __init__(self) -> None:
        self._shot: Shot | None = None
        self._moved = asyncio.Event()
        self._changed_at = 0.0

    @property
    def shot(self) -> Shot:
        """Raises MachineGone before the first."""
        if self._shot is None:
            raise MachineGone("the phone gives no picture")
        return self._shot

    async def settle(self, hurry: asyncio.Event, *, since: float, quiet: float, limit: float) -> Rest:
        """Wait until the picture stands still for `quiet` seconds after `since`, at most until `limit` after it."""
        while not hurry.is_set():
            now = time.monotonic()
            rests_at = max(since, self._changed_at) + quiet
            if rests_at <= now:
                return "rested"
            if since + limit <= now:
                return "timeout"
            self._moved.clear()
            await _either(hurry, self._moved, min(rests_at, since + limit) - now)
        return "hurried"

    async def keep(self, frames: AsyncIterator[Frame]) -> None:
        """Take every picture that comes."""
        async for frame in frames:
            self._shot = Shot(frame.serial, frame.captured_at, frame.width, frame.height, bytes(frame.pixels))
            self._changed_at = time.monotonic()
            self._moved.set()
        self._moved.set()

    async def begin(self) -> None:
        """Returns when there is a picture. Raises MachineGone when there is none."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FIRST_SECONDS):
                await self._moved.wait()
        _ = self.shot


@asynccontextmanager
async def watching(source: FrameSource) -> AsyncIterator[Watch]:
    """Look at a phone from its present picture on. Raises MachineGone when it gives none."""
    watch = Watch()
    async with source.subscribe(fps=WATCH_FPS) as frames:
        keeping = asyncio.create_task(watch.keep(frames))
        try:
            await watch.begin()
            yield watch
        finally:
            keeping.cancel()
            await asyncio.wait({keeping})


async def _either(first: asyncio.Event, second: asyncio.Event, seconds: float) -> None:
    waits = {asyncio.create_task(event.wait()) for event in (first, second)}
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
