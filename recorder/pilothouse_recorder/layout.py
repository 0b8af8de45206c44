"""Monitors as one picture: the place of each in it, and the pixel of a point of the desktop."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Monitor:
    """A monitor's place on the desktop in the desktop's own units, and its pixels per unit.

    Windows units are pixels, so the scale is 1. macOS units are points, so the scale is 1 or 2.
    """

    left: float
    top: float
    width: float
    height: float
    scale: float = 1.0


class Layout:
    """All monitors in one picture. If their scales differ, the picture has the finest monitor's scale, so that none
    loses detail.
    """

    def __init__(self, monitors: Sequence[Monitor]) -> None:
        self.monitors = tuple(monitors)
        self.scale = max((one.scale for one in monitors), default=1.0)
        self._left = min((one.left for one in monitors), default=0.0)
        self._top = min((one.top for one in monitors), default=0.0)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and self.monitors == other.monitors

    def __hash__(self) -> int:
        return hash(self.monitors)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the picture."""
        right = max((one.left + one.width for one in self.monitors), default=0.0)
        bottom = max((one.top + one.height for one in self.monitors), default=0.0)
        return round((right - self._left) * self.scale), round((bottom - self._top) * self.scale)

    def pixel(self, x: float, y: float) -> tuple[int, int]:
        """The pixel of a point of the desktop, within the picture: a pointer may be reported past the edge."""
        width, height = self.size
        return (
            min(max(int((x - self._left) * self.scale), 0), max(width - 1, 0)),
            min(max(int((y - self._top) * self.scale), 0), max(height - 1, 0)),
        )

    def point(self, x: int, y: int) -> tuple[float, float]:
        """The point of the desktop in the middle of a pixel of the picture."""
        return (x + 0.5) / self.scale + self._left, (y + 0.5) / self.scale + self._top

    def bounds(self, left: float, top: float, width: float, height: float) -> tuple[int, int, int, int]:
        """A rectangle of the desktop as x, y, width and height in the picture."""
        return (
            round((left - self._left) * self.scale),
            round((top - self._top) * self.scale),
            round(width * self.scale),
            round(height * self.scale),
        )
