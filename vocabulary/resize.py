"""smart_resize: the size a Qwen-VL processor gives a picture before the model sees it.

The rule and its limits are those UI-TARS publishes; they are computed on whole sizes with Python's `round` (half to
even), because a model trained on them names pixels of exactly this size. JavaScript rounds halves up and differs.
"""

from functools import lru_cache
from math import ceil, floor, sqrt

FACTOR = 28
MIN_PIXELS = 100 * FACTOR**2
MAX_PIXELS = 16_384 * FACTOR**2
MAX_RATIO = 200


@lru_cache(maxsize=1_024)
def smart_resize(
    height: int,
    width: int,
    *,
    min_pixels: int = MIN_PIXELS,
    max_pixels: int = MAX_PIXELS,
    factor: int = FACTOR,
) -> tuple[int, int]:
    """(height, width) after resizing: multiples of `factor`, between the limits, nearly the same ratio.

    Raises ValueError where one side is over 200 times the other.
    """
    if max(height, width) > MAX_RATIO * min(height, width):
        raise ValueError(f"a picture of {width}x{height} is too narrow: over {MAX_RATIO} to 1")
    rows = max(factor, round(height / factor) * factor)
    columns = max(factor, round(width / factor) * factor)
    if rows * columns > max_pixels:
        beta = sqrt(height * width / max_pixels)
        rows, columns = (max(factor, floor(side / beta / factor) * factor) for side in (height, width))
    elif rows * columns < min_pixels:
        beta = sqrt(min_pixels / (height * width))
        rows, columns = (ceil(side * beta / factor) * factor for side in (height, width))
    return rows, columns
