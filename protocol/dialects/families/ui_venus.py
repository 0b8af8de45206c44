"""UI-Venus 1.5 and 2: `<think>` and `<action>`, with points as `(x, y)` in thousandths.

Signatures and reply frame are those of inclusionAI/UI-Venus's prompts, the sentences around them our own; the lines for
commands, files and tools are ours. `box` and `point` are read alike. `Answer` speaks to the user and ends nothing.
"""

import re

from protocol.actions.types import Drag, Finish, MouseClick, PressKeys, Swipe, Wait
from protocol.dialects.action_lines import TOOL_LINES
from protocol.dialects.coordinates import thousandths_grid
from protocol.dialects.family_dialect import FamilyDialect, Grammar
from protocol.dialects.function_calls import FunctionCall, ReplyParseError, several_actions_error
from protocol.dialects.named_calls import NamedCallCodec, NamedCallWriter, quoted, renamed_call
from protocol.dialects.prompt_template import PromptTemplate
from protocol.trajectory.proposals import ImageLimits

PROMPT_TEMPLATE = """{opening}

### Available Actions
One of these functions; coordinates are whole numbers from 0 to 999 over the screen:
{actions}

### Output
<think>what you see and why you act, in {language}</think>
<action>one function</action>

### User Task
{instruction}"""

POINT = "point=(x1, y1)"
TYPE = r"Type(content='xxx') # Into what has the focus; escape \', \" and \n. A final \n submits."
ENDINGS = {
    "wait": "Wait() # Let the page or a slow operation finish.",
    "call_user": "CallUser(content='xxx') # Ask the user.",
    "infeasible": "infeasible(content='xxx') # The task cannot be done, and why.",
    "finish": "Finished(content='xxx') # The task is done; content tells the outcome.",
}
PATH = "start=(x1, y1), end=(x2, y2)"
DESKTOP = {
    "click": f"Click({POINT})",
    "double_click": f"DoubleClick({POINT})",
    "triple_click": f"TripleClick({POINT})",
    "right_click": f"RightClick({POINT})",
    "middle_click": f"MiddleClick({POINT})",
    "move_to": f"Hover({POINT})",
    "mouse_click": f"Click({POINT}, holding=['ctrl']) # With modifier keys held.",
    "drag": f"Drag({PATH})",
    "scroll": "scroll(point='[x1, y1]', direction='down or up or right or left')",
    "type_text": TYPE,
    "press_keys": "Hotkey(keys=['ctrl', 'c'])",
    **TOOL_LINES,
    **ENDINGS,
}
BROWSER = {
    **DESKTOP,
    "navigate": "navigate(content='xxx') # Open an address.",
    "navigate_back": "navigate_back() # Go back one page.",
}
PHONE = {
    "click": f"Click({POINT})",
    "double_click": f"DoubleClick({POINT})",
    "long_press": f"LongPress({POINT})",
    "drag": f"Drag({PATH})",
    "swipe": f"Swipe({PATH})",
    "type_text": TYPE,
    "press_keys": "PressEnter()",
    "open_app": "LaunchApp(app='xxx')",
    "press_home": "PressHome()",
    "press_back": "PressBack()",
    **ENDINGS,
}
NAMES = (
    *("Click", "DoubleClick", "TripleClick", "RightClick", "MiddleClick", "Hover", "Drag", "Swipe", "Scroll"),
    *("LongPress", "Type", "Hotkey", "LaunchApp", "Launch", "Wait", "CallUser", "Answer", "GetScreenshot"),
    *("PressBack", "PressHome", "PressEnter", "PressRecent", "Finished"),
)
_OURS = {
    "Click": "click",
    "DoubleClick": "left_double",
    "TripleClick": "triple_click",
    "RightClick": "right_single",
    "MiddleClick": "middle_click",
    "Hover": "move_to",
    "Drag": "drag",
    "Swipe": "swipe",
    "Scroll": "swipe",
    "LongPress": "long_press",
    "Type": "type",
    "LaunchApp": "open_app",
    "Launch": "open_app",
    "Wait": "wait",
    "CallUser": "call_user",
    "Answer": "call_user",
    "PressBack": "press_back",
    "PressHome": "press_home",
    "Finished": "finished",
}
_ARGUMENTS = {"box": "point", "start": "start_point", "end": "end_point", "app": "app_name", "holding": "keys"}
_LIST_MARKS = re.compile(r"['\"\[\]()]")
_MODIFIERS = {"ctrl", "shift", "alt", "super"}


def _at(name: str) -> NamedCallWriter:
    return lambda action, point: f"{name}(point={point(action)})"


def _mouse_click(action: MouseClick, point: object) -> str | None:
    simple = action.button == "left" and action.clicks == 1 and action.point and action.keys
    if not simple or not set(action.keys) <= _MODIFIERS or not callable(point):
        return None
    return f"Click(point={point(action.point)}, holding={list(action.keys)})"


def _path(name: str) -> NamedCallWriter:
    def write(action: Drag | Swipe, point: object) -> str | None:
        if (isinstance(action, Drag) and action.button != "left") or not callable(point):
            return None
        return f"{name}(start={point(action.start)}, end={point(action.end)})"

    return write


def _keys(action: PressKeys, _: object) -> str | None:
    if action.keys == ("enter",):
        return "PressEnter()"
    return (
        None
        if {"'", '"', "\\", "+", "(", ")", "[", "]", ","} & set(action.keys)
        else f"Hotkey(keys={list(action.keys)})"
    )


CALLS: dict[str, NamedCallWriter] = {
    "click": _at("Click"),
    "double_click": _at("DoubleClick"),
    "triple_click": _at("TripleClick"),
    "right_click": _at("RightClick"),
    "middle_click": _at("MiddleClick"),
    "move_to": _at("Hover"),
    "mouse_click": _mouse_click,
    "long_press": lambda action, point: f"LongPress(point={point(action)})" if action.seconds == 1 else None,
    "drag": _path("Drag"),
    "swipe": _path("Swipe"),
    "type_text": lambda action, _: f"Type(content={quoted(action.text)})",
    "press_keys": _keys,
    "open_app": lambda action, _: f"LaunchApp(app={quoted(action.name)})",
    "press_home": lambda *_: "PressHome()",
    "press_back": lambda *_: "PressBack()",
    "wait": lambda action, _: "Wait()" if action == Wait() else None,
    "call_user": lambda action, _: f"CallUser(content={quoted(action.message)})",
    "finish": lambda action, _: _finished(action),
}


def _finished(action: Finish) -> str:
    return f"Finished(content={quoted(action.answer)})"


def _rename(call: FunctionCall) -> FunctionCall:
    if call.name == "PressEnter":
        return FunctionCall("hotkey", {"key": "enter", **call.arguments})
    if call.name == "Hotkey":
        arguments = dict(call.arguments)
        if arguments.pop("repeat", "1").strip() != "1":
            raise several_actions_error("it presses its keys more than once")
        return FunctionCall("hotkey", {key: _plain_list(value) for key, value in arguments.items()})
    if call.name not in _OURS:
        raise ReplyParseError("unknown_action", f"“{call.name}” is no action here.")
    renamed = renamed_call(_OURS[call.name], call, **_ARGUMENTS)
    keys = _plain_list(renamed.arguments.pop("keys", ""))
    if not keys:
        return renamed
    if call.name != "Click":
        raise ReplyParseError("bad_arguments", f"{call.name} holds no keys here.")
    return FunctionCall("mouse_click", {**renamed.arguments, "keys": keys})


def _plain_list(text: str) -> str:
    """The items of a list or tuple of texts, a space between them."""
    return " ".join(part.strip() for part in _LIST_MARKS.sub("", text).split(",")).strip()


def _turn(thought: str, call: str) -> str:
    action = f"<action>\n{call}\n</action>"
    return f"<think>\n{thought}\n</think>\n{action}" if thought else action


DIALECT = FamilyDialect(
    name="ui_venus",
    codec=NamedCallCodec(
        grid=thousandths_grid,
        names=NAMES,
        calls=CALLS,
        point=lambda x, y: f"({x}, {y})",
        turn=_turn,
        rename=_rename,
    ),
    grammars={
        "desktop": Grammar("You are a GUI agent on a desktop. Execute the task with precise actions.", DESKTOP),
        "browser": Grammar("You are a GUI agent in a web browser. Execute the task with precise actions.", BROWSER),
        "phone": Grammar("You are a GUI agent on a phone. Execute the task with precise actions.", PHONE),
        "terminal": Grammar("You work on a computer without a screen.", {**TOOL_LINES, **ENDINGS}),
    },
    template=PromptTemplate(prompt=PROMPT_TEMPLATE),
    limits=ImageLimits(min_pixels=65_536, max_pixels=16_777_216),
)
