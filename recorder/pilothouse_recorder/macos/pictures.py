"""Combines the pictures of all displays into one. Makes no macOS calls."""

from collections.abc import Sequence

from PIL import Image

from ..layout import Layout
from .calls import DisplayPicture

PIXEL_BYTES = 4


def compose(layout: Layout, pictures: Sequence[DisplayPicture]) -> bytes:
    """Compose the displays' pictures into the layout's picture. Coarser displays are enlarged.

    Args:
        layout: The displays.
        pictures: One for each display, in the same order.
    """
    width, height = layout.size
    if len(pictures) == 1 and (pictures[0].width, pictures[0].height) == (width, height):
        only = pictures[0]
        if only.stride == width * PIXEL_BYTES:
            return only.pixels[: only.stride * height]
    canvas = Image.new("RGBA", (width, height))
    for monitor, picture in zip(layout.monitors, pictures, strict=True):
        # The order of the colors stays as it is: nothing is mixed but equal channels.
        part = Image.frombuffer(
            "RGBA", (picture.width, picture.height), picture.pixels, "raw", "RGBA", picture.stride, 1
        )
        left, top, wide, high = layout.bounds(monitor.left, monitor.top, monitor.width, monitor.height)
        if part.size != (wide, high):
            part = part.resize((wide, high), Image.Resampling.BILINEAR)
        canvas.paste(part, (left, top))
    return canvas.tobytes()
