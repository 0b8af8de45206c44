"""Requests of a policy to see: answered with a look at the machine, which nothing is done to."""

import io

from PIL import Image

from vocabulary.actions import Zoom
from vocabulary.blobs import BlobRef


def crop_screenshot(data: bytes, action: Zoom, size: tuple[int, int]) -> tuple[BlobRef, bytes]:
    """The part of a screenshot that is asked for, as a PNG enlarged to fit a screen of this size (pixels)."""
    part = _enlarged(data, action, size)
    return BlobRef.of(part, "image/png"), part


def _enlarged(data: bytes, action: Zoom, size: tuple[int, int]) -> bytes:
    left, right = sorted((action.start.x, action.end.x))
    top, bottom = sorted((action.start.y, action.end.y))
    with Image.open(io.BytesIO(data)) as picture:
        part = picture.convert("RGB").crop((left, top, right + 1, bottom + 1))
    scale = min(size[0] / part.width, size[1] / part.height)
    grown = (max(1, round(part.width * scale)), max(1, round(part.height * scale)))
    written = io.BytesIO()
    part.resize(grown, Image.Resampling.LANCZOS).save(written, "PNG", compress_level=1)
    return written.getvalue()
