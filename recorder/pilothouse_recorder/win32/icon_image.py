"""The tray icon's pictures as Windows icon resources: a disc for recording, two bars for paused, a square for idle."""

import struct
from collections.abc import Mapping

from ..tray_icon import IconState

SIZE = 16
"""Width and height (pixels)."""
COLORS: Mapping[IconState, tuple[int, int, int]] = {
    "recording": (0x2A, 0x2A, 0xC9), "paused": (0x00, 0x8A, 0xE0), "idle": (0x80, 0x80, 0x80)
}  # fmt: skip
"""Blue, green and red."""


def make_icon(state: IconState) -> bytes:
    """Encode a picture for CreateIconFromResourceEx.

    The layout is BITMAPINFOHEADER with twice the height, rows of blue, green, red and alpha from the bottom, then the
    mask.
    """
    header = struct.pack("<IiiHHIIiiII", 40, SIZE, 2 * SIZE, 1, 32, 0, 0, 0, 0, 0, 0)
    blue, green, red = COLORS[state]
    drawn, empty = bytes((blue, green, red, 255)), bytes(4)
    pixels = b"".join(drawn if _is_drawn(state, x, y) else empty for y in range(SIZE) for x in range(SIZE))
    mask = bytes(SIZE * 4)  # alpha says it all; rows of the mask are whole words of 32 bits
    return header + pixels + mask


def _is_drawn(state: IconState, x: int, y: int) -> bool:
    across, down = 2 * x - SIZE + 1, 2 * y - SIZE + 1  # from the middle, in half pixels
    if state == "recording":
        return across**2 + down**2 <= (SIZE - 2) ** 2
    inside = max(abs(across), abs(down)) <= SIZE - 4
    return inside and (state == "idle" or abs(across) > 4)
