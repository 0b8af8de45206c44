"""A small picture of a machine, for lists of machines."""

import asyncio

import numpy as np
import numpy.typing as npt
import simplejpeg

from vm_bridge.errors import MachineGone
from vm_bridge.sandbox import Frame, Sandbox

Pixels = npt.NDArray[np.uint8]
THUMBNAIL_WIDTH, THUMBNAIL_HEIGHT = 320, 400
"""Approximate width of a landscape thumbnail, and height of a portrait one (pixels)."""
QUALITY = 70
TIMEOUT_SECONDS = 3.0


async def render_thumbnail(sandbox: Sandbox) -> bytes:
    """A JPEG of the current picture. Raises MachineGone if there is none, or none in time."""
    if sandbox.frames is None:
        raise MachineGone(f"machine {sandbox.id} has no picture")
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS), sandbox.frames.subscribe(fps=1) as frames:
            async for frame in frames:
                return encode_thumbnail(frame)
    except TimeoutError:
        raise MachineGone(f"machine {sandbox.id} shows nothing") from None
    raise MachineGone(f"machine {sandbox.id} is gone")


def encode_thumbnail(frame: Frame) -> bytes:
    """The frame as a small JPEG. It takes a millisecond or two."""
    step = max(1, frame.width // THUMBNAIL_WIDTH, frame.height // THUMBNAIL_HEIGHT)
    pixels = np.frombuffer(frame.pixels, np.uint8).reshape(frame.height, frame.width, 4)
    small = pixels if step == 1 else _shrink(pixels, step)
    return bytes(simplejpeg.encode_jpeg(np.ascontiguousarray(small), quality=QUALITY, colorspace="BGRX"))


def _shrink(pixels: Pixels, step: int) -> Pixels:
    """Divide both sides of `[height, width, 4]` by `step`.

    Each block becomes the mean of four of its pixels. The mean of all takes ten times as long and looks little better.
    """
    height, width = (side // step * step for side in pixels.shape[:2])
    corners = [pixels[y:height:step, x:width:step] for y in (0, step // 2) for x in (0, step // 2)]
    total = corners[0].astype(np.uint16)
    for corner in corners[1:]:
        total += corner
    mean: Pixels = (total >> 2).astype(np.uint8)
    return mean
