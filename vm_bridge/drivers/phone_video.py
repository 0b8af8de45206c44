"""The live picture of a real phone: its own `screenrecord`, decoded; `screencap` where it has none that fits."""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace

import av
from av.codec.context import Flags

from vm_bridge.drivers.phone_adb import AdbRefused, Device
from vm_bridge.drivers.phone_frames import Screencap
from vm_bridge.sandbox import Frame

RECORD = ("screenrecord", "--output-format=h264", "--bit-rate=8000000", "--time-limit=180", "-")
"""Three minutes is the longest it takes; then it is started again."""
FIRST_SECONDS = 20.0
"""A recording that has no picture for so long after its start gets none."""
TRIES = 2
"""So many recordings without a picture, one after another, mean that the phone has no recorder worth the name."""
IDLE = 0.05
"""When nothing came for so long, what came is a whole picture: a recorder writes one at once (seconds)."""
TURN_POLL = 1.0
"""How often to ask how the phone lies: a recording keeps its first size and shrinks the picture into it (seconds)."""
LIES = re.compile(r"\bcur=(\d+)x(\d+)")
CHUNK = 256 * 1024


class Unfit(Exception):
    """The phone has no recorder, or one that does not show the screen as it is."""


class Video:
    """Frames for viewers, one recording for all of them and none while nobody looks. They are what the phone's encoder
    left of the screen; what must be exact is taken from `still`."""

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
                return  # the phone has gone
            else:
                await moved.wait()

    async def _record(self) -> None:
        """Recording after recording, until the phone goes or proves unfit."""
        empty = 0
        try:
            while not self._closed and empty < TRIES:
                lies = await self._lies()
                turned = asyncio.create_task(self._turned(lies))
                following: asyncio.Task[bool] = asyncio.create_task(self._follow(lies))
                try:
                    done, _ = await asyncio.wait((turned, following), return_when=asyncio.FIRST_COMPLETED)
                finally:
                    turned.cancel()
                    following.cancel()
                    await asyncio.wait((turned, following))
                for task in done:
                    task.result()
                empty = empty + 1 if following in done and not following.result() else 0
            self._unfit = empty == TRIES
        except Unfit:
            self._unfit = True
        except AdbRefused:
            pass  # it has gone; subscriptions end
        finally:
            self._recording = None if asyncio.current_task() is self._recording else self._recording
            self._move()

    async def _follow(self, size: tuple[int, int]) -> bool:
        """One recording to its end; whether it had a picture. Raises Unfit, AdbRefused."""
        decoder = Decoder()
        seen = False
        began = time.monotonic()
        async with self._device.streamed(*RECORD) as reader:
            reading = asyncio.ensure_future(reader.read(CHUNK))
            try:
                while True:
                    done, _ = await asyncio.wait({reading}, timeout=IDLE)
                    data = reading.result() if done else b""
                    if done and data:
                        reading = asyncio.ensure_future(reader.read(CHUNK))
                    shown = await asyncio.to_thread(decoder.newest, data)
                    if shown is not None:
                        seen = True
                        self._show(*shown, size)
                    if done and not data:
                        break
                    if not seen and time.monotonic() > began + FIRST_SECONDS:
                        break
            finally:
                reading.cancel()
                with suppress(asyncio.CancelledError):
                    await asyncio.wait({reading})
        return seen

    def _show(self, width: int, height: int, pixels: bytes, size: tuple[int, int]) -> None:
        """Raises Unfit for another size than the screen's: some phones record a smaller one."""
        if (width, height) != (size[0] & ~1, size[1] & ~1):
            raise Unfit
        serial = self._latest.serial + 1 if self._latest is not None else 1
        self._latest = Frame(serial, time.time(), width, height, memoryview(pixels))
        self._move()

    async def _lies(self) -> tuple[int, int]:
        """Width and height of the screen as it lies now. Raises Unfit, AdbRefused."""
        found = LIES.search(await self._device.said("dumpsys", "window", "displays"))
        if found is None:
            raise Unfit
        return int(found[1]), int(found[2])

    async def _turned(self, size: tuple[int, int]) -> None:
        """Returns when the phone lies otherwise. Raises Unfit, AdbRefused."""
        while await self._lies() == size:  # noqa: ASYNC110 (a phone tells nobody that it was turned)
            await asyncio.sleep(TURN_POLL)

    def _move(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()


class Decoder:
    """Pictures out of a byte stream without marks between them."""

    def __init__(self) -> None:
        self._codec = av.CodecContext.create("h264", "r")
        self._codec.thread_count = 1
        self._codec.flags |= Flags.low_delay

    def newest(self, data: bytes) -> tuple[int, int, bytes] | None:
        """Width, height and BGRX pixels of the last picture that this completes; no data says that what came before is
        whole. None where there is none, or it cannot be read."""
        picture: av.VideoFrame | None = None
        with suppress(av.error.InvalidDataError):
            for packet in self._codec.parse(data):
                picture = ([picture, *self._codec.decode(packet)])[-1]
        if picture is None:
            return None
        shown = picture.reformat(format="bgra").to_ndarray()
        return picture.width, picture.height, shown.tobytes()
