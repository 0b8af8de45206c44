"""Converts a model's coordinates to screen pixels and back, in exact arithmetic.

A grid is the size, as (columns, rows), in which a model names points of a screen: `thousandths_grid` is (1000, 1000),
`resized_grid` the size the model's processor scales the picture to. A pixel is nameable on an axis when some whole
grid coordinate maps to it. Where the grid is at least as long as the screen, that is every pixel.

`smart_resize` is the size that a Qwen-VL processor gives a picture. Its rule and limits are those UI-TARS publishes,
with Python's `round` (half to even): JavaScript rounds halves up and differs.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, sqrt

from protocol.actions.types import Point
from protocol.dialects.dialect import ScreenSize

RESIZE_FACTOR = 28
MIN_PIXELS = 100 * RESIZE_FACTOR**2
MAX_PIXELS = 16_384 * RESIZE_FACTOR**2
MAX_RATIO = 200


@lru_cache(maxsize=1_024)
def smart_resize(
    height: int,
    width: int,
    *,
    min_pixels: int = MIN_PIXELS,
    max_pixels: int = MAX_PIXELS,
    factor: int = RESIZE_FACTOR,
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


CoordinateGrid = Callable[[ScreenSize], tuple[int, int]]


def thousandths_grid(_screen: ScreenSize) -> tuple[int, int]:
    """Relative coordinates from 0 to 1000."""
    return 1000, 1000


def resized_grid(screen: ScreenSize) -> tuple[int, int]:
    """Absolute pixels of the smart-resized picture. Raises ValueError for a screen over 200 to 1."""
    rows, columns = smart_resize(screen.height, screen.width)
    return columns, rows


def limited_grid(min_pixels: int, max_pixels: int, factor: int = RESIZE_FACTOR) -> CoordinateGrid:
    """Absolute pixels of a picture that was resized within limits of its own.

    Args:
        min_pixels: Least area of the resized picture.
        max_pixels: Largest area of the resized picture.
        factor: Both sides are multiples of it (pixels).
    """

    def grid(screen: ScreenSize) -> tuple[int, int]:
        rows, columns = smart_resize(
            screen.height, screen.width, min_pixels=min_pixels, max_pixels=max_pixels, factor=factor
        )
        return columns, rows

    return grid


def pixel_to_grid(point: Point, screen: ScreenSize, size: tuple[int, int]) -> tuple[int, int]:
    """The grid coordinates nearest to a pixel."""
    columns, rows = size
    return _rescale(point.x, screen.width, columns), _rescale(point.y, screen.height, rows)


def grid_to_pixel(x: Fraction, y: Fraction, screen: ScreenSize, size: tuple[int, int]) -> Point | None:
    """The pixel nearest to grid coordinates, None where they lie off the screen; its far edges belong to it."""
    columns, rows = size
    if not (0 <= x <= columns and 0 <= y <= rows):
        return None
    return Point(x=_rescale(x, columns, screen.width), y=_rescale(y, rows, screen.height))


def _rescale(coordinate: int | Fraction, length: int, other_length: int) -> int:
    """A coordinate on one length, on the other: a half goes to the even side."""
    if coordinate.denominator == 1:  # mostly; fractions take ten times as long
        whole, rest = divmod(coordinate.numerator * other_length, length)
        return min(whole + (2 * rest + (whole & 1) > length), other_length - 1)
    return min(round(Fraction(coordinate) * other_length / length), other_length - 1)
