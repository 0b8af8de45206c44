"""UI-TARS-2-like tool calls: a think tag, then `<seed:tool_call><function=…>`; points in thousandths.

The grammar is the nearest public one (the Seed prompts of UI-TARS' own agent), not proven to be UI-TARS-2's.
Terminal, editor, Jupyter, search and link reader are called by its names; what it lacks (folders, downloads, an
interactive terminal, the end of a task) has functions of ours. There, a reply without a call ends a turn; here it is
no action, since a reply that was cut looks the same.

A value that holds a tag of this grammar is written with `&lt;` for the tag's first character, and read back.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from pydantic import JsonValue, TypeAdapter

from protocol.actions.types import Action
from protocol.dialects.action_readers import call_to_action, call_to_actions
from protocol.dialects.action_writers import PointSyntax, action_to_call
from protocol.dialects.coordinates import CoordinateGrid, thousandths_grid
from protocol.dialects.dialect import ScreenSize
from protocol.dialects.family_dialect import FamilyDialect, Grammar, ParsedTurn
from protocol.dialects.function_calls import FunctionCall, ReplyParseError, several_actions_error
from protocol.dialects.prompt_template import PromptTemplate
from protocol.dialects.reply_wrappers import (
    explain_missing_call,
    find_call_end,
    has_earlier_call,
    has_following_turn,
    join_thought,
    unwrap_reply,
)

PROMPT_TEMPLATE = """{opening}

## Output
Think first, in {language}, inside <think>…</think>. Then call one function:
<seed:tool_call>
<function=name>
<parameter=key>value</parameter>
</function>
</seed:tool_call>
Nothing follows the call. Points are `<point>x y</point>`, whole numbers from 0 to 1000 over the screen.

## Functions
{actions}

## Task
{instruction}"""


def _line(name: str, note: str = "", /, **parameters: str) -> str:
    values = "".join(f"<parameter={key}>{value}</parameter>" for key, value in parameters.items())
    return f"<function={name}>{values}</function>{f' # {note}' if note else ''}"


POINT, OTHER_POINT = "<point>x1 y1</point>", "<point>x2 y2</point>"

EDITOR = "str_replace_editor"

TOOLS = {
    "run_command": _line("execute_bash", "Run a command line; timeout in seconds may be given.", command="xxx"),
    "type_terminal": _line("type_terminal", "Type in an interactive terminal; a line break submits.", content="xxx"),
    "list_files": _line("list_files", "What is in a folder; paths begin at the home folder.", path="xxx"),
    "read_file": _line(EDITOR, command="view", path="xxx"),
    "write_file": _line(EDITOR, command="create", path="xxx", file_text="xxx"),
    "edit_file": _line(EDITOR, command="str_replace", path="xxx", old_str="xxx", new_str="xxx"),
    "download_file": _line("download_file", "Hand a file to the user.", path="xxx"),
    "run_code": _line("JupyterCI", "Run Python; variables are kept; timeout in seconds may be given.", code="xxx"),
    "call_tool": _line("call_tool", "Call one of the tools below with a JSON object.", name="xxx", arguments="{}"),
}

END = {
    "wait": _line("wait", "Let 5 seconds pass, or as many as time says."),
    "call_user": _line("call_user", "Ask the user.", content="xxx"),
    "infeasible": _line("infeasible", "The task cannot be done; content says why.", content="xxx"),
    "finish": _line("finished", "The task is done; content is the answer, if one was asked for.", content="xxx"),
}

POINTER = {
    "click": _line("click", point=POINT),
    "double_click": _line("left_double", point=POINT),
    "right_click": _line("right_single", point=POINT),
    "move_to": _line("move_to", point=POINT),
    "mouse_down": _line("mouse_down", "At the pointer, where no point is given.", point=POINT, button="left"),
    "mouse_up": _line("mouse_up", point=POINT, button="left"),
    "drag": _line("drag", start_point=POINT, end_point=OTHER_POINT),
    "screenshot": _line("screenshot", "See the screen again."),
    "zoom": _line("zoom", "See the part between two corners enlarged.", start_point=POINT, end_point=OTHER_POINT),
    "mouse_click": _line(
        "mouse_click",
        "Any click; at the pointer without a point, with keys held; back and forward are buttons too.",
        **{"point": POINT, "button": "left", "clicks": "1", "keys": "ctrl"},
    ),
    "drag_path": _line("drag_path", "With keys held too.", points=f"{POINT}; {OTHER_POINT}; <point>x3 y3</point>"),
    "scroll_by": _line(
        "scroll_by", "Pixels to the right and down; unit may be notches, keys held.", point=POINT, dx="0", dy="300"
    ),
    "scroll": _line("scroll", point=POINT, direction="down or up or right or left"),
}

DESKTOP = {
    **POINTER,
    "press_keys": _line("hotkey", "Lower case, with a space between keys.", key="ctrl c"),
    "press": _line("press", "Press one key and hold it.", key="ctrl"),
    "release": _line("release", key="ctrl"),
    "type_text": _line("type", "A line break at the end submits.", content="xxx"),
    **TOOLS,
    **END,
}

BROWSER = {
    **DESKTOP,
    "navigate": _line("navigate", content="xxx"),
    "navigate_back": _line("navigate_back"),
    "switch_page": _line("switch_page", "Bring another open page to the front, by its id.", page="xxx"),
    "close_page": _line("close_page", "Close an open page; without page the one in front.", page="xxx"),
    "choose_files": _line("choose_files", "Give the page files it asks for; | between several.", files="xxx"),
}

PHONE = {
    "click": POINTER["click"],
    "long_press": _line("long_press", point=POINT),
    "drag": POINTER["drag"],
    "scroll": POINTER["scroll"],
    "type_text": DESKTOP["type_text"],
    "open_app": _line("open_app", app_name="xxx"),
    "press_home": _line("press_home"),
    "press_back": _line("press_back"),
    **END,
}

_TAG = r"(/?(?:parameter|function|seed:|think|\|im_))"
_TAG_BEGINS, _TAG_ESCAPED = re.compile(f"<{_TAG}"), re.compile(f"&((?:amp;)*)lt;{_TAG}")
_FUNCTION, _PARAMETER = re.compile(r"<function=([^<>\n]{1,200})>"), re.compile(r"\s*<parameter=([^<>\n]{1,100})>")
_CALL = "<seed:tool_call>"
_HEAD = re.compile(r"<function=|<seed:tool_call>")
_RAW_TAG = re.compile(r"</?(?:function|seed:tool_call)\b|<parameter=|<\|im_(?:start|end)\|>")
"""What no value holds, since it is written with `&lt;`: a value before it has no end of its own."""
_BETWEEN_CALLS = re.compile(r"(?:\s|</?seed:tool_call>)*")
_TAGLESS = re.compile(r"\s*(\w+)>(\w+)>point>(-?[\d.]+ -?[\d.]+)\s*$")
"""A call whose tags were taken for special tokens and lost: `click>point>point>112 56`."""
_STRINGS: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])
NATIVE_TOOLS = {"Search": ("query",), "LinkReader": ("url", "description")}
"""Tools the grammar itself has, and what they take."""


@dataclass(frozen=True)
class SeedCallCodec:
    """A think tag and one tool call; see `protocol.dialects.family_dialect.TurnCodec`."""

    syntax: PointSyntax
    batch_hint: str = (
        "Where no new screenshot is needed in between, up to {count} calls may follow each other in one "
        "<seed:tool_call>."
    )

    @property
    def grid(self) -> CoordinateGrid:
        return self.syntax.grid

    def write(self, thought: str, action: Action, screen: ScreenSize) -> str:
        return self.write_batch(thought, (action,), screen)

    def write_batch(self, thought: str, actions: tuple[Action, ...], screen: ScreenSize) -> str:
        calls = "\n".join(self._write_call(action, screen) for action in actions)
        return f"{_thinking_block(thought)}{_CALL}\n{calls}\n</seed:tool_call>"

    def _write_call(self, action: Action, screen: ScreenSize) -> str:
        call = _to_seed_call(action_to_call(action, screen, self.syntax))
        values = "".join(f"\n<parameter={key}>{_value(value)}</parameter>" for key, value in call.arguments.items())
        return f"<function={call.name}>{values}\n</function>"

    def write_summary(self, thought: str, summary: str) -> str:
        return f"{_thinking_block(thought)}Action_Summary: {_escaped(summary)}"

    def read_batch(self, text: str, screen: ScreenSize) -> ParsedTurn:
        reply = unwrap_reply(text, _HEAD)
        before, call_text = _split_at_call(reply.text)
        thought = join_thought(_unescaped(reply.thinking), _unescaped(before))
        try:
            if has_earlier_call(before):
                raise several_actions_error("a call of another form precedes it")
            calls = _several_calls(call_text, open_thinking=reply.open)
            first, *further = (
                each for call in calls for each in call_to_actions(_from_seed_call(call), screen, self.syntax.grid)
            )
            return ParsedTurn(thought, call_text, first, tuple(further))
        except ReplyParseError as parse_error:
            return ParsedTurn(thought, call_text, parse_error)

    def read(self, text: str, screen: ScreenSize) -> ParsedTurn:
        reply = unwrap_reply(text, _HEAD)
        before, call_text = _split_at_call(reply.text)
        thought = join_thought(_unescaped(reply.thinking), _unescaped(before))
        try:
            call = _single_call(call_text, open_thinking=reply.open)
            if call is None:
                raise ReplyParseError("no_action", explain_missing_call(reply))
            if has_earlier_call(before):
                raise several_actions_error("a call of another form precedes it")
            return ParsedTurn(thought, call_text, call_to_action(_from_seed_call(call), screen, self.syntax.grid))
        except ReplyParseError as parse_error:
            return ParsedTurn(thought, call_text, parse_error)


def _thinking_block(thought: str) -> str:
    return f"<think>{_escaped(thought)}</think>\n" if thought else ""


def _escaped(text: str) -> str:
    return _TAG_BEGINS.sub(r"&lt;\1", _TAG_ESCAPED.sub(r"&amp;\1lt;\2", text))


def _unescaped(text: str) -> str:
    def plain(found: re.Match[str]) -> str:
        return f"&{found[1][4:]}lt;{found[2]}" if found[1] else f"<{found[2]}"

    return _TAG_ESCAPED.sub(plain, text)


def _value(text: str) -> str:
    """A value between its tags; a value of several lines is on lines of its own."""
    return f"\n{_escaped(text)}\n" if "\n" in text else _escaped(text)


def _split_at_call(text: str) -> tuple[str, str]:
    """(what stands before the call, all from the call on)."""
    if _TAGLESS.match(text):
        return "", text.strip()
    head = _HEAD.search(text)
    begin = head.start() if head else len(text)
    return text[:begin], text[begin:].strip()


def _single_call(text: str, *, open_thinking: bool) -> FunctionCall | None:
    """The call of a text that begins with it; None where there is none. Raises ReplyParseError."""
    if tagless := _TAGLESS.match(text):
        return FunctionCall(tagless[1], {tagless[2]: tagless[3]})
    head = _FUNCTION.search(text)
    if head is None:
        if "<function" in text or _CALL in text:
            raise _unfinished_call_error()
        return None
    call, end = _read_call(text, head)
    _check_end(text[end:], open_thinking=open_thinking)
    return call


def _several_calls(text: str, *, open_thinking: bool) -> list[FunctionCall]:
    """The calls of a text that begins with one. Raises ReplyParseError where anything but their tags is between two."""
    calls: list[FunctionCall] = []
    end = 0
    while (head := _FUNCTION.search(text, end)) and _BETWEEN_CALLS.fullmatch(text, end, head.start()):
        call, end = _read_call(text, head)
        calls.append(call)
    if not calls:
        raise _unfinished_call_error()
    _check_end(text[end:], open_thinking=open_thinking)
    return calls


def _check_end(rest: str, *, open_thinking: bool) -> None:
    """Raises ReplyParseError unless what follows the last call is prose."""
    if has_following_turn(rest):
        raise several_actions_error()
    if open_thinking and find_call_end(rest, 0) < len(rest):
        raise ReplyParseError("unfinished_call", "The thinking tag never closes, and text follows the call.")


def _read_call(text: str, head: re.Match[str]) -> tuple[FunctionCall, int]:
    """A call and where it ends. Raises ReplyParseError where it does not."""
    arguments: dict[str, str] = {}
    position = head.end()
    while parameter := _PARAMETER.match(text, position):
        end = text.find("</parameter>", parameter.end())
        if end < 0 or _RAW_TAG.search(text, parameter.end(), end):
            raise _unfinished_call_error()
        if parameter[1] in arguments:
            raise ReplyParseError("bad_arguments", f"The argument {parameter[1]} occurs twice.")
        arguments[parameter[1]] = _strip_line_breaks(text[parameter.end() : end])
        position = end + len("</parameter>")
    end = text.find("</function>", position)
    if end < 0 or text[position:end].strip():
        raise _unfinished_call_error()
    return FunctionCall(head[1].strip(), arguments), end + len("</function>")


def _strip_line_breaks(value: str) -> str:
    """A value without the line breaks that set it off from its tags."""
    if len(value) > 3 and value[:2] == value[-2:] == "\r\n":
        value = value[2:-2]
    elif len(value) > 1 and value[0] == value[-1] == "\n":
        value = value[1:-1]
    return _unescaped(value)


def _unfinished_call_error() -> ReplyParseError:
    return ReplyParseError("unfinished_call", "The reply is cut inside its call, or a tag of it is missing.")


_CALL_CONVERTERS: dict[str, Callable[[dict[str, str]], FunctionCall]] = {
    "run_command": lambda a: FunctionCall("execute_bash", _renamed(a, content="command")),
    "run_code": lambda a: FunctionCall("JupyterCI", _renamed(a, content="code")),
    "read_file": lambda a: FunctionCall(EDITOR, {"command": "view", **a}),
    "write_file": lambda a: FunctionCall(EDITOR, {"command": "create", **_renamed(a, content="file_text")}),
    "edit_file": lambda a: FunctionCall(
        EDITOR, {"command": "str_replace", **_renamed(a, old="old_str", new="new_str")}
    ),
    "call_tool": lambda a: _native_tool_call(a) or FunctionCall("call_tool", a),
}
"""Functions that have other names here."""

_EDITOR_COMMANDS = {"view": "read_file", "create": "write_file", "str_replace": "edit_file"}


def _to_seed_call(call: FunctionCall) -> FunctionCall:
    written = _CALL_CONVERTERS.get(call.name)
    return written(call.arguments) if written else call


def _from_seed_call(call: FunctionCall) -> FunctionCall:
    """The same call in the names `protocol.dialects.action_readers` knows. Raises ReplyParseError."""
    if call.name == "execute_bash":
        return FunctionCall("run_command", call.arguments)
    if call.name == "JupyterCI":
        return FunctionCall("run_code", call.arguments)
    if call.name in NATIVE_TOOLS:
        return FunctionCall(
            "call_tool", {"name": call.name, "arguments": _STRINGS.dump_json({**call.arguments}).decode()}
        )
    if call.name != EDITOR:
        return call
    arguments = dict(call.arguments)
    command = arguments.pop("command", "").strip()
    if command not in _EDITOR_COMMANDS:
        raise ReplyParseError(
            "bad_value", f"The editor's command is {', '.join(_EDITOR_COMMANDS)}, not “{command[:40]}”."
        )
    return FunctionCall(
        _EDITOR_COMMANDS[command], _renamed(arguments, file_text="content", old_str="old", new_str="new")
    )


def _native_tool_call(arguments: dict[str, str]) -> FunctionCall | None:
    """A call of one of the grammar's own tools, where it takes no more than texts they know."""
    allowed = NATIVE_TOOLS.get(arguments["name"])
    values = _STRINGS.validate_json(arguments.get("arguments", "{}"))
    texts = {key: value for key, value in values.items() if isinstance(value, str)}
    if allowed is None or not values or texts != values or not set(values) <= set(allowed):
        return None
    return FunctionCall(arguments["name"], texts)


def _renamed(arguments: dict[str, str], **names: str) -> dict[str, str]:
    return {names.get(key, key): value for key, value in arguments.items()}


_INTRODUCTION = "You are given a task, your past calls and what came of them with screenshots, and make the next call."
_TERMINAL_INTRODUCTION = "You are given a task, your past calls and what came of them, and make the next call."

DIALECT = FamilyDialect(
    name="ui_tars_2",
    codec=SeedCallCodec(
        PointSyntax(
            grid=thousandths_grid,
            point="point",
            start="start_point",
            end="end_point",
            text=lambda x, y: f"<point>{x} {y}</point>",
        )
    ),
    grammars={
        "desktop": Grammar(f"You work on a computer with a screen, a terminal and tools. {_INTRODUCTION}", DESKTOP),
        "browser": Grammar(f"You work in a web browser, with a terminal and tools beside it. {_INTRODUCTION}", BROWSER),
        "phone": Grammar(f"You work on a phone. {_INTRODUCTION}", PHONE),
        "terminal": Grammar(f"You work on a computer without a screen. {_TERMINAL_INTRODUCTION}", {**TOOLS, **END}),
    },
    template=PromptTemplate(prompt=PROMPT_TEMPLATE),
)
