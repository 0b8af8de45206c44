"""Qwen's `computer_use` on a computer: Qwen3-VL, Qwen3.5 and later, EvoCUA (S2), GUI-Owl 1.5; points in thousandths.

The action names and parameters are those of the tool's published definition, the sentences around them our own. A call
is written as JSON; the XML calls of Qwen3.5's template are read as well. Sizes are those of Qwen3-VL's processor, whose
factor is 32.
"""

from protocol.dialects.coordinates import thousandths_grid
from protocol.dialects.family_dialect import FamilyDialect
from protocol.dialects.json_tools import ToolCallsCodec, format_tool_call
from protocol.dialects.qwen_tools import (
    COMPUTER_CALLS,
    COMPUTER_LINES,
    action_turn,
    rename_call,
    tool_grammars,
    tool_prompt,
)
from protocol.trajectory.proposals import ImageLimits

PARAMETERS = {
    "action": "string",
    "keys": "array",
    "text": "string",
    "coordinate": "array",
    "pixels": "number",
    "time": "number",
    "status": "string",
}
DESCRIPTION = "Use a mouse and keyboard to interact with a computer."
TURN = """1) Action: what you do next and why, in {language}.
2) One <tool_call>…</tool_call> block, and nothing after it."""
OPENING = "You operate a computer. You get a task, your past actions and screenshots, and make the next call."

DIALECT = FamilyDialect(
    name="qwen_computer",
    codec=ToolCallsCodec(
        tool="computer_use",
        grid=thousandths_grid,
        calls=COMPUTER_CALLS,
        turn=lambda thought, name, arguments: action_turn(thought, format_tool_call(name, arguments)),
        rename=rename_call,
    ),
    grammars=tool_grammars(COMPUTER_LINES, OPENING),
    prompt_template=tool_prompt(
        "computer_use",
        DESCRIPTION,
        PARAMETERS,
        points="The screen's resolution is 1000x1000: coordinates are whole numbers over it.",
        turn=TURN,
    ),
    limits=ImageLimits(min_pixels=65_536, max_pixels=16_777_216),
)
