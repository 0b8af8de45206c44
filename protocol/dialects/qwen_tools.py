"""The actions of Qwen's `computer_use` and `mobile_use`, and of the tools that follow them: written, and read."""

from collections.abc import Callable, Mapping
from typing import Any, get_args

from protocol.actions.inputs import PIXELS_PER_NOTCH
from protocol.actions.keys import MODIFIERS
from protocol.actions.types import Drag, DragPath, Finish, Infeasible, LongPress, MouseClick, Point, Scroll, Swipe
from protocol.dialects.computer_tools import to_json
from protocol.dialects.family_dialect import Grammar
from protocol.dialects.json_lines import BROWSER, DESKTOP, END, PHONE, TOOLS
from protocol.dialects.json_tools import Arguments, CallWriter
from protocol.dialects.prompt_template import PromptTemplate
from protocol.trajectory.observations import Platform

_Pixel = Callable[[Any], list[int]]
_CLICKS = {
    ("left", 1): "left_click",
    ("left", 2): "double_click",
    ("left", 3): "triple_click",
    ("right", 1): "right_click",
    ("middle", 1): "middle_click",
}
_OPPOSITE = {"up": "down", "down": "up", "left": "right", "right": "left"}


def at(name: str) -> CallWriter:
    """A call of this name at the action's point."""
    return lambda action, pixel: {"action": name, "coordinate": pixel(Point(x=action.x, y=action.y))}


def _mouse_click(action: MouseClick, pixel: _Pixel) -> Arguments | None:
    name = _CLICKS.get((action.button, action.clicks))
    plain = action.point is not None and not action.keys
    if name is None or plain or not set(action.keys) <= set(MODIFIERS):
        return None
    where = {} if action.point is None else {"coordinate": pixel(action.point)}
    return {"action": name, **where, **({"text": "+".join(action.keys)} if action.keys else {})}


def _drag(action: Drag, pixel: _Pixel) -> Arguments | None:
    if action.button != "left":
        return None
    return {
        "action": "left_click_drag",
        "start_coordinate": pixel(action.start),
        "coordinate": pixel(action.end),
    }


def _drag_path(action: DragPath, pixel: _Pixel) -> Arguments | None:
    if len(action.points) > 1 or action.button != "left" or action.keys:
        return None
    return {"action": "left_click_drag", "coordinate": pixel(action.points[0])}


def scroll(action: Scroll, pixel: _Pixel) -> Arguments:
    """A scroll in pixels: up and right are positive."""
    where = {} if action.point is None else {"coordinate": pixel(action.point)}
    pixels = action.amount * PIXELS_PER_NOTCH * (1 if action.direction in ("up", "right") else -1)
    return {
        "action": "scroll" if action.direction in ("up", "down") else "hscroll",
        **where,
        "pixels": pixels,
    }


def _swipe_towards(action: Scroll, pixel: _Pixel) -> Arguments | None:
    if action.amount != Scroll.model_fields["amount"].default:
        return None
    where = {} if action.point is None else {"coordinate": pixel(action.point)}
    return {"action": "swipe", "direction": _OPPOSITE[action.direction], **where}


def _finish(action: Finish, _: _Pixel) -> Arguments:
    if action.answer:
        return {"action": "answer", "text": action.answer}
    return {"action": "terminate", "status": "success"}


def _infeasible(action: Infeasible, _: _Pixel) -> Arguments:
    return {"action": "terminate", "status": "failure", **({"text": action.reason} if action.reason else {})}


ENDINGS: dict[str, CallWriter] = {
    "wait": lambda action, _: {"action": "wait", "time": action.seconds},
    "call_user": lambda action, _: {"action": "interact", "text": action.message},
    "infeasible": _infeasible,
    "finish": _finish,
}
COMPUTER_CALLS: dict[str, CallWriter] = {
    "click": at("left_click"),
    "double_click": at("double_click"),
    "triple_click": at("triple_click"),
    "right_click": at("right_click"),
    "middle_click": at("middle_click"),
    "move_to": at("mouse_move"),
    "mouse_click": _mouse_click,
    "drag": _drag,
    "drag_path": _drag_path,
    "scroll": scroll,
    "type_text": lambda action, _: {"action": "type", "text": action.text},
    "press_keys": lambda action, _: {"action": "key", "keys": list(action.keys)},
    "press": lambda action, _: {"action": "key_down", "keys": [action.key]},
    "release": lambda action, _: {"action": "key_up", "keys": [action.key]},
    **ENDINGS,
}
"""`computer_use`; `key_down` and `key_up` are EvoCUA's, `interact` is GUI-Owl's."""


def _long_press(action: LongPress, pixel: _Pixel) -> Arguments:
    return {
        "action": "long_press",
        "coordinate": pixel(Point(x=action.x, y=action.y)),
        "time": action.seconds,
    }


def _swipe(action: Swipe, pixel: _Pixel) -> Arguments:
    return {"action": "swipe", "coordinate": pixel(action.start), "coordinate2": pixel(action.end)}


def _phone_drag(action: Drag, pixel: _Pixel) -> Arguments | None:
    if action.button != "left":
        return None
    return {"action": "drag", "start_coordinate": pixel(action.start), "end_coordinate": pixel(action.end)}


MOBILE_CALLS: dict[str, CallWriter] = {
    "click": at("click"),
    "long_press": _long_press,
    "swipe": _swipe,
    "drag": _phone_drag,
    "scroll": _swipe_towards,
    "type_text": lambda action, _: {"action": "type", "text": action.text},
    "open_app": lambda action, _: {"action": "open", "text": action.name},
    "press_home": lambda *_: {"action": "system_button", "button": "Home"},
    "press_back": lambda *_: {"action": "system_button", "button": "Back"},
    **ENDINGS,
}
"""`mobile_use`; a swipe by direction and `drag` are MAI-UI's."""


def rename_call(name: str, arguments: Arguments) -> tuple[str, Arguments]:
    """A call of these tools in names that `protocol.dialects.computer_tools` knows."""
    arguments = dict(arguments)
    name = _OTHER_NAMES.get(name, name)
    if name in ("left_click_drag", "drag"):
        return name, _rename_drag(arguments)
    if name in ("key_down", "key_up") and "keys" in arguments:
        arguments["key"] = arguments.pop("keys")
    if name == "swipe" and "direction" in arguments and "coordinate2" not in arguments:
        towards = str(arguments.pop("direction")).strip().lower()
        direction = _OPPOSITE.get(towards, towards)
        return "scroll", {**arguments, "direction": direction}
    return name, arguments


def _rename_drag(arguments: Arguments) -> Arguments:
    start = next((arguments.pop(key) for key in ("start_coordinate", "coordinate1") if key in arguments), None)
    end = next((arguments.pop(key) for key in ("end_coordinate", "coordinate2") if key in arguments), None)
    only = arguments.pop("coordinate", None)
    if start is None and end is None and only is not None:
        return {**arguments, "path": [only]}
    pair = {"start_coordinate": only if start is None else start, "coordinate": only if end is None else end}
    return {**arguments, **{key: value for key, value in pair.items() if value is not None}}


_OTHER_NAMES = {"AWAKE": "open", "INFO": "ask_user", "computer_double_click": "double_click"}

AT = '"coordinate": [x1, y1]'


def line(name: str, arguments: str = "", note: str = "") -> str:
    """An action of a computer tool, as its prompt tells of it."""
    return f'{{"action": "{name}"{", " if arguments else ""}{arguments}}}{f" # {note}" if note else ""}'


ENDING_LINES = {
    "wait": line("wait", '"time": 5', "Let seconds pass."),
    "call_user": line("interact", '"text": "xxx"', "Ask the user."),
    "infeasible": line("terminate", '"status": "failure"', "The task cannot be done; text may say why."),
    "finish": line("terminate", '"status": "success"', "The task is done; where it asks for an answer, use answer."),
}
COMPUTER_LINES = {
    "click": line("left_click", AT),
    "double_click": line("double_click", AT),
    "triple_click": line("triple_click", AT),
    "right_click": line("right_click", AT),
    "middle_click": line("middle_click", AT),
    "move_to": line("mouse_move", AT),
    "mouse_click": line("left_click", f'{AT}, "text": "ctrl"', "With keys held; at the pointer without a coordinate."),
    "drag": line("left_click_drag", '"start_coordinate": [x1, y1], "coordinate": [x2, y2]'),
    "drag_path": line("left_click_drag", AT, "From the pointer to there."),
    "scroll": line("scroll", f'{AT}, "pixels": -300', "Up where positive; hscroll goes to the right."),
    "type_text": line("type", '"text": "xxx"', "A line break at the end submits."),
    "press_keys": line("key", '"keys": ["ctrl", "c"]', "Pressed in order, released in reverse."),
    "press": line("key_down", '"keys": ["ctrl"]', "Press one key and hold it."),
    "release": line("key_up", '"keys": ["ctrl"]'),
    **ENDING_LINES,
}
MOBILE_LINES = {
    "click": line("click", AT),
    "long_press": line("long_press", f'{AT}, "time": 1'),
    "swipe": line("swipe", '"coordinate": [x1, y1], "coordinate2": [x2, y2]'),
    "drag": line("drag", '"start_coordinate": [x1, y1], "end_coordinate": [x2, y2]'),
    "scroll": line("swipe", f'"direction": "up", {AT}', "up, down, left or right; the coordinate may be left out."),
    "type_text": line("type", '"text": "xxx"'),
    "open_app": line("open", '"text": "xxx"', "Open an app by its name."),
    "press_home": line("system_button", '"button": "Home"'),
    "press_back": line("system_button", '"button": "Back"', "Enter is a button too."),
    **ENDING_LINES,
}


def tool_grammars(lines: Mapping[str, str], opening: str) -> dict[Platform, Grammar]:
    """What a family with such a tool may say on each platform: its own lines, and functions for what they lack."""
    ours: dict[Platform, Mapping[str, str]] = {
        "desktop": DESKTOP,
        "browser": BROWSER,
        "phone": PHONE,
        "terminal": {**TOOLS, **END},
    }
    return {
        platform: Grammar(
            opening,
            {
                kind: lines.get(kind) or each.replace('{"action":', '{"name":', 1)
                for kind, each in ours[platform].items()
            },
        )
        for platform in get_args(Platform)
    }


def tool_prompt(
    tool: str, description: str, parameters: Mapping[str, str], *, points: str, turn: str
) -> PromptTemplate:
    """A prompt with the tool's definition: its parameters by name with their JSON types."""
    properties = {name: {"type": kind} for name, kind in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": ["action"]}
    function = {"name": tool, "description": description, "parameters": schema}
    definition = to_json({"type": "function", "function": function})
    return PromptTemplate(
        prompt=f"""{{opening}}

# Tools

You may call one of these functions; signatures are within <tools></tools>:
<tools>
{definition}
</tools>

Return a call as JSON within <tool_call></tool_call>:
<tool_call>{{"name": "{tool}", "arguments": <args-json-object>}}</tool_call>
{points}

## Action space
{{actions}}
Lines with a "name" are functions of their own beside {tool}.

# Response format
{turn}""",
        task="# Task\n{instruction}",
    )


def action_turn(thought: str, text: str) -> str:
    """A turn that tells its action in a sentence before the call."""
    return f"Action: {thought}\n{text}" if thought else text
