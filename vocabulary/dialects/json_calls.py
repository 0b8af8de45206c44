"""Plain JSON for any model that can call tools: `{"thought": …, "action": …, "arguments": {…}}`.

Points are `[x, y]` in thousandths of the screen, which most such models know. Read as well: a call inside
`<tool_call>`, a fence or an array; `name` and `arguments` as OpenAI writes them, also with the arguments as a text;
the arguments beside the action; `x` and `y` or `coordinate` for a point; the names of Qwen's computer tool.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, cast

from vocabulary.actions import Action
from vocabulary.calls import Call, Unreadable, several
from vocabulary.dialect import Screen
from vocabulary.families import FamilyDialect, Grammar, Reading
from vocabulary.functions import point_of, read_action
from vocabulary.grids import Grid, thousandths
from vocabulary.styles import Style, write_action
from vocabulary.tool_calls import TOOL_NAMES, arguments_as_text, as_json, canonical_call
from vocabulary.turns import (
    Reply,
    begins_another,
    call_end,
    follows_another,
    no_action,
    plain_thought,
    trimmed,
    unwrapped,
)

FRAME = """{opening}

## Output
One JSON object and nothing else, with a thought in {language} and one of the actions below:
{{"thought": "…", "action": "…", "arguments": {{…}}}}
Points are [x, y], whole numbers from 0 to 1000 over the screen.

## Actions
{actions}

## Task
{instruction}"""


def _line(name: str, arguments: str = "", note: str = "") -> str:
    return f'{{"action": "{name}", "arguments": {{{arguments}}}}}{f" # {note}" if note else ""}'


AT = '"point": [x1, y1]'
PATH = '"start_point": [x1, y1], "end_point": [x2, y2]'
CONTENT, FILE = '"content": "xxx"', '"path": "xxx"'

TOOLS = {
    "run_command": _line("run_command", CONTENT, 'Run a command line; "timeout" in seconds may be given.'),
    "type_terminal": _line("type_terminal", CONTENT, "Type in an interactive terminal; a line break submits."),
    "list_files": _line("list_files", FILE, "What is in a folder; paths begin at the home folder."),
    "read_file": _line("read_file", FILE),
    "write_file": _line("write_file", f"{FILE}, {CONTENT}"),
    "edit_file": _line("edit_file", f'{FILE}, "old": "xxx", "new": "xxx"', "Replace the one occurrence of a text."),
    "download_file": _line("download_file", FILE, "Hand a file to the user."),
    "run_code": _line("run_code", CONTENT, "Run Python; variables are kept."),
    "call_tool": _line("call_tool", '"name": "xxx", "arguments": {}', "Call one of the tools below."),
}

END = {
    "wait": _line("wait", "", 'Let 5 seconds pass, or as many as "time" says.'),
    "call_user": _line("call_user", CONTENT, "Ask the user."),
    "infeasible": _line("infeasible", CONTENT, "The task cannot be done; content says why."),
    "finish": _line("finished", CONTENT, "The task is done; content is the answer, if one was asked for."),
}

LOOKS = {
    "screenshot": _line("screenshot", "", "See the screen again."),
    "zoom": _line("zoom", PATH, "See the part between two corners enlarged."),
}

DESKTOP = {
    "click": _line("click", AT),
    "double_click": _line("double_click", AT),
    "triple_click": _line("triple_click", AT),
    "right_click": _line("right_click", AT),
    "middle_click": _line("middle_click", AT),
    "move_to": _line("move_to", AT),
    "mouse_down": _line("mouse_down", AT),
    "mouse_up": _line("mouse_up", AT),
    "drag": _line("drag", PATH),
    "mouse_click": _line(
        "mouse_click",
        f'{AT}, "button": "back", "clicks": 1, "keys": "ctrl"',
        "Any click: left, middle, right, back or forward, with keys held; at the pointer without a point.",
    ),
    "drag_path": _line("drag_path", '"points": [[x1, y1], [x2, y2], [x3, y3]]', '"keys" may be held.'),
    "scroll_by": _line(
        "scroll_by",
        f'{AT}, "dx": 0, "dy": 300',
        'Pixels to the right and down; "unit": "notches" counts notches; "keys" may be held.',
    ),
    "scroll": _line("scroll", f'{AT}, "direction": "down or up or right or left"'),
    "press_keys": _line("hotkey", '"key": "ctrl c"', "A space between keys."),
    "press": _line("press", '"key": "ctrl"', "Press one key and hold it."),
    "release": _line("release", '"key": "ctrl"'),
    "type_text": _line("type", CONTENT, "A line break at the end submits."),
    **LOOKS,
    **TOOLS,
    **END,
}

BROWSER = {
    **DESKTOP,
    "navigate": _line("navigate", CONTENT, "Open an address."),
    "navigate_back": _line("navigate_back"),
    "switch_page": _line("switch_page", '"page": "xxx"', "Bring another open page to the front, by its id."),
    "close_page": _line("close_page", "", 'Close the page in front; "page" names another.'),
    "choose_files": _line(
        "choose_files",
        '"files": "xxx"',
        "Give the page files it asks for; | between several.",
    ),
}

PHONE = {
    "click": DESKTOP["click"],
    "long_press": _line("long_press", AT),
    "swipe": _line("swipe", PATH),
    "drag": DESKTOP["drag"],
    "scroll": DESKTOP["scroll"],
    "type_text": DESKTOP["type_text"],
    "open_app": _line("open_app", '"app_name": "xxx"'),
    "press_home": _line("press_home"),
    "press_back": _line("press_back"),
    **LOOKS,
    **END,
}

_POINTS = ("point", "start_point", "end_point")
_NUMBERS = ("amount", "time", "timeout", "clicks", "dx", "dy")
_THOUGHTS = ("thought", "thoughts", "reasoning")
_HEAD = re.compile(r'\{\s*"(?:thoughts?|reasoning|action|name|kind|function|arguments)"\s*:')
_LABELS = re.compile(r"\A\s*Thought\s*[:：]\s*|(?:\A|(?<=\n))[ \t]*Action\s*[:：]\s*\Z")
_SINGLE_QUOTES = re.compile(r"\{\s*'\w+'\s*:")
_COMMA_TOO_MANY = re.compile(r'("(?:\\.|[^"\\])*")|,(\s*[}\]])', re.DOTALL)
_MOST_OBJECTS = 20


@dataclass(frozen=True)
class JsonCalls:
    """One JSON object a turn; see `vocabulary.families.Writing`."""

    style: Style

    @property
    def grid(self) -> Grid:
        return self.style.grid

    def write(self, thought: str, action: Action, screen: Screen) -> str:
        call = write_action(action, screen, self.style)
        name = _WRITTEN.get(action.kind, call.name)
        arguments = {key: _as_json(call.name, key, value) for key, value in call.arguments.items()}
        return as_json({**_thinking(thought), "action": name, "arguments": arguments})

    def tell(self, thought: str, summary: str) -> str:
        return as_json({**_thinking(thought), "summary": summary})

    def read(self, text: str, screen: Screen) -> Reading:
        reply = unwrapped(text, _HEAD)
        thought, said = plain_thought(reply.thinking, reply.text), ""
        try:
            found = [(start, end, _one_of(value)) for start, end, value in _objects(reply.text)]
            acting = [one for one in found if _acts(one[2])]
            for start, end, value in (acting or found)[:1]:
                thought, said = _thought_of(reply, reply.text[:start], value), reply.text[start:end]
            if not acting:
                hint = " Write JSON with double quotes." if _SINGLE_QUOTES.search(reply.text) else ""
                raise Unreadable("no_action", no_action(reply) + hint)
            if len(acting) > 1:
                raise several(f"it holds {len(acting)} objects that act")
            _check_around(reply, *acting[0][:2])
            return Reading(thought, said, read_action(_call_of(acting[0][2]), screen, self.style.grid))
        except Unreadable as unreadable:
            return Reading(thought, said, unreadable)


_WRITTEN = {"double_click": "double_click", "right_click": "right_click", "swipe": "swipe"}


def _thinking(thought: str) -> dict[str, Any]:
    return {"thought": thought} if thought else {}


def _as_json(name: str, key: str, value: str) -> Any:
    if key == "points":
        return [[int(coordinate) for coordinate in point_of(each)] for each in value.split(";")]
    if key in _POINTS:
        return [int(coordinate) for coordinate in point_of(value)]
    if key in _NUMBERS or (name, key) == ("call_tool", "arguments"):
        return json.loads(value)
    return value


_Object = tuple[int, int, dict[str, Any]]


def _objects(text: str) -> list[_Object]:
    """Every JSON object that stands in a text by itself, with its place.

    A brace that begins no object is prose. One that does and has no good end is refused with all that it holds: what
    stands inside it would be half of what was meant. Raises Unreadable.
    """
    found: list[_Object] = []
    position = text.find("{")
    for _ in range(_MOST_OBJECTS):
        if position < 0:
            break
        if text[position + 1 :].lstrip()[:1] not in ('"', "}"):
            position = text.find("{", position + 1)
            continue
        value, end = _decoded(text, position)
        found.append((position, end, value))
        position = text.find("{", end)
    return found


def _decoded(text: str, position: int) -> tuple[dict[str, Any], int]:
    """The object that begins at a place, and where it ends; raw line breaks in texts and commas too many are read.

    Raises Unreadable.
    """
    try:
        return cast(tuple[dict[str, Any], int], _DECODER.raw_decode(text, position))
    except (ValueError, RecursionError) as error:
        if isinstance(error, Unreadable):
            raise
    try:
        mended = _COMMA_TOO_MANY.sub(lambda found: found[1] or f" {found[2]}", text[position:])
        value, end = _DECODER.raw_decode(mended)
    except (ValueError, RecursionError) as error:
        if isinstance(error, Unreadable):
            raise
        raise Unreadable(
            "unfinished_call",
            'The JSON is cut, or a quote or a bracket is out of place. Write quotes in a text as \\".',
        ) from None
    return value, position + end


def _check_around(reply: Reply, start: int, end: int) -> None:
    """Raises Unreadable unless what stands around an object is wrappers and prose."""
    before, rest = reply.text[:start], reply.text[end:]
    if follows_another(before):
        raise several("a call of another form stands before it")
    if begins_another(rest):
        raise several()
    if before.rstrip().endswith("[") and not rest.lstrip().startswith("]"):
        raise Unreadable("unfinished_call", "The array of actions is cut.")
    if reply.open and call_end(rest, 0) < len(rest):
        raise Unreadable("unfinished_call", "The thinking tag never closes, and text follows the action.")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise Unreadable("bad_arguments", "A field stands twice.")
    return value


def _no_number(name: str) -> Any:
    raise Unreadable("bad_value", f"{name} is no value.")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_number, strict=False)


def _acts(value: dict[str, Any]) -> bool:
    return any(key in value for key in ("action", "name", "kind", "function"))


def _one_of(value: dict[str, Any]) -> dict[str, Any]:
    """The one action of an object that lists its actions; another object as it is. Raises Unreadable."""
    listed = next((value[key] for key in ("actions", "tool_calls") if isinstance(value.get(key), list)), None)
    if listed is None or _acts(value) or not all(isinstance(one, dict) for one in listed):
        return value
    if len(listed) > 1:
        raise several(f"it lists {len(listed)}")
    thoughts = {key: value[key] for key in _THOUGHTS if key in value}
    return {**thoughts, **listed[0]} if listed else value


def _thought_of(reply: Reply, before: str, value: dict[str, Any]) -> str:
    """What the object says it thought, else what stands before it; what was thought in tags comes first."""
    for key in _THOUGHTS:
        if isinstance(value.get(key), str):
            said = str(value[key])
            return f"{reply.thinking}\n{said}" if reply.thinking else said
    return plain_thought(reply.thinking, _LABELS.sub("", trimmed(before.rstrip().removesuffix("["))))


def _call_of(value: dict[str, Any]) -> Call:
    """The call an object means. Raises Unreadable."""
    said = {key: item for key, item in value.items() if key not in _THOUGHTS}
    for inner in ("function", "action"):
        if isinstance(said.get(inner), dict):
            said = said[inner]
    name = next((said.pop(key) for key in ("action", "name", "kind", "function", "type") if key in said), "")
    given = said.pop("arguments", None) if "arguments" in said else said.pop("parameters", None)
    if isinstance(given, str):
        try:
            given = json.loads(given, object_pairs_hook=_once, parse_constant=_no_number, strict=False)
        except Unreadable:
            raise
        except (ValueError, RecursionError):
            raise Unreadable("bad_arguments", "The arguments are no JSON object.") from None
    arguments = said if given is None else given
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise Unreadable("bad_arguments", "An action is a name, with an object of arguments.")
    arguments = dict(arguments)
    of_tool = name in TOOL_NAMES and isinstance(arguments.get("action"), str)
    if of_tool:
        name = arguments.pop("action")
    name, arguments = canonical_call(
        name, {key: item for key, item in arguments.items() if item is not None}, of_tool=of_tool
    )
    return Call(name, arguments_as_text(name, arguments))


_GIVEN = "You get a task, what you did so far and the latest screenshots, and decide on the next action."
_GIVEN_TEXT = "You get a task, what you did so far and what came of it, and decide on the next action."

DIALECT = FamilyDialect(
    name="json_calls",
    writing=JsonCalls(
        Style(grid=thousandths, point="point", start="start_point", end="end_point", text=lambda x, y: f"{x} {y}")
    ),
    grammars={
        "desktop": Grammar(f"You work on a computer through its screen, mouse and keyboard. {_GIVEN}", DESKTOP),
        "browser": Grammar(f"You work in a web browser through its screen, mouse and keyboard. {_GIVEN}", BROWSER),
        "phone": Grammar(f"You work on a phone through its touch screen. {_GIVEN}", PHONE),
        "terminal": Grammar(f"You work on a computer without a screen. {_GIVEN_TEXT}", {**TOOLS, **END}),
    },
    frame=FRAME,
)
