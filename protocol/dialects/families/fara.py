"""Fara-7B in a web browser: `computer_use` with its own actions; points in pixels of the resized picture.

The action names and parameters are those of its published tool definition (microsoft/fara), the sentences around them
our own. `type` with a coordinate, or over existing text, means several actions. A fact that it memorises joins the
thought, and the action is a look. A web search opens Bing, as its makers' agent does.
"""

from typing import Any
from urllib.parse import quote_plus

from protocol.actions.types import Finish
from protocol.dialects.coordinates import limited_grid
from protocol.dialects.family_dialect import FamilyDialect
from protocol.dialects.function_calls import ReplyParseError, several_actions_error
from protocol.dialects.json_tools import Arguments, CallWriter, JsonToolCodec, format_tool_call
from protocol.dialects.qwen_tools import (
    COMPUTER_CALLS,
    COMPUTER_LINES,
    line,
    rename_call,
    tool_grammars,
    tool_prompt,
)
from protocol.trajectory.proposals import ImageLimits

LIMITS = ImageLimits(min_pixels=3_136, max_pixels=12_845_056)
PARAMETERS = {
    "action": "string",
    "keys": "array",
    "text": "string",
    "press_enter": "boolean",
    "delete_existing_text": "boolean",
    "coordinate": "array",
    "pixels": "number",
    "url": "string",
    "query": "string",
    "fact": "string",
    "time": "number",
    "status": "string",
}


def _type(action: Any, _: Any) -> Arguments:
    text, enter = action.text, len(action.text) > 1 and action.text.endswith("\n")
    return {"action": "type", "text": text[:-1], "press_enter": True} if enter else {"action": "type", "text": text}


def _finish(action: Finish, _: Any) -> Arguments:
    return {"action": "terminate", "status": "success", **({"answer": action.answer} if action.answer else {})}


CALLS: dict[str, CallWriter] = {
    **{kind: COMPUTER_CALLS[kind] for kind in ("click", "move_to", "mouse_click", "press_keys", "wait", "infeasible")},
    "scroll": lambda action, pixel: (
        None if action.point or action.direction in ("left", "right") else COMPUTER_CALLS["scroll"](action, pixel)
    ),
    "type_text": _type,
    "navigate": lambda action, _: {"action": "visit_url", "url": action.url},
    "navigate_back": lambda *_: {"action": "history_back"},
    "finish": _finish,
}
LINES = {
    **{kind: COMPUTER_LINES[kind] for kind in ("click", "move_to", "press_keys", "wait", "infeasible")},
    "scroll": line("scroll", '"pixels": -300', "Up where positive."),
    "type_text": line("type", '"text": "xxx"', 'Where the focus is; "press_enter": true submits.'),
    "navigate": line("visit_url", '"url": "xxx"', "web_search takes a query."),
    "navigate_back": line("history_back"),
    "screenshot": line("pause_and_memorize_fact", '"fact": "xxx"', "Note something for later."),
    "finish": line("terminate", '"status": "success"', "The task is done; answer holds what was asked for."),
}


def _rename(name: str, arguments: Arguments) -> tuple[str, Arguments]:
    arguments = dict(arguments)
    match name:
        case "visit_url":
            return "navigate", arguments
        case "web_search":
            query = arguments.pop("query", None)
            if not isinstance(query, str) or not query.strip():
                raise ReplyParseError("bad_arguments", "web_search needs the argument query.")
            return "navigate", {**arguments, "url": f"https://www.bing.com/search?q={quote_plus(query)}"}
        case "history_back":
            return "navigate_back", arguments
        case "refresh":
            return "hotkey", {**arguments, "key": "f5"}
        case "pause_and_memorize_fact":
            return "screenshot", arguments
        case "type":
            return name, _type_arguments(arguments)
    return rename_call(name, arguments)


def _type_arguments(arguments: Arguments) -> Arguments:
    enter, over = (_is_true(arguments.pop(key, False)) for key in ("press_enter", "delete_existing_text"))
    if "coordinate" in arguments or over:
        raise several_actions_error("type at a coordinate, or over existing text, means a click and then typing")
    if enter and isinstance(arguments.get("text"), str):
        arguments["text"] += "\n"
    return arguments


def _is_true(value: Any) -> bool:
    return value is True or str(value).strip().lower() == "true"


def _turn(thought: str, name: str, arguments: Arguments) -> str:
    call = format_tool_call(name, arguments)
    return f"{thought}\n{call}" if thought else call


DIALECT = FamilyDialect(
    name="fara",
    codec=JsonToolCodec("computer_use", limited_grid(LIMITS.min_pixels, LIMITS.max_pixels), CALLS, _turn, _rename),
    grammars=tool_grammars(
        LINES, "You work in a web browser. You get a task, your past calls and screenshots, and make the next call."
    ),
    template=tool_prompt(
        "computer_use",
        "Use a mouse and keyboard to interact with a computer, and take screenshots.",
        PARAMETERS,
        points="Coordinates are pixels of the screenshot.",
        turn="What you see and do next in {language}, then one <tool_call>…</tool_call> block.",
    ),
    limits=LIMITS,
)
