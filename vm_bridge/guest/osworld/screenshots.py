"""A picture of an X display as a PNG file, the pointer in it, with nothing but Xlib and zlib."""

import struct
import zlib
from typing import Any

from Xlib import X

from vm_bridge.guest.osworld.windows import open_display

COMPRESSION_LEVEL = 1
"""Of zlib: the fastest; the file stays on this machine."""


def take_screenshot(display_name: str) -> bytes:
    """The whole screen with the pointer, as the bytes of a PNG file."""
    with open_display(display_name) as server:
        root = server.screen().root
        size = root.get_geometry()
        pixels = bytearray(root.get_image(0, 0, size.width, size.height, X.ZPixmap, 0xFFFFFFFF).data)
        _paint_pointer(server, pixels, size.width, size.height)
    return encode_png(pixels, size.width, size.height)


def screen_size(display_name: str) -> tuple[int, int]:
    """Width and height (pixels)."""
    with open_display(display_name) as server:
        size = server.screen().root.get_geometry()
        return size.width, size.height


def encode_png(bgrx: bytes | bytearray, width: int, height: int) -> bytes:
    """A PNG file of `height` rows of `width` pixels, each of four bytes: blue, green, red and one that is ignored."""
    rgb = bytearray(width * height * 3)
    rgb[0::3], rgb[1::3], rgb[2::3] = bgrx[2::4], bgrx[1::4], bgrx[0::4]
    stride = width * 3
    rows = b"".join(b"\0" + rgb[start : start + stride] for start in range(0, len(rgb), stride))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(rows, COMPRESSION_LEVEL)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _paint_pointer(server: Any, pixels: bytearray, width: int, height: int) -> None:
    """Blend the pointer's premultiplied ARGB pixels over the screen's."""
    if not server.has_extension("XFIXES"):
        return
    server.xfixes_query_version()
    image = server.xfixes_get_cursor_image(server.screen().root)
    left, top = image.x - image.xhot, image.y - image.yhot
    for index, argb in enumerate(image.cursor_image):
        x, y, alpha = left + index % image.width, top + index // image.width, argb >> 24 & 0xFF
        if not alpha or not (0 <= x < width and 0 <= y < height):
            continue
        place = (y * width + x) * 4
        for channel in range(3):
            below = pixels[place + channel] * (255 - alpha) // 255
            pixels[place + channel] = min(255, below + (argb >> 8 * channel & 0xFF))
