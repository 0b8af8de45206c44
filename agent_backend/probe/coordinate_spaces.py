"""Infers the coordinate space of a model's points from targets that it was asked to click."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from math import hypot, sqrt
from statistics import fmean, stdev
from typing import Literal

from agent_backend.probe.targets import Target
from protocol.dialects.coordinates import MAX_PIXELS, MIN_PIXELS, smart_resize

Size = tuple[int, int]
RawPoint = tuple[float, float]
FEWEST_POINTS = 10
"""Replies with numbers that are needed to tell one space from another."""
CONFIDENCE_Z = 2.58
"""Standard errors by which a space must fit better (99 %)."""
BETTER_SHARE = 0.5
"""A space fits better when its mean error is at most this share of the dialect's own."""
_NUMBER = re.compile(r"(?<![\w.])-?(?:\d{1,7}(?:\.\d{1,20})?|\.\d{1,20})(?![\w.])")


def _resized(size: Size, *, factor: int, min_pixels: int, max_pixels: int) -> Size:
    rows, columns = smart_resize(size[1], size[0], factor=factor, min_pixels=min_pixels, max_pixels=max_pixels)
    return columns, rows


GRIDS: Mapping[str, Callable[[Size], tuple[float, float]]] = {
    "thousandths of the screen": lambda size: (1000, 1000),
    "shares of the screen from 0 to 1": lambda size: (1, 1),
    "pixels of the screen": lambda size: size,
    "pixels of a picture scaled to multiples of 28": partial(
        _resized, factor=28, min_pixels=MIN_PIXELS, max_pixels=MAX_PIXELS
    ),
    "pixels of a picture scaled to multiples of 28, of 1 megapixel at most": partial(
        _resized, factor=28, min_pixels=4 * 28**2, max_pixels=1280 * 28**2
    ),
    "pixels of a picture scaled to multiples of 32": partial(
        _resized, factor=32, min_pixels=65_536, max_pixels=16_777_216
    ),
}
"""The coordinate spaces of current models."""
RELATIVE = frozenset({"thousandths of the screen", "shares of the screen from 0 to 1"})


@dataclass(frozen=True)
class SpaceFit:
    """A space that fits the points better than the dialect's own.

    Attributes:
        code: What is wrong: the space altogether, or the size that the picture is scaled to.
        space: The space in words.
        error_px: Its mean distance from the targets (pixels of the screen).
        own_error_px: The dialect's own.
    """

    code: Literal["wrong_space", "wrong_factor"]
    space: str
    error_px: float
    own_error_px: float


def raw_point(action_text: str) -> RawPoint | None:
    """The numbers a reply names as its point: the first two, or the middle where there are exactly four."""
    numbers = [float(number) for number in _NUMBER.findall(action_text)]
    if len(numbers) == 4:
        return (numbers[0] + numbers[2]) / 2, (numbers[1] + numbers[3]) / 2
    return (numbers[0], numbers[1]) if len(numbers) >= 2 else None


def better_space(
    targets: Sequence[Target],
    raw: Sequence[RawPoint | None],
    own: Sequence[tuple[float, float] | None],
    *,
    absolute: bool,
) -> SpaceFit | None:
    """The space that fits clearly better than the dialect's own; None where its own is as good.

    Args:
        targets: What was asked for.
        raw: The numbers of each reply as the model wrote them.
        own: The point of each reply as the dialect reads it (pixels of the screen).
        absolute: Whether the dialect's space is pixels of a scaled picture.
    """
    named = [(target, point, read) for target, point, read in zip(targets, raw, own, strict=True) if point is not None]
    if len(named) < FEWEST_POINTS:
        return None
    own_errors = [_distance(target, read) if read else hypot(*target.size) for target, _, read in named]
    best_space, best = "", own_errors
    for space, errors in _errors_by_space([(target, point) for target, point, _ in named]).items():
        if fmean(errors) < fmean(best):
            best_space, best = space, errors
    gains = [own_error - error for own_error, error in zip(own_errors, best, strict=True)]
    clear = fmean(gains) > CONFIDENCE_Z * stdev(gains) / sqrt(len(gains))
    if not best_space or not clear or fmean(best) > BETTER_SHARE * fmean(own_errors):
        return None
    code: Literal["wrong_space", "wrong_factor"] = (
        "wrong_factor" if absolute and best_space not in RELATIVE and "crosswise" not in best_space else "wrong_space"
    )
    return SpaceFit(code, best_space, round(fmean(best), 1), round(fmean(own_errors), 1))


def _errors_by_space(named: Sequence[tuple[Target, RawPoint]]) -> dict[str, list[float]]:
    spaces: dict[str, list[float]] = {}
    for space, grid in GRIDS.items():
        for crosswise in (False, True):
            errors = [_distance(target, _scaled(target.size, point, grid, crosswise)) for target, point in named]
            spaces[space + (", named crosswise (y before x)" if crosswise else "")] = errors
    spaces["pixels of a picture of another size"] = _fitted_errors(named)
    return spaces


def _scaled(
    size: Size, point: RawPoint, grid: Callable[[Size], tuple[float, float]], crosswise: bool
) -> tuple[float, float]:
    columns, rows = grid(size)
    x, y = reversed(point) if crosswise else point
    return x / columns * size[0], y / rows * size[1]


def _fitted_errors(named: Sequence[tuple[Target, RawPoint]]) -> list[float]:
    """Errors with the scale of each screen size that fits its points best (least squares)."""
    errors = list[float]()
    for _, group in groupby(named, key=lambda each: each[0].size):
        pairs = list(group)
        over = sum(point[0] * target.center[0] + point[1] * target.center[1] for target, point in pairs)
        under = sum(point[0] ** 2 + point[1] ** 2 for _, point in pairs) or 1.0
        scale = over / under
        errors += [_distance(target, (point[0] * scale, point[1] * scale)) for target, point in pairs]
    return errors


def _distance(target: Target, point: tuple[float, float]) -> float:
    """From the middle of the target, at most the diagonal of its screen (pixels)."""
    return min(hypot(point[0] - target.center[0], point[1] - target.center[1]), hypot(*target.size))
