"""JPEGs of a screen in stripes, so that only those are encoded again in which something changed.

A restart marker stands between stripes: nothing in one is coded by what stands in another, so each can be taken over
from the picture before. The pixels are those of the picture encoded at once, and the same picture gives the same bytes.
"""

from dataclasses import dataclass

import simplejpeg

from vm_bridge.drivers.pictures import JPEG_QUALITY, Image
from vm_bridge.sandbox import Box

ROWS = 64
"""Height of a stripe (pixels): whole rows of blocks."""
BLOCK = 8
START_OF_FRAME, START_OF_SCAN = 0xC0, 0xDA
END = b"\xff\xd9"


@dataclass(frozen=True, slots=True)
class Striped:
    """An encoded picture: what comes first in its file, and the coefficients of each stripe."""

    head: bytes
    stripes: tuple[bytes, ...]

    @property
    def file(self) -> bytes:
        """All of it, as one JPEG."""
        restarts = [bytes((0xFF, 0xD0 + number % 8)) for number in range(len(self.stripes) - 1)]
        return self.head + b"".join(part for pair in zip(self.stripes, [*restarts, END], strict=True) for part in pair)


def stripes_encode(image: Image, before: Striped | None = None, changed: Box | None = None) -> Striped:
    """The picture; where one of the same size `before` is given, it is that one outside of `changed`."""
    height, width = image.shape[:2]
    if before is None or changed is None:
        head, stripes, top, bottom = b"", [b""] * -(-height // ROWS), 0, height
    else:
        head, stripes, top, bottom = before.head, list(before.stripes), max(0, changed[1]), min(height, changed[3])
    for number in range(top // ROWS, -(-bottom // ROWS)):
        file = simplejpeg.encode_jpeg(
            image[number * ROWS : (number + 1) * ROWS],
            quality=JPEG_QUALITY,
            colorspace="BGRX",
            colorsubsampling="444",
            fastdct=False,
        )
        scan = _segment(file, START_OF_SCAN)
        begin = scan + 2 + int.from_bytes(file[scan + 2 : scan + 4])
        stripes[number] = file[begin : -len(END)]
        head = head or _head(file[:begin], width, height)
    return Striped(head, tuple(stripes))


def _head(stripe: bytes, width: int, height: int) -> bytes:
    """The head of the whole picture, from that of a stripe: its height, and how many blocks lie between restarts."""
    frame, scan = _segment(stripe, START_OF_FRAME), _segment(stripe, START_OF_SCAN)
    blocks = -(-width // BLOCK) * (ROWS // BLOCK)
    interval = b"\xff\xdd\x00\x04" + blocks.to_bytes(2)
    return stripe[: frame + 5] + height.to_bytes(2) + stripe[frame + 7 : scan] + interval + stripe[scan:]


def _segment(file: bytes, kind: int) -> int:
    """Where a segment of this kind begins."""
    at = 2
    while file[at + 1] != kind:
        at += 2 + int.from_bytes(file[at + 2 : at + 4])
    return at
