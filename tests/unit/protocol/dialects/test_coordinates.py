"""smart_resize against the published rule's worked values, and the grids built on it."""

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from protocol.actions.types import Point
from protocol.dialects.coordinates import (
    MAX_PIXELS,
    MIN_PIXELS,
    CoordinateGrid,
    grid_to_pixel,
    pixel_to_grid,
    resized_grid,
    smart_resize,
    thousandths_grid,
)
from protocol.dialects.dialect import ScreenSize

UI_TARS_1_0 = 2_700 * 28**2
DOUBAO = 5_120 * 28**2
OPENCUA_MIN = 3_136

# screen; size for UI-TARS 1.5, for the limit of 1.0, for that of Doubao, for OpenCUA (width, height)
VECTORS = [
    ((1280, 720), (1288, 728), (1288, 728), (1288, 728), (1288, 728)),
    ((1920, 1080), (1932, 1092), (1932, 1092), (1932, 1092), (1932, 1092)),
    ((1366, 768), (1372, 756), (1372, 756), (1372, 756), (1372, 756)),
    ((1024, 768), (1036, 756), (1036, 756), (1036, 756), (1036, 756)),
    ((2560, 1440), (2548, 1428), (1932, 1064), (2548, 1428), (2548, 1428)),
    ((3840, 2160), (3836, 2156), (1932, 1064), (2660, 1484), (3836, 2156)),
    ((5120, 2880), (4760, 2688), (1932, 1064), (2660, 1484), (4760, 2688)),
    ((1080, 2400), (1092, 2408), (952, 2156), (1092, 2408), (1092, 2408)),
    ((320, 240), (336, 252), (336, 252), (336, 252), (308, 252)),
    ((332, 214), (364, 252), (364, 252), (364, 252), (336, 224)),
    ((200, 100), (420, 224), (420, 224), (420, 224), (196, 112)),
    ((1522, 1022), (1512, 1008), (1512, 1008), (1512, 1008), (1512, 1008)),
]
LIMITS = [(MIN_PIXELS, MAX_PIXELS), (MIN_PIXELS, UI_TARS_1_0), (MIN_PIXELS, DOUBAO), (OPENCUA_MIN, MAX_PIXELS)]

screens = st.builds(ScreenSize, width=st.integers(1, 8_000), height=st.integers(1, 8_000))
grids = st.sampled_from((resized_grid, thousandths_grid))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: "{}x{}".format(*vector[0]))
@pytest.mark.parametrize("column", range(4))
def test_the_worked_values(vector: tuple[tuple[int, int], ...], column: int) -> None:
    (width, height), expected = vector[0], vector[column + 1]
    min_pixels, max_pixels = LIMITS[column]
    assert smart_resize(height, width, min_pixels=min_pixels, max_pixels=max_pixels) == expected[::-1]


def test_halves_go_to_the_even_side() -> None:
    assert smart_resize(1022, 1022) == (1008, 1008), "36.5 factors are 36"
    assert smart_resize(1050, 1050) == (1064, 1064), "37.5 factors are 38"


def test_no_side_is_resized_to_nothing() -> None:
    assert smart_resize(31, 639, max_pixels=20 * 784) == (28, 560)


@given(st.integers(0, 9_000), st.integers(1, 9_000), st.integers(1, 9_000))
def test_whole_coordinates_are_taken_as_fractions_are(coordinate: int, length: int, other: int) -> None:
    point, whole = Point(x=coordinate, y=0), ScreenSize(width=length, height=1)
    expected = min(round(Fraction(coordinate * other, length)), other - 1)
    assert pixel_to_grid(point, whole, (other, 1))[0] == expected


@pytest.mark.parametrize("size", [(1, 201), (201, 1)])
def test_a_picture_that_is_too_narrow_is_refused(size: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="too narrow"):
        smart_resize(*size)


@given(st.integers(1, 5_000), st.integers(1, 5_000))
def test_sizes_are_whole_factors_below_the_limit(height: int, width: int) -> None:
    assume(max(height, width) <= 200 * min(height, width))
    rows, columns = smart_resize(height, width)
    assert rows % 28 == columns % 28 == 0
    assert rows * columns <= MAX_PIXELS


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080), (224, 168), (320, 240), (1080, 2400)])
def test_a_grid_no_smaller_than_the_screen_names_every_pixel(width: int, height: int) -> None:
    screen = ScreenSize(width=width, height=height)
    size = resized_grid(screen)
    assert size[0] >= width
    assert size[1] >= height
    for pixel in [*(Point(x=x, y=0) for x in range(width)), *(Point(x=0, y=y) for y in range(height))]:
        assert _back(pixel, screen, resized_grid) == pixel


@given(screens, grids, st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_pixel_that_some_coordinate_names_comes_back(
    screen: ScreenSize, grid: CoordinateGrid, x: int, y: int
) -> None:
    size = _size(screen, grid)
    pixel = grid_to_pixel(Fraction(x % size[0]), Fraction(y % size[1]), screen, size)
    assert pixel is not None
    assert _back(pixel, screen, grid) == pixel


@given(screens, grids, st.integers(0, 10**6), st.integers(0, 10**6))
def test_any_other_comes_back_within_half_a_cell(screen: ScreenSize, grid: CoordinateGrid, x: int, y: int) -> None:
    columns, rows = _size(screen, grid)
    pixel = Point(x=x % screen.width, y=y % screen.height)
    back = _back(pixel, screen, grid)
    assert back is not None
    assert abs(back.x - pixel.x) <= 1 + screen.width / columns
    assert abs(back.y - pixel.y) <= 1 + screen.height / rows


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ("0", "0", Point(x=0, y=0)),
        ("1000", "1000", Point(x=1279, y=719)),
        ("500", "500", Point(x=640, y=360)),
        ("177.5", "549.25", Point(x=227, y=395)),
        ("1000.1", "5", None),
        ("-1", "5", None),
        ("5", "1001", None),
    ],
)
def test_the_far_edge_belongs_to_the_screen_and_nothing_beyond(x: str, y: str, expected: Point | None) -> None:
    assert grid_to_pixel(Fraction(x), Fraction(y), ScreenSize(width=1280, height=720), (1000, 1000)) == expected


def _size(screen: ScreenSize, grid: CoordinateGrid) -> tuple[int, int]:
    assume(max(screen.width, screen.height) <= 200 * min(screen.width, screen.height))
    return grid(screen)


def _back(pixel: Point, screen: ScreenSize, grid: CoordinateGrid) -> Point | None:
    """A pixel, to the grid and back."""
    size = grid(screen)
    x, y = pixel_to_grid(pixel, screen, size)
    assert 0 <= x < size[0]
    assert 0 <= y < size[1]
    return grid_to_pixel(Fraction(x), Fraction(y), screen, size)
