"""GLM-4.1V to GLM-4.6V on a computer: an explanation and a call in a box; points in thousandths.

Signatures and reply frame are those of zai-org/GLM-V's GUI prompt, the sentences around them our own; the lines for
phones, commands, files and tools are ours. The list of memories that its makers ask for after the call is left out: the
history holds every thought.
"""

from protocol.actions.types import Drag, PressKeys, Scroll, Wait
from protocol.dialects.action_lines import TOOL_LINES
from protocol.dialects.coordinates import MAX_PIXELS, thousandths_grid
from protocol.dialects.family_dialect import FamilyDialect, Grammar
from protocol.dialects.function_calls import FunctionCall
from protocol.dialects.named_calls import NamedCallCodec, NamedCallWriter, quoted, renamed_call, without_arguments
from protocol.dialects.prompt_template import PromptTemplate
from protocol.trajectory.proposals import ImageLimits

PROMPT_TEMPLATE = """{opening}
The actions you output must be in this action space:
{actions}

1. Boxes are [x,y] in thousandths of the screen.
2. element_info may say what the element is.
3. Never output several actions at once.
4. Explain the action in {language} before it, in plain text.

Output format:
Plain text explanation with <|begin_of_box|>action(param='...')<|end_of_box|>

Task:
{instruction}"""

NAMES = (
    *("left_click", "right_click", "middle_click", "hover", "left_double_click", "left_drag", "key", "type", "scroll"),
    *("WAIT", "DONE", "FAIL"),
)
BOX = "start_box='[x1,y1]'"
TYPE = r"type(content='xxx') # Types into what has the focus; escape \', \" and \n."
ENDINGS = {
    "wait": "WAIT() # Let 5 seconds pass.",
    "call_user": "call_user(content='xxx') # Ask the user.",
    "infeasible": "FAIL() # The task cannot be done.",
    "finish": "DONE() # The task is done.",
}
DESKTOP = {
    "click": f"left_click({BOX})",
    "right_click": f"right_click({BOX})",
    "middle_click": f"middle_click({BOX})",
    "move_to": f"hover({BOX})",
    "double_click": f"left_double_click({BOX})",
    "drag": f"left_drag({BOX}, end_box='[x2,y2]')",
    "press_keys": "key(keys='ctrl+c') # A key or several, with + between them.",
    "type_text": TYPE,
    "scroll": f"scroll({BOX}, direction='down or up or right or left', step=5)",
    **TOOL_LINES,
    **ENDINGS,
}
BROWSER = {
    **DESKTOP,
    "navigate": "navigate(content='xxx') # Open an address.",
    "navigate_back": "navigate_back() # Go back one page.",
}
PHONE = {
    **{kind: DESKTOP[kind] for kind in ("click", "drag", "scroll", "type_text")},
    "long_press": "long_press(start_box='[x1,y1]')",
    "open_app": "open_app(app_name='')",
    "press_home": "press_home()",
    "press_back": "press_back()",
    **ENDINGS,
}


def _at(name: str) -> NamedCallWriter:
    return lambda action, point: f"{name}(start_box='{point(action)}')"


def _drag(action: Drag, point: object) -> str | None:
    assert callable(point)
    return (
        None
        if action.button != "left"
        else f"left_drag(start_box='{point(action.start)}', end_box='{point(action.end)}')"
    )


def _scroll(action: Scroll, point: object) -> str:
    assert callable(point)
    where = f"start_box='{point(action.point)}', " if action.point else ""
    return f"scroll({where}direction='{action.direction}', step={action.amount})"


def _keys(action: PressKeys, _: object) -> str:
    return f"key(keys={quoted('+'.join('plus' if key == '+' else key for key in action.keys))})"


CALLS: dict[str, NamedCallWriter] = {
    "click": _at("left_click"),
    "right_click": _at("right_click"),
    "middle_click": _at("middle_click"),
    "move_to": _at("hover"),
    "double_click": _at("left_double_click"),
    "drag": _drag,
    "press_keys": _keys,
    "type_text": lambda action, _: f"type(content={quoted(action.text)})",
    "scroll": _scroll,
    "wait": lambda action, _: "WAIT()" if action == Wait() else None,
    "finish": lambda action, _: None if action.answer else "DONE()",
    "infeasible": lambda action, _: None if action.reason else "FAIL()",
}
_OURS = {
    "left_click": "click",
    "right_click": "right_single",
    "middle_click": "middle_click",
    "hover": "move_to",
    "left_double_click": "left_double",
    "left_drag": "drag",
    "WAIT": "wait",
    "DONE": "finished",
    "FAIL": "infeasible",
}


def _rename(call: FunctionCall) -> FunctionCall:
    call = without_arguments(call, "element_info", "start_element_info", "end_element_info")
    if call.name == "key":
        return renamed_call("hotkey", call, keys="key")
    return renamed_call(_OURS.get(call.name, call.name), call, **({"step": "amount"} if call.name == "scroll" else {}))


def _turn(thought: str, call: str) -> str:
    return f"{thought}\n<|begin_of_box|>{call}<|end_of_box|>" if thought else f"<|begin_of_box|>{call}<|end_of_box|>"


DIALECT = FamilyDialect(
    name="glm_v",
    codec=NamedCallCodec(
        grid=thousandths_grid,
        names=NAMES,
        calls=CALLS,
        point=lambda x, y: f"[{x},{y}]",
        turn=_turn,
        rename=_rename,
    ),
    grammars={
        "desktop": Grammar("You operate a computer step by step. You get a task and what you did so far.", DESKTOP),
        "browser": Grammar("You operate a web browser step by step. You get a task and what you did so far.", BROWSER),
        "phone": Grammar("You operate a phone step by step. You get a task and what you did so far.", PHONE),
        "terminal": Grammar(
            "You operate a computer without a screen. You get a task and what you did so far.",
            {**TOOL_LINES, **ENDINGS},
        ),
    },
    template=PromptTemplate(prompt=PROMPT_TEMPLATE),
    limits=ImageLimits(min_pixels=12_544, max_pixels=MAX_PIXELS),
)
