"""One capture and one encode of a desktop for all its viewers; none without viewers."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import av

from vm_bridge.errors import MachineGone
from vm_bridge.sandbox import Box, Frame, FrameSource, Sandbox
from vm_bridge.streams.h264 import CLOCK_RATE, TIME_BASE, H264Encoder, PixelConverter

logger = logging.getLogger(__name__)

KEY_FRAME_INTERVAL_SECONDS = 0.5
"""Requests for a key frame are answered together, at most this often (seconds)."""
REFINE_AFTER_SECONDS = 0.1
"""When a picture that was squeezed to fit the burst is sent again, sharper (seconds)."""
MAX_REFINEMENTS = 60
"""How often at most, one frame's time after the other."""
EMPTY_BOX: Box = (0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class BroadcastFrame:
    """One picture of a broadcast: raw, and encoded where some viewer wants it so."""

    picture: av.VideoFrame
    packet: "av.Packet[Any] | None"
    sharp: bool = True
    """Whether the packet draws it as well as anybody sees."""


class Viewer(Protocol):
    """One who watches."""

    wants_packets: bool
    """Whether it takes H.264; else it encodes the pictures itself."""

    @property
    def rate(self) -> int:
        """What may be sent to it (bits per second); the slowest viewer sets the pace of all."""
        ...

    def offer(self, broadcast_frame: BroadcastFrame) -> None:
        """Never waits: a viewer that cannot keep up drops."""
        ...

    def end(self) -> None:
        """The desktop is gone."""
        ...


class Broadcast:
    """The live picture of one desktop. `ended` is called when the desktop ends, not when the viewers leave."""

    def __init__(self, source: FrameSource, *, fps: float, bitrate: int, ended: Callable[[], None]) -> None:
        self.bitrate = bitrate
        """The ceiling (bits per second)."""
        self.source = source
        self._fps = fps
        self._ended = ended
        self._viewers: set[Viewer] = set()
        self._task: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._key_due: float | None = None
        self._key_at = 0.0
        self._pts = 0

    def join(self, viewer: Viewer) -> None:
        """Show the picture to one more, beginning with a key frame at once."""
        self._viewers.add(viewer)
        self._ask_key(time.monotonic())
        if self._task is None:
            self._task = asyncio.create_task(self._run())
            self._task.add_done_callback(self._stopped)

    def leave(self, viewer: Viewer) -> None:
        """The last to leave stops the capture."""
        self._viewers.discard(viewer)
        if not self._viewers and self._task is not None:
            self._task.cancel()
            self._task = None

    def request_key(self) -> None:
        """A viewer lost something; a key frame follows within KEY_INTERVAL."""
        self._ask_key(max(time.monotonic(), self._key_at + KEY_FRAME_INTERVAL_SECONDS))

    def _ask_key(self, due: float) -> None:
        self._key_due = due if self._key_due is None else min(due, self._key_due)
        self._wake.set()

    async def _run(self) -> None:
        worker = ThreadPoolExecutor(1, thread_name_prefix="encode")
        try:
            async with self.source.subscribe(fps=self._fps) as frames:
                await self._relay(frames, worker, FrameEncoder(self._fps, self.bitrate))
        finally:
            worker.shutdown(wait=False)

    def _stopped(self, task: "asyncio.Task[None]") -> None:
        """Unless the viewers left: the desktop ended, or its picture cannot be had any more."""
        if task is not self._task or task.cancelled():
            return
        if (error := task.exception()) is not None:
            logger.error("a broadcast failed", exc_info=error)
        self._task = None
        for viewer in tuple(self._viewers):
            viewer.end()
        self._ended()

    async def _relay(self, frames: AsyncIterator[Frame], worker: ThreadPoolExecutor, maker: "FrameEncoder") -> None:
        """Send what changes; send what stands again when a key frame or a sharper picture is due, and once after a key
        frame: aiortc's client holds a picture back until the first packet of the next one (its jitter buffer)."""
        loop = asyncio.get_running_loop()
        picture: av.VideoFrame | None = None
        refine_at: float | None = None
        refined = 0
        pending: asyncio.Future[Frame | None] = asyncio.ensure_future(_next_frame(frames))
        try:
            while True:
                await self._until(pending, refine_at if picture is not None else None, can_key=picture is not None)
                frame: Frame | None = None
                if pending.done():
                    frame = pending.result()
                    if frame is None:
                        return
                    pts, refined, refine_delay = self._tick(frame.captured_at), 0, REFINE_AFTER_SECONDS
                else:
                    pts, refined, refine_delay = self._tick(time.time()), refined + 1, 1 / self._fps
                encode_request = self._next_request()
                broadcast_frame = await loop.run_in_executor(
                    worker, partial(maker.make, frame, picture, pts, encode_request)
                )
                if frame is not None:
                    pending = asyncio.ensure_future(_next_frame(frames))
                picture = broadcast_frame.picture
                for viewer in tuple(self._viewers):
                    viewer.offer(broadcast_frame)
                again = encode_request.key or not (broadcast_frame.sharp or refined >= MAX_REFINEMENTS)
                refine_at = time.monotonic() + refine_delay if again else None
        finally:
            pending.cancel()
            await asyncio.wait({pending})  # a source cannot close while it is asked

    async def _until(self, pending: "asyncio.Future[Frame | None]", refine_at: float | None, *, can_key: bool) -> None:
        """Wait for a frame, or until a key frame or a sharper picture is due."""
        while not pending.done():
            self._wake.clear()
            dues = [due for due in (refine_at, self._key_due if can_key else None) if due is not None]
            timeout = max(0.0, min(dues) - time.monotonic()) if dues else None
            if timeout == 0:
                return
            wake = asyncio.ensure_future(self._wake.wait())
            either: set[asyncio.Future[Any]] = {pending, wake}
            try:
                await asyncio.wait(either, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            finally:
                wake.cancel()

    def _next_request(self) -> "EncodeRequest":
        """How the next shot is to be, as things stand."""
        now = time.monotonic()
        key = self._key_due is not None and self._key_due <= now
        if key:
            self._key_due, self._key_at = None, now
        rates = [viewer.rate for viewer in self._viewers if viewer.wants_packets]
        return EncodeRequest(
            key, min(rates, default=None), kept=not all(viewer.wants_packets for viewer in self._viewers)
        )

    def _tick(self, at: float) -> int:
        """The timestamp of a moment, later than every one before."""
        self._pts = max(self._pts + 1, int(at * CLOCK_RATE))
        return self._pts


class EncodeRequest(NamedTuple):
    """How a shot is to be made."""

    key: bool
    rate: int | None
    """Bits per second; None: there are no packet receivers."""
    kept: bool
    """Whether somebody takes the picture and keeps it; packets are made before the next frame is asked for."""


class FrameEncoder:
    """Makes the shots of one capture, each from a frame or from the last picture. For one thread at a time: a capture
    that begins anew takes another one, because the last work of the old may still go on."""

    def __init__(self, fps: float, bitrate: int) -> None:
        self._fps, self._bitrate = fps, bitrate
        self._converter = PixelConverter()
        self._encoder: H264Encoder | None = None
        self._followed = False
        """Whether the encoder was given the last picture, so that it can get only the changes since."""

    def make(
        self, frame: Frame | None, last: av.VideoFrame | None, pts: int, encode_request: EncodeRequest
    ) -> BroadcastFrame:
        """The shot of `frame`, or without one of the `last` picture again."""
        picture: av.VideoFrame | None = last
        changed: Box | None = EMPTY_BOX
        if frame is not None:
            size, changed = (frame.width, frame.height), frame.changed
            picture = self._converter.convert(frame.pixels, *size, changed, whole=encode_request.kept)
        assert picture is not None
        packet, sharp = None, True
        if encode_request.rate is not None:
            encoder = self._encoder_of(picture)
            encoder.bitrate = encode_request.rate
            packet = encoder.encode(picture, pts, key=encode_request.key, changed=changed if self._followed else None)
            sharp = encoder.sharp
        self._followed = encode_request.rate is not None
        picture.pts, picture.time_base = pts, TIME_BASE
        return BroadcastFrame(picture, packet, sharp)

    def _encoder_of(self, picture: av.VideoFrame) -> H264Encoder:
        size = (picture.width, picture.height)
        if self._encoder is None or self._encoder.size != size:
            self._encoder = H264Encoder(*size, fps=self._fps, bitrate=self._bitrate)
        return self._encoder


class BroadcastRegistry:
    """The broadcasts of a host, one per machine, created on first use."""

    def __init__(self, *, fps: float, bitrate: int) -> None:
        self._fps = fps
        self._bitrate = bitrate
        self._known: dict[str, Broadcast] = {}

    def of(self, sandbox: Sandbox) -> Broadcast:
        """The live picture of a machine. Raises MachineGone where it has none."""
        source = sandbox.frames
        if source is None:
            raise MachineGone(f"machine {sandbox.id} has no picture")
        known = self._known.get(sandbox.id)
        if known is None or known.source is not source:
            known = self._known[sandbox.id] = Broadcast(
                source, fps=self._fps, bitrate=self._bitrate, ended=lambda: self._ended(sandbox.id, source)
            )
        return known

    def forget(self, machine_id: str) -> None:
        """The machine has ended, or becomes another's. Who watches still does."""
        self._known.pop(machine_id, None)

    def _ended(self, machine_id: str, source: FrameSource) -> None:
        """Forget a broadcast, but not the one that took its place."""
        known = self._known.get(machine_id)
        if known is not None and known.source is source:
            self.forget(machine_id)


async def _next_frame(frames: AsyncIterator[Frame]) -> Frame | None:
    return await anext(frames, None)
