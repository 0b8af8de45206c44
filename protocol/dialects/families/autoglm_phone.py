"""AutoGLM-Phone: `<think>` and `<answer>` with one line of pseudo-code; points as `[x,y]` in thousandths.

Signatures and reply frame are those of zai-org/Open-AutoGLM's prompts, the sentences around them our own. `Type` there
clears the field before it types, which is its makers' executor's doing: here it types. `Note` and `Call_API` act on no
machine and are refused by name.
"""

from protocol.actions.types import Swipe
from protocol.dialects.coordinates import MAX_PIXELS, thousandths_grid
from protocol.dialects.family_dialect import FamilyDialect, Grammar
from protocol.dialects.function_calls import FunctionCall, ReplyParseError
from protocol.dialects.named_calls import NamedCallCodec, NamedCallWriter, quoted, renamed_call, without_arguments
from protocol.dialects.prompt_template import PromptTemplate
from protocol.trajectory.proposals import ImageLimits

PROMPT_TEMPLATE = """{opening}
Answer in exactly this form, the thought in {language}:
<think>{{think}}</think>
<answer>{{action}}</answer>

The action is one line, one of these; coordinates go from (0,0) to (999,999):
{actions}"""
TASK_TEMPLATE = "Task:\n{instruction}"

PHONE = {
    "click": 'do(action="Tap", element=[x1,y1])',
    "double_click": 'do(action="Double Tap", element=[x1,y1])',
    "long_press": 'do(action="Long Press", element=[x1,y1])',
    "swipe": 'do(action="Swipe", start=[x1,y1], end=[x2,y2])',
    "type_text": 'do(action="Type", text="xxx") # Into the field that has the focus; escape \\", \\n.',
    "open_app": 'do(action="Launch", app="xxx")',
    "press_back": 'do(action="Back")',
    "press_home": 'do(action="Home")',
    "wait": 'do(action="Wait", duration="5 seconds")',
    "call_user": 'do(action="Take_over", message="xxx") # The user is needed, to sign in for example.',
    "drag": "drag(start_point='[x1,y1]', end_point='[x2,y2]')",
    "scroll": "scroll(point='[x1,y1]', direction='down or up or right or left')",
    "infeasible": "infeasible(content='xxx') # The task cannot be done, and why.",
    "finish": 'finish(message="xxx") # The task is done.',
}
_OURS = {
    "Tap": "click",
    "Double Tap": "left_double",
    "Long Press": "long_press",
    "Swipe": "swipe",
    "Type": "type",
    "Type_Name": "type",
    "Launch": "open_app",
    "Back": "press_back",
    "Home": "press_home",
    "Wait": "wait",
    "Take_over": "call_user",
    "Interact": "call_user",
}
_ARGUMENTS = {
    "element": "point",
    "start": "start_point",
    "end": "end_point",
    "text": "content",
    "app": "app_name",
    "duration": "time",
    "message": "content",
}


def _do(name: str, arguments: str = "") -> str:
    return f'do(action="{name}"{", " if arguments else ""}{arguments})'


def _swipe(action: Swipe, point: object) -> str | None:
    return _do("Swipe", f"start={point(action.start)}, end={point(action.end)}") if callable(point) else None


CALLS: dict[str, NamedCallWriter] = {
    "click": lambda action, point: _do("Tap", f"element={point(action)}"),
    "double_click": lambda action, point: _do("Double Tap", f"element={point(action)}"),
    "long_press": lambda action, point: _do("Long Press", f"element={point(action)}") if action.seconds == 1 else None,
    "swipe": _swipe,
    "type_text": lambda action, _: _do("Type", f"text={_text(action.text)}"),
    "open_app": lambda action, _: _do("Launch", f"app={_text(action.name)}"),
    "press_back": lambda *_: _do("Back"),
    "press_home": lambda *_: _do("Home"),
    "wait": lambda action, _: (
        _do("Wait", f'duration="{int(action.seconds)} seconds"') if action.seconds == int(action.seconds) else None
    ),
    "call_user": lambda action, _: _do("Take_over", f"message={_text(action.message)}"),
    "finish": lambda action, _: f"finish(message={_text(action.answer)})",
}


def _text(text: str) -> str:
    return quoted(text, '"')


def _rename(call: FunctionCall) -> FunctionCall:
    if call.name == "finish":
        return renamed_call("finished", call, message="content")
    name = call.arguments.get("action", "").strip()
    if name not in _OURS:
        raise ReplyParseError("unknown_action", f"“{name[:80]}” is no action here.")
    ignored = ("action", "message") if name == "Tap" else ("action",)
    renamed = renamed_call(_OURS[name], without_arguments(call, *ignored), **_ARGUMENTS)
    if "time" in renamed.arguments:
        renamed.arguments["time"] = renamed.arguments["time"].strip().removesuffix("s").removesuffix(" second").strip()
    return renamed


def _turn(thought: str, call: str) -> str:
    return f"<think>{thought}</think>\n<answer>{call}</answer>" if thought else f"<answer>{call}</answer>"


_PHONE = Grammar("You operate an Android phone. You get a task, your past actions and the present screen.", PHONE)

DIALECT = FamilyDialect(
    name="autoglm_phone",
    codec=NamedCallCodec(
        grid=thousandths_grid,
        names=("do", "finish"),
        calls=CALLS,
        point=lambda x, y: f"[{x},{y}]",
        turn=_turn,
        rename=_rename,
    ),
    grammars={"phone": _PHONE, "desktop": _PHONE, "browser": _PHONE, "terminal": _PHONE},
    template=PromptTemplate(prompt=PROMPT_TEMPLATE, task=TASK_TEMPLATE),
    limits=ImageLimits(min_pixels=12_544, max_pixels=MAX_PIXELS),
)
