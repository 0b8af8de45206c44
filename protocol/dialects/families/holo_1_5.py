"""Holo1.5 of H Company: as `holo`, with points in pixels of the resized picture (Qwen2.5-VL's processor)."""

from dataclasses import replace

from protocol.dialects.coordinates import limited_grid
from protocol.dialects.holo_tools import HOLO
from protocol.dialects.json_tools import JsonToolCodec
from protocol.dialects.prompt_template import PromptTemplate
from protocol.trajectory.proposals import ImageLimits

LIMITS = ImageLimits(min_pixels=3_136, max_pixels=12_845_056)
assert isinstance(HOLO.codec, JsonToolCodec)

DIALECT = replace(
    HOLO,
    name="holo_1_5",
    codec=replace(HOLO.codec, grid=limited_grid(LIMITS.min_pixels, LIMITS.max_pixels)),
    template=PromptTemplate(
        prompt=HOLO.template.prompt.replace("whole numbers from 0 to 1000 over the screen", "pixels of the screenshot"),
        task=HOLO.template.task,
    ),
    limits=LIMITS,
)
