"""Where a model's coordinates lie on the screen, both ways, in exact arithmetic.

A grid is the size, as (columns, rows), in which a model names points of a screen: `thousandths` is (1000, 1000),
`resized` the size the model's processor scales the picture to. A pixel is nameable on an axis when some whole grid
coordinate maps to it; on an axis where the grid is at least as long as the screen that is every pixel.
"""

from collections.abc import Callable
from fractions import Fraction

from vocabulary.actions import Point
from vocabulary.dialect import Screen
from vocabulary.resize import smart_resize

Grid = Callable[[Screen], tuple[int, int]]


def thousandths(_screen: Screen) -> tuple[int, int]:
    """Relative coordinates from 0 to 1000."""
    return 1000, 1000


def resized(screen: Screen) -> tuple[int, int]:
    """Absolute pixels of the smart-resized picture. Raises ValueError for a screen over 200 to 1."""
    rows, columns = smart_resize(screen.height, screen.width)
    return columns, rows


def to_grid(point: Point, screen: Screen, size: tuple[int, int]) -> tuple[int, int]:
    """The grid coordinates nearest to a pixel."""
    columns, rows = size
    return _nearest(point.x, screen.width, columns), _nearest(point.y, screen.height, rows)


def to_screen(x: Fraction, y: Fraction, screen: Screen, size: tuple[int, int]) -> Point | None:
    """The pixel nearest to grid coordinates, None where they lie off the screen; its far edges belong to it."""
    columns, rows = size
    if not (0 <= x <= columns and 0 <= y <= rows):
        return None
    return Point(x=_nearest(x, columns, screen.width), y=_nearest(y, rows, screen.height))


def _nearest(coordinate: int | Fraction, length: int, other_length: int) -> int:
    """A coordinate on one length, on the other: a half goes to the even side."""
    if coordinate.denominator == 1:  # mostly; fractions take ten times as long
        whole, rest = divmod(coordinate.numerator * other_length, length)
        return min(whole + (2 * rest + (whole & 1) > length), other_length - 1)
    return min(round(Fraction(coordinate) * other_length / length), other_length - 1)
