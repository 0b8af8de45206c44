"""Holo2 of H Company: one JSON object with a note, a thought and an action; points in thousandths.

The actions are those of its cookbook (hcompai/hai-cookbook), the sentences around them our own. `write_element_abs`
means a click, typing and Enter: several actions. `write` (typing where the focus is) and other functions are ours.
"""

from typing import Any

from protocol.actions.types import Point, Scroll, Wait
from protocol.dialects.coordinates import thousandths_grid
from protocol.dialects.family_dialect import FamilyDialect
from protocol.dialects.function_calls import ReplyParseError, several_actions_error
from protocol.dialects.json_tools import Arguments, CallWriter, JsonToolCodec, format_call_json
from protocol.dialects.prompt_template import PromptTemplate
from protocol.dialects.qwen_tools import line, tool_grammars
from protocol.trajectory.proposals import ImageLimits

PROMPT_TEMPLATE = """{opening}

## Output
One JSON object and nothing else; the note holds what you want to remember, the thought is in {language}:
{"note": "…", "thought": "…", "action": {"action": "…"}}
Points are x and y, whole numbers from 0 to 1000 over the screen.

## Actions
{actions}"""
TASK_TEMPLATE = "## Task\n{instruction}"


def _click(action: Any, pixel: Any) -> Arguments:
    x, y = pixel(Point(x=action.x, y=action.y))
    return {"action": "click_element", "element": "", "x": x, "y": y}


def _scroll(action: Scroll, _: Any) -> Arguments | None:
    usual = action.point is None and action.amount == Scroll.model_fields["amount"].default
    return {"action": "scroll", "direction": action.direction} if usual else None


def _wait(action: Wait, _: Any) -> Arguments | None:
    return {"action": "wait", "seconds": int(action.seconds)} if action.seconds == int(action.seconds) else None


CALLS: dict[str, CallWriter] = {
    "click": _click,
    "type_text": lambda action, _: {"action": "write", "content": action.text},
    "scroll": _scroll,
    "wait": _wait,
    "navigate": lambda action, _: {"action": "goto", "url": action.url},
    "navigate_back": lambda *_: {"action": "go_back"},
    "finish": lambda action, _: {"action": "answer", "content": action.answer},
}
LINES = {
    "click": line("click_element", '"element": "xxx", "x": 1, "y": 1'),
    "type_text": line("write", '"content": "xxx"', "Type where the focus is; a line break at the end submits."),
    "scroll": line("scroll", '"direction": "down or up or right or left"'),
    "wait": line("wait", '"seconds": 2'),
    "navigate": line("goto", '"url": "xxx"'),
    "navigate_back": line("go_back"),
    "finish": line("answer", '"content": "xxx"', "The task is done."),
}


def _rename(name: str, arguments: Arguments) -> tuple[str, Arguments]:
    arguments = {key: value for key, value in arguments.items() if key != "element"}
    if name == "write_element_abs":
        raise several_actions_error("write_element_abs means a click, typing and Enter")
    if name == "restart":
        raise ReplyParseError("unknown_action", "A task cannot be restarted by its policy.")
    if name == "refresh":
        return "hotkey", {**arguments, "key": "f5"}
    return _NAMES.get(name, name), arguments


_NAMES = {"click_element": "click", "write": "type", "goto": "navigate", "go_back": "navigate_back"}


def _turn(thought: str, name: str, arguments: Arguments) -> str:
    call = arguments if not name else {"name": name, "arguments": arguments}
    return format_call_json({"note": "", "thought": thought, "action": call})


HOLO = FamilyDialect(
    name="holo",
    codec=JsonToolCodec("", thousandths_grid, CALLS, _turn, _rename),
    grammars=tool_grammars(
        LINES, "You browse the web. You get a task, your past actions and screenshots, and choose the next action."
    ),
    template=PromptTemplate(prompt=PROMPT_TEMPLATE, task=TASK_TEMPLATE),
    limits=ImageLimits(min_pixels=65_536, max_pixels=16_777_216),
)
