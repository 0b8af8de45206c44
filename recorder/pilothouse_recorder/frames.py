"""Decides when to take a frame, and whether it shows anything new."""

import hashlib
from dataclasses import dataclass
from io import BytesIO

from PIL import Image

JPEG_QUALITY = 90


@dataclass(frozen=True)
class Frame:
    """One picture of the whole screen as JPEG, quality 90, 4:4:4; `sha256` is of its bytes."""

    jpeg: bytes
    sha256: str
    width: int
    height: int


def encode_frame(pixels: bytes, width: int, height: int) -> Frame:
    """A frame of these pixels: rows of blue, green, red and one unused byte."""
    output = BytesIO()
    picture = Image.frombuffer("RGB", (width, height), pixels, "raw", "BGRX", 0, 1)
    picture.save(output, "JPEG", quality=JPEG_QUALITY, subsampling=0)
    jpeg = output.getvalue()
    return Frame(jpeg, hashlib.sha256(jpeg).hexdigest(), width, height)


class FramePacer:
    """Decides when to take a frame: on damage, at most one per `interval_ns`. The last change is never left out."""

    def __init__(self, interval_ns: int) -> None:
        self._interval_ns = interval_ns
        self._taken_ns: int | None = None
        self.damaged_ns: int | None = 0
        """Time of the first screen change after the last frame; None if there is none."""

    def damage(self, now_ns: int) -> None:
        """The screen changed."""
        if self.damaged_ns is None:
            self.damaged_ns = now_ns

    def due(self, now_ns: int) -> bool:
        """Whether a frame is to be taken now."""
        waited = self._taken_ns is None or now_ns - self._taken_ns >= self._interval_ns
        return self.damaged_ns is not None and waited

    def take(self, now_ns: int) -> int:
        """Record that a frame is taken, so that later damage is new. Returns when the screen had changed."""
        assert self.damaged_ns is not None, "a frame is taken where one is due"
        damaged_ns, self.damaged_ns, self._taken_ns = self.damaged_ns, None, now_ns
        return damaged_ns


class FrameFilter:
    """Passes a picture only if it differs from the previous one."""

    def __init__(self) -> None:
        self._previous: bytes | None = None

    def new_picture(self, pixels: memoryview) -> bytes | None:
        """A copy of these pixels if they differ from the last copy, else None."""
        if self._previous is not None and self._previous == pixels:
            return None
        self._previous = bytes(pixels)
        return self._previous

    def reset(self) -> None:
        """Pass the next picture, whatever it shows."""
        self._previous = None
