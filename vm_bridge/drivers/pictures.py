"""Pictures of a screen as files: what an observation refers to."""

from fractions import Fraction
from typing import Any

import av
import numpy as np
import simplejpeg

from vm_bridge.drivers.computer_task import Format

JPEG_QUALITY = 90

Image = np.ndarray[Any, np.dtype[np.uint8]]
"""Rows, columns and four channels: blue, green, red and one that says nothing."""


def picture_encode(image: Image, form: Format) -> bytes:
    """The file of a picture; the same picture gives the same bytes."""
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
