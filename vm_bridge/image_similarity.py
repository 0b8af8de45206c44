"""Whether two pictures show the same: a caret may blink and a clock go on, no more."""

import io
from typing import Any

import av
import numpy as np

MAX_COLOR_DIFFERENCE = 24
"""Most that one colour of a pixel may differ: what two encodings of one picture differ by (of 255)."""
MAX_DIFFERENT_SHARE = 0.001
"""Most of the pixels that may differ by more."""

Pixels = np.ndarray[Any, np.dtype[np.int16]]


def picture_difference(one: bytes, other: bytes) -> float:
    """The share of pixels that differ (0 to 1) between two JPEG or PNG files; 1 where their sizes do."""
    if one == other:
        return 0.0
    a, b = _pixels(one), _pixels(other)
    if a.shape != b.shape:
        return 1.0
    return float((np.abs(a - b).max(axis=2) > MAX_COLOR_DIFFERENCE).mean())


def _pixels(picture: bytes) -> Pixels:
    with av.open(io.BytesIO(picture), mode="r") as container:
        frame = next(container.decode(video=0))
        return frame.to_ndarray(format="rgb24").astype(np.int16)
