"""The dialects of Qwen's `computer_use`, which differ in the space of their points.

The action names and parameters are those of the tool's published definition, the sentences around them our own. A call
is written as JSON; the XML calls of Qwen3.5's template are read as well.
"""

from protocol.dialects.coordinates import CoordinateGrid
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


def computer_dialect(name: str, grid: CoordinateGrid, limits: ImageLimits, *, points: str) -> FamilyDialect:
    """A dialect of the tool; `points` is the prompt's sentence on their space."""
    return FamilyDialect(
        name=name,
        codec=ToolCallsCodec(
            tool="computer_use",
            grid=grid,
            calls=COMPUTER_CALLS,
            turn=lambda thought, name, arguments: action_turn(thought, format_tool_call(name, arguments)),
            rename=rename_call,
        ),
        grammars=tool_grammars(COMPUTER_LINES, OPENING),
        template=tool_prompt("computer_use", DESCRIPTION, PARAMETERS, points=points, turn=TURN),
        limits=limits,
    )
