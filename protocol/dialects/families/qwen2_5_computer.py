"""Qwen2.5-VL's `computer_use`: the same tool as `qwen_computer`, with points in pixels of the resized picture.

The processor's factor is 28; its limits are 3,136 and 12,845,056 pixels.
"""

from protocol.dialects.coordinates import limited_grid
from protocol.dialects.qwen_computer_tool import computer_dialect
from protocol.trajectory.proposals import ImageLimits

LIMITS = ImageLimits(min_pixels=3_136, max_pixels=12_845_056)

DIALECT = computer_dialect(
    "qwen2_5_computer",
    limited_grid(LIMITS.min_pixels, LIMITS.max_pixels),
    LIMITS,
    points="Coordinates are pixels of the screenshot.",
)
