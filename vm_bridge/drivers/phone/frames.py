"""Frames of a phone: single captures by `screencap`, video by `screenrecord`."""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace
from struct import Struct

import av
import numpy as np
from av.codec.context import Flags

from vm_bridge.drivers.phone.adb import AdbRequestFailed, Device
from vm_bridge.drivers.remote.captures import CaptureSource
from vm_bridge.sandbox import Frame

MAX_CAPTURE_BYTES = 64 * 1024 * 1024
CAPTURE_HEADERS = (Struct("<IIII"), Struct("<III"))
"""Headers before the pixels: width, height, format, and on newer phones a colour space."""


class Screencap(CaptureSource):
    """Pictures from the phone's own `screencap`. Needs nothing installed on the phone."""

    def __init__(self, device: Device) -> None:
        super().__init__()
        self._device = device

    def attach(self, device: Device) -> None:
        """Capture from this device from now on."""
        self._device = device

    async def capture(self) -> tuple[int, int, bytes]:
        """See `CaptureSource.capture`."""
        return decode_screencap(await self._device.raw("screencap", most=MAX_CAPTURE_BYTES))


def decode_screencap(captured: bytes) -> tuple[int, int, bytes]:
    """Width, height and BGRX pixels of `screencap` output. Raises AdbRequestFailed if it is not a picture."""
    for header in CAPTURE_HEADERS:
        if len(captured) < header.size:
            continue
        width, height = header.unpack_from(captured)[:2]
        if len(captured) == header.size + width * height * 4 > header.size:
            rgba = np.frombuffer(captured, np.uint8, offset=header.size).reshape(-1, 4)
            return width, height, rgba[:, [2, 1, 0, 3]].tobytes()
    raise AdbRequestFailed("the phone gave no picture")


RECORD = ("screenrecord", "--output-format=h264", "--bit-rate=8000000", "--time-limit=180", "-")
"""Three minutes is the maximum of `screenrecord`; then it is restarted."""
FIRST_FRAME_SECONDS = 20.0
"""A recording without a picture for this long after its start has failed."""
MAX_ATTEMPTS = 2
"""Consecutive recordings without a picture after which the phone's recorder counts as unusable."""
IDLE_SECONDS = 0.05
"""After this long without data, the data so far is a whole picture: a recorder writes a picture at once (seconds)."""
ROTATION_POLL_SECONDS = 1.0
"""Interval of rotation checks: a recording keeps its first size and shrinks the picture into it (seconds)."""
SCREEN_SIZE_PATTERN = re.compile(r"\bcur=(\d+)x(\d+)")
CHUNK = 256 * 1024


class ScreenrecordUnusable(Exception):
    """The phone has no screen recorder, or one that does not show the screen as it is."""


class PhoneVideo:
    """Frames for viewers: one recording for all of them, and none without viewers. They have the video encoder's
    losses; exact pictures come from `still`."""

    def __init__(self, device: Device, still: Screencap) -> None:
        self._device, self._still = device, still
        self._viewers = 0
        self._recording: asyncio.Task[None] | None = None
        self._latest: Frame | None = None
        self._moved = asyncio.Event()
        self._closed = False
        self._unfit = False

    def close(self) -> None:
        """End every subscription."""
        self._closed = True
        self._move()

    @asynccontextmanager
    async def subscribe(self, *, fps: float) -> AsyncIterator[AsyncIterator[Frame]]:
        """See `FrameSource.subscribe`."""
        self._viewers += 1
        if self._recording is None and not self._unfit:
            self._recording = asyncio.create_task(self._record())
        try:
            async with aclosing(self._frames(fps)) as frames:
                yield frames
        finally:
            self._viewers -= 1
            if not self._viewers and self._recording is not None:
                recording, self._recording, self._latest = self._recording, None, None
                recording.cancel()
                await asyncio.wait({recording})

    async def _frames(self, fps: float) -> AsyncGenerator[Frame, None]:
        serial = 0
        while not self._closed:
            moved, latest = self._moved, self._latest
            if self._unfit:
                async with self._still.subscribe(fps=fps) as frames:
                    async for frame in frames:
                        yield replace(frame, serial=serial + frame.serial)
                return
            if latest is not None and latest.serial != serial:
                serial = latest.serial
                yield latest
                await asyncio.sleep(1 / fps)
            elif self._recording is None or self._recording.done():
                return  # the phone is gone
            else:
                await moved.wait()

    async def _record(self) -> None:
        """Record repeatedly until the phone is gone or its recorder is unusable."""
        empty = 0
        try:
            while not self._closed and empty < MAX_ATTEMPTS:
                lies = await self._screen_size()
                turned = asyncio.create_task(self._wait_rotation(lies))
                following: asyncio.Task[bool] = asyncio.create_task(self._decode_recording(lies))
                try:
                    done, _ = await asyncio.wait((turned, following), return_when=asyncio.FIRST_COMPLETED)
                finally:
                    turned.cancel()
                    following.cancel()
                    await asyncio.wait((turned, following))
                for task in done:
                    task.result()
                empty = empty + 1 if following in done and not following.result() else 0
            self._unfit = empty == MAX_ATTEMPTS
        except ScreenrecordUnusable:
            self._unfit = True
        except AdbRequestFailed:
            pass  # it is gone; subscriptions end
        finally:
            self._recording = None if asyncio.current_task() is self._recording else self._recording
            self._move()

    async def _decode_recording(self, size: tuple[int, int]) -> bool:
        """Decode one recording to its end. Returns whether it had a picture. Raises ScreenrecordUnusable,
        AdbRequestFailed."""
        decoder = H264Decoder()
        seen = False
        began = time.monotonic()
        async with self._device.stream_output(*RECORD) as reader:
            reading = asyncio.ensure_future(reader.read(CHUNK))
            try:
                while True:
                    done, _ = await asyncio.wait({reading}, timeout=IDLE_SECONDS)
                    data = reading.result() if done else b""
                    if done and data:
                        reading = asyncio.ensure_future(reader.read(CHUNK))
                    shown = await asyncio.to_thread(decoder.newest, data)
                    if shown is not None:
                        seen = True
                        self._show(*shown, size)
                    if done and not data:
                        break
                    if not seen and time.monotonic() > began + FIRST_FRAME_SECONDS:
                        break
            finally:
                reading.cancel()
                with suppress(asyncio.CancelledError):
                    await asyncio.wait({reading})
        return seen

    def _show(self, width: int, height: int, pixels: bytes, size: tuple[int, int]) -> None:
        """Raises ScreenrecordUnusable for a size other than the screen's: some phones record a smaller one."""
        if (width, height) != (size[0] & ~1, size[1] & ~1):
            raise ScreenrecordUnusable
        serial = self._latest.serial + 1 if self._latest is not None else 1
        self._latest = Frame(serial, time.time(), width, height, memoryview(pixels))
        self._move()

    async def _screen_size(self) -> tuple[int, int]:
        """Width and height of the screen in its current rotation. Raises ScreenrecordUnusable, AdbRequestFailed."""
        found = SCREEN_SIZE_PATTERN.search(await self._device.checked_output("dumpsys", "window", "displays"))
        if found is None:
            raise ScreenrecordUnusable
        return int(found[1]), int(found[2])

    async def _wait_rotation(self, size: tuple[int, int]) -> None:
        """Wait until the phone is rotated. Raises ScreenrecordUnusable, AdbRequestFailed."""
        while await self._screen_size() == size:  # noqa: ASYNC110 (a phone tells nobody that it was turned)
            await asyncio.sleep(ROTATION_POLL_SECONDS)

    def _move(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()


class H264Decoder:
    """Decodes pictures from a byte stream without frame markers."""

    def __init__(self) -> None:
        self._codec = av.CodecContext.create("h264", "r")
        self._codec.thread_count = 1
        self._codec.flags |= Flags.low_delay

    def newest(self, data: bytes) -> tuple[int, int, bytes] | None:
        """Width, height and BGRX pixels of the last picture that the data completes. Empty data means that the previous
        data is complete. None if there is none, or it cannot be decoded."""
        picture: av.VideoFrame | None = None
        with suppress(av.error.InvalidDataError):
            for packet in self._codec.parse(data):
                picture = ([picture, *self._codec.decode(packet)])[-1]
        if picture is None:
            return None
        shown = picture.reformat(format="bgra").to_ndarray()
        return picture.width, picture.height, shown.tobytes()
