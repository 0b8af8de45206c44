"""The bundled screens of the grounding probe, and what is to be clicked on them.

`benchmarks/parts/models/probe_screens.py` draws them: two sets of 50 targets, each at three screen sizes. `desktop` is
the usual one, `small` is for policies of small pages.
"""

from functools import cache
from pathlib import Path

from protocol.base import FrozenModel
from protocol.blobs import BlobRef
from protocol.evaluation.probes import ScreenSet

FOLDER = Path(__file__).parent / "screens"
TARGETS_FILE = "targets.jsonl"


class Target(FrozenModel):
    """One thing to click; `box` is left, top, right, bottom in pixels of its screen."""

    screens: ScreenSet
    screen: str
    """File name of its picture."""
    size: tuple[int, int]
    instruction: str
    box: tuple[int, int, int, int]

    @property
    def center(self) -> tuple[float, float]:
        """The middle of the box."""
        left, top, right, bottom = self.box
        return (left + right) / 2, (top + bottom) / 2

    def hit(self, x: float, y: float) -> bool:
        """Whether a click there counts."""
        left, top, right, bottom = self.box
        return left <= x <= right and top <= y <= bottom


@cache
def probe_targets(screens: ScreenSet) -> tuple[Target, ...]:
    """The targets of a set, those of one screen size side by side."""
    return tuple(target for target in _all_targets() if target.screens == screens)


@cache
def screen_picture(name: str) -> tuple[BlobRef, bytes]:
    """A screen's PNG by its file name. Raises KeyError for an unknown one."""
    if name not in {target.screen for target in _all_targets()}:
        raise KeyError(name)
    data = (FOLDER / name).read_bytes()
    return BlobRef.of(data, "image/png"), data


@cache
def _all_targets() -> tuple[Target, ...]:
    return tuple(map(Target.model_validate_json, (FOLDER / TARGETS_FILE).read_text().splitlines()))
