"""Dialects of hosted models that act by tool calls: their makers' computer tool, and functions for what it lacks.

A turn is the thought as text and one call as its maker's API carries it, as JSON. The clients of `agent_backend.policy`
turn the messages of such a dialect into requests and replies into such turns, so that nothing of a call is lost on
the way. A reply of text alone ends nothing: the functions `finished`, `call_user` and `infeasible` do.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import floor, sqrt
from typing import Any

from protocol.actions.types import Action, NoAction
from protocol.dialects.action_readers import call_to_action
from protocol.dialects.action_writers import PointSyntax, action_to_call
from protocol.dialects.computer_tools import format_arguments, to_function_call, to_json
from protocol.dialects.coordinates import CoordinateGrid, pixel_to_grid
from protocol.dialects.dialect import ScreenSize
from protocol.dialects.family_dialect import FamilyDialect, Grammar, ParsedTurn
from protocol.dialects.function_calls import FunctionCall, ReplyParseError, several_actions_error
from protocol.dialects.json_objects import argument_to_json, check_surroundings, decode_object
from protocol.dialects.reply_wrappers import explain_missing_call, join_thought, unwrap_reply
from protocol.sampling import MAX_ACTIONS
from protocol.trajectory.observations import Platform
from protocol.trajectory.proposals import ImageLimits, ProviderCall
from protocol.trajectory.steps import Step

PROMPT_TEMPLATE = """{opening} Say in {language} what you see and why you act, then call one tool; you see the screen \
again after each call. End the task with a call of `finished`, or of `infeasible` where it cannot be done.
{actions}
## Task
{instruction}"""


@dataclass(frozen=True)
class ToolCall:
    """A call as its maker's API carries it; `native` where the maker's own computer tool is called."""

    name: str
    arguments: dict[str, Any]
    native: bool = False


ToolCallWriter = Callable[[Any, Callable[[Any], list[int]]], ToolCall | None]
"""The native call of an action, given how a pixel is named; None where the tool cannot say all of it."""


@dataclass(frozen=True)
class ToolFormat:
    """How one maker's API carries calls."""

    head: re.Pattern[str]
    """Where a call begins in a turn."""
    wrap: Callable[[ToolCall], dict[str, Any]]
    unwrap: Callable[[dict[str, Any]], tuple[ToolCall, ...]]
    """The calls of an object, more than one where the API lists several in one. Raises ReplyParseError."""
    annotate: Callable[[dict[str, Any], ProviderCall], dict[str, Any]]
    """A call with what its API knows of it."""
    write: Mapping[str, ToolCallWriter]
    """Native calls by the kind of action."""
    to_function: Callable[[ToolCall, ScreenSize], tuple[str, dict[str, Any]]]
    """A call as one of a function that `protocol.dialects.action_readers` reads. Raises ReplyParseError."""
    join: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] = list
    """Calls of one reply, those together that the API lists in one."""


@dataclass(frozen=True)
class ToolCallCodec:
    """Tool calls of one turn; see `protocol.dialects.family_dialect.TurnCodec` and `BatchCodec`."""

    format: ToolFormat
    grid: CoordinateGrid
    batch_hint: str = "Where no new screenshot is needed in between, make up to {count} calls in one reply."

    def write(self, thought: str, action: Action, screen: ScreenSize) -> str:
        """One assistant turn."""
        return self.write_batch(thought, (action,), screen)

    def write_batch(
        self, thought: str, actions: tuple[Action, ...], screen: ScreenSize, known: tuple[ProviderCall, ...] = ()
    ) -> str:
        """One assistant turn with a call for each action; `known` is what the API knows of its calls, in order."""
        calls = self.format.join([self.format.wrap(self._call(action, screen)) for action in actions])
        for place, call in enumerate(known[: len(calls)]):
            calls[place] = self.format.annotate(calls[place], call)
        return _join(thought, "\n".join(map(to_json, calls)))

    def write_summary(self, thought: str, summary: str) -> str:
        """A turn in words for an action that cannot be expressed."""
        return _join(thought, summary)

    def split(self, turn: str) -> tuple[str, tuple[dict[str, Any], ...]]:
        """The thought of a turn, and its calls as the API carries them; none where they cannot be sent."""
        head = self.format.head.search(turn)
        if head is None:
            return turn, ()
        try:
            return turn[: head.start()].rstrip(), tuple(
                value for value, _ in self._objects(turn, head.start(), limit=MAX_ACTIONS)
            )
        except ReplyParseError:
            return turn, ()

    def read(self, text: str, screen: ScreenSize) -> ParsedTurn:
        """Take a reply apart; never raises."""
        return self._read(text, screen, several=False)

    def read_batch(self, text: str, screen: ScreenSize) -> ParsedTurn:
        """Parse a reply with several calls; never raises. No other text is allowed between them."""
        return self._read(text, screen, several=True)

    def _read(self, text: str, screen: ScreenSize, *, several: bool) -> ParsedTurn:
        reply = unwrap_reply(text, self.format.head)
        thought, content = join_thought(reply.thinking, reply.text), ""
        try:
            head = self.format.head.search(reply.text)
            if head is None:
                raise ReplyParseError("no_action", f"{explain_missing_call(reply)} The model is to call a tool.")
            thought = join_thought(reply.thinking, reply.text[: head.start()])
            found = self._objects(reply.text, head.start(), limit=MAX_ACTIONS if several else 1)
            end = found[-1][1]
            content = reply.text[head.start() : end]
            if self.format.head.search(reply.text, end):
                raise several_actions_error()
            check_surroundings(reply, head.start(), end, arrays=False)
            calls = [call for value, _ in found for call in self.format.unwrap(value)]
            if len(calls) > 1 and not several:
                raise several_actions_error(f"it lists {len(calls)}")
            first, *further = [self._action(call, screen) for call in calls]
            return ParsedTurn(thought, content, first, tuple(further))
        except ReplyParseError as parse_error:
            return ParsedTurn(thought, content, parse_error)

    def _objects(self, text: str, start: int, *, limit: int) -> list[tuple[dict[str, Any], int]]:
        """At most `limit` calls from a place on, each with its end. Raises ReplyParseError."""
        found = [decode_object(text, start)]
        while len(found) < limit:
            end = found[-1][1]
            following = self.format.head.search(text, end)
            if following is None:
                break
            if text[end : following.start()].strip():
                raise several_actions_error("there is other text between two of them")
            found.append(decode_object(text, following.start()))
        return found

    def _action(self, call: ToolCall, screen: ScreenSize) -> Action:
        name, arguments = self.format.to_function(call, screen)
        return call_to_action(FunctionCall(name, format_arguments(name, arguments)), screen, self.grid)

    def _call(self, action: Action, screen: ScreenSize) -> ToolCall:
        size = self.grid(screen)
        native = self.format.write.get(action.kind)
        call = native(action, lambda pixel: list(pixel_to_grid(pixel, screen, size))) if native else None
        return call or self._function_call(action, screen)

    def _function_call(self, action: Action, screen: ScreenSize) -> ToolCall:
        syntax = PointSyntax(self.grid, "point", "start_point", "end_point", lambda x, y: f"{x} {y}")
        call = action_to_call(action, screen, syntax)
        arguments = {key: argument_to_json(call.name, key, value) for key, value in call.arguments.items()}
        return ToolCall(call.name, arguments)


def _join(thought: str, text: str) -> str:
    return f"{thought}\n{text}" if thought else text


def read_function(call: ToolCall) -> tuple[str, dict[str, Any]]:
    """A call of one of our functions, or of a tool whose names `protocol.dialects.computer_tools` knows."""
    arguments = {key: value for key, value in call.arguments.items() if value is not None}
    return to_function_call(call.name, arguments, is_tool=call.native)


def fitted_grid(edge: int, pixels: int) -> CoordinateGrid:
    """Pixels of a picture that is scaled down, its ratio kept, until its longer side has `edge` pixels at most and it
    has `pixels` in all."""

    def grid(screen: ScreenSize) -> tuple[int, int]:
        width, height = screen.width, screen.height
        scale = min(1.0, edge / max(width, height), sqrt(pixels / (width * height)))
        return max(1, floor(width * scale)), max(1, floor(height * scale))

    return grid


@dataclass(frozen=True)
class ToolFunction:
    """A function of ours that is offered beside the maker's tool, with the JSON Schemas of its parameters."""

    name: str
    description: str
    parameters: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    required: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        return {"type": "object", "properties": dict(self.parameters), "required": list(self.required)}


@dataclass(frozen=True)
class ToolDialect(FamilyDialect):
    """A dialect whose actions are declared to its maker's API rather than in the prompt."""

    codec: ToolCallCodec = field(kw_only=True)
    native_kinds: frozenset[str] = field(kw_only=True)
    """Kinds that the maker's tool says; functions are offered for the others."""
    lacking: Mapping[str, frozenset[str]] = field(kw_only=True, default_factory=dict)
    """Kinds that older versions of the maker's tool do not say, by the version."""
    image_edge: int = field(kw_only=True)
    """Pixels of the longer side to which larger pictures are scaled down before they are sent."""

    def functions(self, platform: Platform, kinds: Iterable[str], *, tools: bool = False) -> tuple[ToolFunction, ...]:
        """The functions to offer on a platform where these kinds of action can be done; `tools` says that there are
        tools to call."""
        offered = set(kinds) & self.grammars[platform].lines.keys() - self.native_kinds
        return tuple(FUNCTIONS[kind] for kind in FUNCTIONS if kind in offered and (tools or kind != "call_tool"))

    def _turn(self, reply: tuple[Step, ...], language: str) -> str:
        can_say = not isinstance(reply[0].action, NoAction) and self._can_say_all(reply)
        return self._batch_turn(reply) if reply[0].provider_calls and can_say else super()._turn(reply, language)

    def _batch_turn(self, reply: tuple[Step, ...]) -> str:
        first = reply[0]
        return self.codec.write_batch(
            first.thought, self._supported_actions(reply), ScreenSize.of(first.before), first.provider_calls
        )

    def with_tool(self, version: str) -> "ToolDialect":
        """The same dialect for a version of the maker's tool: functions are offered for what that lacks."""
        return replace(self, native_kinds=self.native_kinds - self.lacking.get(version, frozenset()))

    @property
    def picture_grid(self) -> CoordinateGrid:
        """The size that a picture is sent in."""
        return fitted_grid(self.image_edge, self.limits.max_pixels)

    def scaled(self, edge: int | None, pixels: int | None) -> "ToolDialect":
        """The same dialect for pictures that are scaled to other limits before they are sent."""
        edge, pixels = edge or self.image_edge, pixels or self.limits.max_pixels
        grid = fitted_grid(edge, pixels) if self.absolute else self.codec.grid
        limits = ImageLimits(min_pixels=1, max_pixels=pixels)
        return replace(self, image_edge=edge, limits=limits, codec=replace(self.codec, grid=grid))


def tool_grammars(*, unsaid: Iterable[str] = ()) -> dict[Platform, Grammar]:
    """What such a dialect may say on each platform. The prompt has no line for it, but one that leads the tools."""
    lines = {
        kind: "The tools below are called by call_tool:" if kind == "call_tool" else "" for kind in _KINDS - {*unsaid}
    }
    return {
        platform: Grammar(opening, {kind: line for kind, line in lines.items() if kind in _BY_PLATFORM[platform]})
        for platform, opening in _OPENINGS.items()
    }


_OPENINGS: dict[Platform, str] = {
    "desktop": "You work on a computer through its screen, mouse and keyboard.",
    "browser": "You work in a web browser through its screen, mouse and keyboard.",
    "phone": "You work on a phone through its touch screen.",
    "terminal": "You work on a computer without a screen.",
}
_POINT = {"type": "array", "items": {"type": "integer"}, "description": "[x, y]"}
_POINTS = {"type": "array", "items": _POINT}
_TEXT = {"type": "string"}
_INTEGER = {"type": "integer"}
_NUMBER = {"type": "number"}
_BUTTON = {"type": "string", "enum": ["left", "middle", "right"]}
_ANY_BUTTON = {"type": "string", "enum": ["left", "middle", "right", "back", "forward"]}
_KEYS = {"type": "string", "description": "Keys that are held, a space between them."}
_PATH = {"start_point": _POINT, "end_point": _POINT}
_ENDS = ("start_point", "end_point")
_WITH_TIMEOUT = {"content": _TEXT, "timeout": {"type": "number", "description": "Seconds."}}
_CONTENT: tuple[Mapping[str, dict[str, Any]], tuple[str, ...]] = ({"content": _TEXT}, ("content",))
_FILE: tuple[Mapping[str, dict[str, Any]], tuple[str, ...]] = ({"path": _TEXT}, ("path",))
FUNCTIONS: dict[str, ToolFunction] = {
    "double_click": ToolFunction("double_click", "Click twice.", {"point": _POINT}, ("point",)),
    "right_click": ToolFunction("right_click", "Click the right button.", {"point": _POINT}, ("point",)),
    "type_text": ToolFunction("type", "Type text where the focus is; a line break at its end submits.", *_CONTENT),
    "wait": ToolFunction("wait", "Let time pass.", {"time": {"type": "number", "description": "Seconds."}}),
    "screenshot": ToolFunction("screenshot", "See the screen again."),
    "mouse_down": ToolFunction(
        "mouse_down", "Press a mouse button and keep it down.", {"point": _POINT, "button": _BUTTON}
    ),
    "mouse_up": ToolFunction("mouse_up", "Release a mouse button.", {"point": _POINT, "button": _BUTTON}),
    "mouse_click": ToolFunction(
        "mouse_click",
        "A click that the computer tool lacks: with any button, with keys held, at the pointer without a point.",
        {"point": _POINT, "button": _ANY_BUTTON, "clicks": _INTEGER, "keys": _KEYS},
    ),
    "drag_path": ToolFunction(
        "drag_path", "Drag along several points.", {"points": _POINTS, "button": _BUTTON, "keys": _KEYS}, ("points",)
    ),
    "scroll": ToolFunction(
        "scroll",
        "Scroll by notches of a wheel.",
        {
            "point": _POINT,
            "direction": {"type": "string", "enum": ["up", "down", "left", "right"]},
            "amount": _INTEGER,
        },
        ("direction",),
    ),
    "scroll_by": ToolFunction(
        "scroll_by",
        "Scroll to the right and down.",
        {
            "point": _POINT,
            "dx": _INTEGER,
            "dy": _INTEGER,
            "unit": {"type": "string", "enum": ["pixels", "notches"]},
            "keys": _KEYS,
        },
    ),
    "triple_click": ToolFunction("triple_click", "Click three times.", {"point": _POINT}, ("point",)),
    "middle_click": ToolFunction("middle_click", "Click the middle button.", {"point": _POINT}, ("point",)),
    "press": ToolFunction("press", "Press one key and keep it down.", {"key": _TEXT}, ("key",)),
    "release": ToolFunction("release", "Release a key that is down.", {"key": _TEXT}, ("key",)),
    "zoom": ToolFunction("zoom", "See the part of the screen between two corners enlarged.", _PATH, _ENDS),
    "swipe": ToolFunction("swipe", "Touch, slide and lift.", _PATH, _ENDS),
    "long_press": ToolFunction("long_press", "Touch and hold.", {"point": _POINT, "time": _NUMBER}, ("point",)),
    "open_app": ToolFunction("open_app", "Start an app by its name.", {"app_name": _TEXT}, ("app_name",)),
    "press_home": ToolFunction("press_home", "Press the phone's home button."),
    "press_back": ToolFunction("press_back", "Press the phone's back button."),
    "navigate": ToolFunction("navigate", "Open an address.", *_CONTENT),
    "navigate_back": ToolFunction("navigate_back", "Go back one page."),
    "switch_page": ToolFunction("switch_page", "Bring another open page to the front.", {"page": _TEXT}, ("page",)),
    "close_page": ToolFunction("close_page", "Close a page; the one in front where none is named.", {"page": _TEXT}),
    "choose_files": ToolFunction(
        "choose_files", "Give the page files that it asks for, | between several.", {"files": _TEXT}
    ),
    "run_command": ToolFunction("run_command", "Run a command line.", _WITH_TIMEOUT, ("content",)),
    "type_terminal": ToolFunction(
        "type_terminal", "Type in a terminal; a line break submits.", {"content": _TEXT, "session": _TEXT}, ("content",)
    ),
    "list_files": ToolFunction("list_files", "What is in a folder.", *_FILE),
    "read_file": ToolFunction("read_file", "Read a text file.", *_FILE),
    "write_file": ToolFunction(
        "write_file", "Create or replace a text file.", {"path": _TEXT, "content": _TEXT}, ("path", "content")
    ),
    "edit_file": ToolFunction(
        "edit_file",
        "Replace the one occurrence of a text in a file.",
        {"path": _TEXT, "old": _TEXT, "new": _TEXT},
        ("path", "old", "new"),
    ),
    "download_file": ToolFunction("download_file", "Hand a file to the user.", *_FILE),
    "run_code": ToolFunction("run_code", "Run Python; variables are kept.", _WITH_TIMEOUT, ("content",)),
    "call_tool": ToolFunction(
        "call_tool",
        "Call one of the tools that the task lists.",
        {"name": _TEXT, "arguments": {"type": "object"}},
        ("name",),
    ),
    "finish": ToolFunction(
        "finished", "The task is done; content is the answer, if one was asked for.", {"content": _TEXT}
    ),
    "call_user": ToolFunction("call_user", "Ask the user.", *_CONTENT),
    "infeasible": ToolFunction("infeasible", "The task cannot be done; content says why.", *_CONTENT),
}
_NATIVE = (
    *("click", "double_click", "triple_click", "right_click", "middle_click", "move_to", "mouse_down", "mouse_up"),
    *("drag", "scroll", "type_text", "press_keys", "wait", "screenshot"),
)
_PHONE_ONLY = {"swipe", "long_press", "open_app", "press_home", "press_back"}
_BROWSER_ONLY = {"navigate", "navigate_back", "switch_page", "close_page", "choose_files"}
_ENDINGS = {"finish", "call_user", "infeasible"}
_PROGRAMS = {
    *("run_command", "type_terminal", "list_files", "read_file", "write_file", "edit_file", "download_file"),
    *("run_code", "call_tool"),
}
_KINDS = frozenset({*FUNCTIONS, *_NATIVE})
_BY_PLATFORM: dict[Platform, frozenset[str]] = {
    "desktop": _KINDS - _PHONE_ONLY - _BROWSER_ONLY,
    "browser": _KINDS - _PHONE_ONLY,
    "phone": frozenset({"click", "drag", "scroll", "type_text", "wait", "screenshot", "zoom", *_PHONE_ONLY, *_ENDINGS}),
    "terminal": frozenset({*_PROGRAMS, *_ENDINGS, "wait"}),
}
