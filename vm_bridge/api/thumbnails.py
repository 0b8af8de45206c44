"""A small picture of a machine, for lists of machines."""

import asyncio

import numpy as np
import simplejpeg

from vm_bridge.errors import MachineGone
from vm_bridge.sandbox import Frame, Sandbox

THUMBNAIL_WIDTH = 320
"""About how wide it is (pixels)."""
QUALITY = 70
TIMEOUT_SECONDS = 3.0


async def render_thumbnail(sandbox: Sandbox) -> bytes:
    """A JPEG of the present picture. Raises MachineGone when there is none, or none in time."""
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
    """The frame as a small JPEG: every so-many-th pixel, which takes well under a millisecond."""
    step = max(1, frame.width // THUMBNAIL_WIDTH)
    pixels = np.frombuffer(frame.pixels, np.uint8).reshape(frame.height, frame.width, 4)
    small = np.ascontiguousarray(pixels[::step, ::step])
    return bytes(simplejpeg.encode_jpeg(small, quality=QUALITY, colorspace="BGRX"))
