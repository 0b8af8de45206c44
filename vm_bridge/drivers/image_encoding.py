"""Encodes screenshots as JPEG or PNG; a JPEG re-encodes only the stripes that changed."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import av
import numpy as np
import simplejpeg

from vm_bridge.drivers.task_parameters import ImageFormat
from vm_bridge.sandbox import Box

JPEG_QUALITY = 90

Image = np.ndarray[Any, np.dtype[np.uint8]]
"""Rows, columns and four channels: blue, green, red and one unused."""


def encode_image(image: Image, form: ImageFormat) -> bytes:
    """Encode a picture. The same picture gives the same bytes."""
    if form == "png":
        return _png(image)
    return bytes(
        simplejpeg.encode_jpeg(image, quality=JPEG_QUALITY, colorspace="BGRX", colorsubsampling="444", fastdct=False)
    )


def _png(image: Image) -> bytes:
    height, width = image.shape[:2]
    encoder = av.CodecContext.create("png", "w")
    encoder.width, encoder.height, encoder.pix_fmt = width, height, "rgb24"
    encoder.time_base = Fraction(1, 1)
    frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(image[:, :, 2::-1]), format="rgb24")
    return b"".join(bytes(packet) for packet in [*encoder.encode(frame), *encoder.encode(None)])


STRIPE_ROWS = 64
"""Height of a stripe (pixels): whole rows of JPEG blocks."""
BLOCK_PIXELS = 8
START_OF_FRAME, START_OF_SCAN = 0xC0, 0xDA
END_OF_IMAGE = b"\xff\xd9"


@dataclass(frozen=True, slots=True)
class StripedJpeg:
    """An encoded picture: its file header, and the coefficients of each stripe."""

    head: bytes
    stripes: tuple[bytes, ...]

    @property
    def file(self) -> bytes:
        """The complete JPEG file."""
        restarts = [bytes((0xFF, 0xD0 + number % 8)) for number in range(len(self.stripes) - 1)]
        return self.head + b"".join(
            part for pair in zip(self.stripes, [*restarts, END_OF_IMAGE], strict=True) for part in pair
        )


def encode_stripes(image: Image, before: StripedJpeg | None = None, changed: Box | None = None) -> StripedJpeg:
    """Encode a picture. With `before`, a picture of the same size, only `changed` differs from it."""
    height, width = image.shape[:2]
    if before is None or changed is None:
        head, stripes, top, bottom = b"", [b""] * -(-height // STRIPE_ROWS), 0, height
    else:
        head, stripes, top, bottom = before.head, list(before.stripes), max(0, changed[1]), min(height, changed[3])
    for number in range(top // STRIPE_ROWS, -(-bottom // STRIPE_ROWS)):
        file = simplejpeg.encode_jpeg(
            image[number * STRIPE_ROWS : (number + 1) * STRIPE_ROWS],
            quality=JPEG_QUALITY,
            colorspace="BGRX",
            colorsubsampling="444",
            fastdct=False,
        )
        scan = _find_segment(file, START_OF_SCAN)
        begin = scan + 2 + int.from_bytes(file[scan + 2 : scan + 4])
        stripes[number] = file[begin : -len(END_OF_IMAGE)]
        head = head or _picture_header(file[:begin], width, height)
    return StripedJpeg(head, tuple(stripes))


def _picture_header(stripe: bytes, width: int, height: int) -> bytes:
    """The header of the whole picture from a stripe's header, with its height and restart interval."""
    frame, scan = _find_segment(stripe, START_OF_FRAME), _find_segment(stripe, START_OF_SCAN)
    blocks = -(-width // BLOCK_PIXELS) * (STRIPE_ROWS // BLOCK_PIXELS)
    interval = b"\xff\xdd\x00\x04" + blocks.to_bytes(2)
    return stripe[: frame + 5] + height.to_bytes(2) + stripe[frame + 7 : scan] + interval + stripe[scan:]


def _find_segment(file: bytes, kind: int) -> int:
    """The offset of the first segment of this kind."""
    at = 2
    while file[at + 1] != kind:
        at += 2 + int.from_bytes(file[at + 2 : at + 4])
    return at
