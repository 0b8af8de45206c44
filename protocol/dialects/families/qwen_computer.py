"""Qwen's `computer_use` on a computer: Qwen3-VL, Qwen3.5 and later, EvoCUA (S2), GUI-Owl 1.5; points in thousandths.

Sizes are those of Qwen3-VL's processor, whose factor is 32.
"""

from protocol.dialects.coordinates import thousandths_grid
from protocol.dialects.qwen_computer_tool import computer_dialect
from protocol.trajectory.proposals import ImageLimits

DIALECT = computer_dialect(
    "qwen_computer",
    thousandths_grid,
    ImageLimits(min_pixels=65_536, max_pixels=16_777_216),
    points="The screen's resolution is 1000x1000: coordinates are whole numbers over it.",
)
