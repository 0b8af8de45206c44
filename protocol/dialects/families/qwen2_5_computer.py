"""Qwen2.5-VL's `computer_use`: the same tool as `qwen_computer`, with points in pixels of the resized picture.

The processor's factor is 28; its limits are 3,136 and 12,845,056 pixels.
"""

from dataclasses import replace

from protocol.dialects.coordinates import limited_grid
from protocol.dialects.families.qwen_computer import DESCRIPTION, PARAMETERS, TURN
from protocol.dialects.families.qwen_computer import DIALECT as QWEN_COMPUTER
from protocol.dialects.json_tools import ToolCallsCodec, format_tool_call
from protocol.dialects.qwen_tools import COMPUTER_CALLS, action_turn, rename_call, tool_prompt
from protocol.trajectory.proposals import ImageLimits

LIMITS = ImageLimits(min_pixels=3_136, max_pixels=12_845_056)

DIALECT = replace(
    QWEN_COMPUTER,
    name="qwen2_5_computer",
    codec=ToolCallsCodec(
        tool="computer_use",
        grid=limited_grid(LIMITS.min_pixels, LIMITS.max_pixels),
        calls=COMPUTER_CALLS,
        turn=lambda thought, name, arguments: action_turn(thought, format_tool_call(name, arguments)),
        rename=rename_call,
    ),
    prompt_template=tool_prompt(
        "computer_use", DESCRIPTION, PARAMETERS, points="Coordinates are pixels of the screenshot.", turn=TURN
    ),
    limits=LIMITS,
)
