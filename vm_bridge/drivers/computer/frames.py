"""Pixels of a desktop: memory shared with its X server, encoded for observations and handed to viewers."""

import asyncio
import fcntl
import mmap
import os
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from protocol.blobs import BlobRef
from vm_bridge.drivers.computer.guest_link import SLOTS, FrameRef, GuestLink
from vm_bridge.drivers.frame_watcher import CapturedFrame
from vm_bridge.drivers.image_encoding import StripedJpeg, encode_image, encode_stripes
from vm_bridge.drivers.task_parameters import MAX_HEIGHT, MAX_WIDTH, ImageFormat
from vm_bridge.errors import MachineGone, UnknownBlob
from vm_bridge.sandbox import Frame

MEMORY_BYTES = MAX_WIDTH * MAX_HEIGHT * 4 * SLOTS
SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
MAX_CACHED_BLOBS = 48
MAX_CACHED_FILES = 6
LONG_POLL_SECONDS = 20.0
"""How long the guest may delay the reply about an unchanged picture (seconds)."""


class SharedFrameMemory:
    """Memory for whole frames that cannot shrink, so that the sandbox cannot make a reader outside fault."""

    def __init__(self, descriptor: int, size: int = MEMORY_BYTES) -> None:
        """Take over the descriptor that a guest sent. Raises MachineGone if it is not such memory."""
        self._descriptor = descriptor
        if os.fstat(descriptor).st_size != size or fcntl.fcntl(descriptor, fcntl.F_GET_SEALS) != SEALS:
            os.close(descriptor)
            raise MachineGone("the machine gave senseless memory")
        self._map = mmap.mmap(descriptor, MEMORY_BYTES, prot=mmap.PROT_READ)
        os.close(descriptor)

    @staticmethod
    def make(size: int = MEMORY_BYTES) -> int:
        """A descriptor of fresh memory for the largest screen. Only written pages use memory."""
        descriptor = os.memfd_create("frames", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(descriptor, size)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, SEALS)
        return descriptor

    def pixels(self, slot: int, size: int) -> memoryview:
        """A slot's BGRX pixels (`size` bytes), not copied."""
        return memoryview(self._map)[slot * size : (slot + 1) * size]


class FrameMemory(Protocol):
    """Memory that holds whole frames."""

    def pixels(self, slot: int, size: int) -> memoryview:
        """A slot's BGRX pixels (`size` bytes), not copied."""
        ...


@dataclass(frozen=True, slots=True)
class GuestScreen:
    """The frame memory of one guest, and its screen size (pixels)."""

    memory: FrameMemory
    width: int
    height: int

    def pixels(self, slot: int) -> memoryview:
        """A slot's BGRX pixels, not copied."""
        return self.memory.pixels(slot, self.width * self.height * 4)

    def size(self, look: FrameRef) -> tuple[int, int]:
        """Width and height of a picture."""
        return (self.height, self.width) if look.turned else (self.width, self.height)


class ScreenshotStore:
    """Encodes and stores captured frames. The same picture gives the same bytes without another encoding.

    `folder`, if given, keeps the latest for a process that takes over.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        if folder is not None:
            folder.mkdir(exist_ok=True)
        self._screen: GuestScreen | None = None
        self._blobs: OrderedDict[str, bytes] = OrderedDict()
        self._known: dict[tuple[int, ImageFormat], BlobRef] = {}
        self._latest: tuple[int, StripedJpeg] | None = None
        """The last encoded JPEG, and the serial of its frame."""
        self.format: ImageFormat = "jpeg"

    async def store(self, look: FrameRef) -> BlobRef:
        """Store a frame and return its reference. Its slot must not be overwritten meanwhile."""
        key = (look.serial, self.format)
        known = self._known.get(key)
        if known is not None and known.sha256 in self._blobs:
            self._blobs.move_to_end(known.sha256)
            return known
        ref, data, striped = await asyncio.to_thread(self._file_of, look)
        self._latest = None if striped is None else (look.serial, striped)
        self._known = {seen: kept for seen, kept in self._known.items() if seen[0] >= look.serial - 1}
        self._known[key] = ref
        self._blobs[ref.sha256] = data
        self._blobs.move_to_end(ref.sha256)
        while len(self._blobs) > MAX_CACHED_BLOBS:
            self._blobs.popitem(last=False)
        return ref

    def encode(self, shot: CapturedFrame) -> bytes:
        """The encoded bytes of a frame with these pixels."""
        image = np.frombuffer(shot.pixels, np.uint8).reshape(shot.height, shot.width, 4)
        return encode_stripes(image).file if self.format == "jpeg" else encode_image(image, self.format)

    def read_blob(self, ref: BlobRef) -> bytes:
        """Raises UnknownBlob if they are no longer kept."""
        held = self._blobs.get(ref.sha256)
        if held is None and self._folder is not None:
            with suppress(FileNotFoundError):
                held = (self._folder / ref.sha256).read_bytes()
        if held is None:
            raise UnknownBlob(f"picture {ref.sha256} is no longer kept")
        return held

    def attach(self, screen: GuestScreen) -> None:
        """Read frames from this screen from now on. Serials restart; stored bytes stay."""
        self._screen, self._latest = screen, None
        self._known.clear()

    def _file_of(self, look: FrameRef) -> tuple[BlobRef, bytes, StripedJpeg | None]:
        data, striped = self._encode(look)
        ref = BlobRef.of(data, f"image/{self.format}")
        if self._folder is not None:
            (self._folder / ref.sha256).write_bytes(data)
            kept = sorted(self._folder.iterdir(), key=lambda path: path.stat().st_mtime_ns, reverse=True)
            for path in kept[MAX_CACHED_FILES:]:
                path.unlink()
        return ref, data, striped

    def _encode(self, look: FrameRef) -> tuple[bytes, StripedJpeg | None]:
        """Encode a frame. A JPEG reencodes only the changes since the previous frame, if that was the last one
        encoded."""
        assert self._screen is not None  # frames come from an attached guest
        width, height = self._screen.size(look)
        image = np.frombuffer(self._screen.pixels(look.slot), np.uint8).reshape(height, width, 4)
        if self.format != "jpeg":
            return encode_image(image, self.format), None
        serial, before = self._latest or (0, None)
        striped = encode_stripes(image, before, look.changed if look.serial == serial + 1 else None)
        return striped.file, striped


class DesktopFrames:
    """The live picture of one desktop. A single request waits inside the guest for damage, for all subscriptions. So a
    still picture costs nothing, and no subscription waits behind the request of one that has left.
    """

    def __init__(self) -> None:
        self._guest: tuple[GuestLink, GuestScreen] | None = None
        self._closed = False
        self._moved = asyncio.Event()
        self._count = 0
        self._question: asyncio.Task[FrameRef | None] | None = None
        self._latest: FrameRef | None = None

    def attach(self, link: GuestLink, screen: GuestScreen) -> None:
        """Read frames from this guest from now on."""
        self._guest, self._question, self._latest = (link, screen), None, None
        self._move()

    def close(self) -> None:
        """End every subscription."""
        self._closed = True
        self._move()

    @asynccontextmanager
    async def subscribe(self, *, fps: float) -> AsyncIterator[AsyncIterator[Frame]]:
        """See `FrameSource.subscribe`."""
        async with aclosing(self._frames(1 / fps)) as frames:
            yield frames

    async def _frames(self, interval: float) -> AsyncGenerator[Frame, None]:
        guest, serial, due = self._guest, 0, 0.0
        while not self._closed:
            moved = self._moved
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            if guest is not self._guest:
                guest, serial = self._guest, 0
            look = await self._next(guest[0], serial) if guest is not None else None
            if guest is None or look is None:
                await moved.wait()
            elif look.serial != serial:
                changed = look.changed if serial and look.serial == serial + 1 else None
                serial, due = look.serial, max(due + interval, time.monotonic())
                self._count += 1
                screen = guest[1]
                yield Frame(self._count, look.at, *screen.size(look), screen.pixels(look.slot), changed)

    async def _next(self, link: GuestLink, serial: int) -> FrameRef | None:
        """The picture after `serial`, or the same after a long time. None if this guest is gone."""
        if self._question is None or self._question.done():
            self._question = asyncio.create_task(self._ask(link, serial))
        elif self._latest is not None and self._latest.serial != serial:
            return self._latest  # nothing newer exists while the request waits
        return await asyncio.shield(self._question)

    async def _ask(self, link: GuestLink, serial: int) -> FrameRef | None:
        try:
            look = await link.call(
                "frame", FrameRef, timeout=LONG_POLL_SECONDS + 10, serial=serial, wait=LONG_POLL_SECONDS
            )
        except MachineGone:
            return None
        if self._guest is not None and link is self._guest[0]:
            self._latest = look
        return look

    def _move(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()
