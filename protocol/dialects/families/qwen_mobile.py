"""`mobile_use` on a phone: GUI-Owl 1.5 and MAI-UI; points in thousandths.

The action names are those of both makers' published prompts, the sentences around them our own. A thought is written
between <thinking> tags, as MAI-UI's history has it; the sentence `Action: …` of GUI-Owl is read as one. MAI-UI counts
to 999: the difference is under a thousandth of the screen.
"""

from protocol.dialects.coordinates import thousandths_grid
from protocol.dialects.family_dialect import FamilyDialect
from protocol.dialects.json_tools import Arguments, ToolCallsCodec, format_tool_call
from protocol.dialects.qwen_tools import (
    MOBILE_CALLS,
    MOBILE_LINES,
    rename_call,
    tool_grammars,
    tool_prompt,
)
from protocol.trajectory.proposals import ImageLimits

PARAMETERS = {
    "action": "string",
    "coordinate": "array",
    "coordinate2": "array",
    "text": "string",
    "time": "number",
    "button": "string",
    "status": "string",
}


def _turn(thought: str, name: str, arguments: Arguments) -> str:
    call = format_tool_call(name, arguments)
    return f"<thinking>\n{thought}\n</thinking>\n{call}" if thought else call


DIALECT = FamilyDialect(
    name="qwen_mobile",
    codec=ToolCallsCodec("mobile_use", thousandths_grid, MOBILE_CALLS, _turn, rename_call),
    grammars=tool_grammars(
        MOBILE_LINES, "You operate a phone. You get a task, your past actions and screenshots, and make the next call."
    ),
    template=tool_prompt(
        "mobile_use",
        "Use a touchscreen to interact with a mobile device.",
        PARAMETERS,
        points="The screen's resolution is 1000x1000: coordinates are whole numbers over it.",
        turn="A short plan in {language} within <thinking></thinking>, then one <tool_call>…</tool_call> block.",
    ),
    limits=ImageLimits(min_pixels=65_536, max_pixels=16_777_216),
)
