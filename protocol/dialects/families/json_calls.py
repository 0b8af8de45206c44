"""Plain JSON for any model that can call tools: `{"thought": …, "action": …, "arguments": {…}}`.

Points are `[x, y]` in thousandths of the screen, which most such models know. Read as well: a call inside
`<tool_call>`, a fence or an array; `name` and `arguments` as OpenAI writes them, also with the arguments as a text;
the arguments beside the action; `x` and `y` or `coordinate` for a point; the names of Qwen's computer tool.
"""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from protocol.actions.types import Action
from protocol.dialects.action_readers import call_to_action, call_to_actions
from protocol.dialects.action_writers import PointSyntax, action_to_call
from protocol.dialects.computer_tools import TOOL_NAMES, format_arguments, to_function_call, to_json
from protocol.dialects.coordinates import CoordinateGrid, thousandths_grid
from protocol.dialects.dialect import ScreenSize
from protocol.dialects.family_dialect import FamilyDialect, Grammar, ParsedTurn
from protocol.dialects.function_calls import FunctionCall, ReplyParseError, several_actions_error
from protocol.dialects.json_lines import BROWSER, DESKTOP, END, PHONE, TOOLS
from protocol.dialects.json_objects import argument_to_json, check_surroundings, decode_arguments, find_objects
from protocol.dialects.prompt_template import PromptTemplate
from protocol.dialects.reply_wrappers import (
    UnwrappedReply,
    explain_missing_call,
    join_thought,
    strip_thought_wrappers,
    unwrap_reply,
)

PROMPT_TEMPLATE = """{opening}

## Output
One JSON object and nothing else, with a thought in {language} and one of the actions below:
{"thought": "…", "action": "…", "arguments": {…}}
Points are [x, y], whole numbers from 0 to 1000 over the screen.

## Actions
{actions}

## Task
{instruction}"""


_THOUGHTS = ("thought", "thoughts", "reasoning")
_HEAD = re.compile(r'\{\s*"(?:thoughts?|reasoning|action|name|kind|function|arguments)"\s*:')
_LABELS = re.compile(r"\A\s*Thought\s*[:：]\s*|(?:\A|(?<=\n))[ \t]*Action\s*[:：]\s*\Z")
_SINGLE_QUOTES = re.compile(r"\{\s*'\w+'\s*:")
_SEPARATOR = re.compile(r"(?:[\s,]|</?tool_call>|```(?:json)?)*")
"""Text that is allowed between two actions of one reply."""


@dataclass(frozen=True)
class JsonCallCodec:
    """One JSON object a turn; see `protocol.dialects.family_dialect.TurnCodec`."""

    syntax: PointSyntax
    batch_hint: str = (
        "Where no new screenshot is needed in between, up to {count} actions may follow each other in one reply: "
        "write one JSON object a line, each with its action and arguments, and the thought in the first."
    )

    @property
    def grid(self) -> CoordinateGrid:
        return self.syntax.grid

    def write(self, thought: str, action: Action, screen: ScreenSize) -> str:
        call = action_to_call(action, screen, self.syntax)
        name = _WRITTEN_NAMES.get(action.kind, call.name)
        arguments = {key: argument_to_json(call.name, key, value) for key, value in call.arguments.items()}
        return to_json({**_thought_field(thought), "action": name, "arguments": arguments})

    def write_summary(self, thought: str, summary: str) -> str:
        return to_json({**_thought_field(thought), "summary": summary})

    def write_batch(self, thought: str, actions: tuple[Action, ...], screen: ScreenSize) -> str:
        return "\n".join(self.write("" if place else thought, action, screen) for place, action in enumerate(actions))

    def read_batch(self, text: str, screen: ScreenSize) -> ParsedTurn:
        reply = unwrap_reply(text, _HEAD)
        thought, content = join_thought(reply.thinking, reply.text), ""
        try:
            found = find_objects(reply.text)
            if not found:
                raise ReplyParseError("no_action", explain_missing_call(reply))
            start, end = found[0][0], found[-1][1]
            thought, content = _find_thought(reply, reply.text[:start], found[0][2]), reply.text[start:end]
            check_surroundings(reply, start, end)
            for (_, before, _), (after, _, value) in pairwise(found):
                if not _SEPARATOR.fullmatch(reply.text, before, after) or any(key in value for key in _THOUGHTS):
                    raise several_actions_error("there is other text between two of them")
            values = [each for _, _, value in found for each in _listed_actions(value)]
            first, *further = (
                action
                for value in values
                for action in call_to_actions(_object_to_call(value), screen, self.syntax.grid)
            )
            return ParsedTurn(thought, content, first, tuple(further))
        except ReplyParseError as parse_error:
            return ParsedTurn(thought, content, parse_error)

    def read(self, text: str, screen: ScreenSize) -> ParsedTurn:
        reply = unwrap_reply(text, _HEAD)
        thought, content = join_thought(reply.thinking, reply.text), ""
        try:
            found = [(start, end, _single_action(value)) for start, end, value in find_objects(reply.text)]
            actions = [one for one in found if _is_action(one[2])]
            for start, end, value in (actions or found)[:1]:
                thought, content = _find_thought(reply, reply.text[:start], value), reply.text[start:end]
            if not actions:
                hint = " Write JSON with double quotes." if _SINGLE_QUOTES.search(reply.text) else ""
                raise ReplyParseError("no_action", explain_missing_call(reply) + hint)
            if len(actions) > 1:
                raise several_actions_error(f"it holds {len(actions)} objects that act")
            check_surroundings(reply, *actions[0][:2])
            return ParsedTurn(
                thought, content, call_to_action(_object_to_call(actions[0][2]), screen, self.syntax.grid)
            )
        except ReplyParseError as parse_error:
            return ParsedTurn(thought, content, parse_error)


_WRITTEN_NAMES = {"double_click": "double_click", "right_click": "right_click", "swipe": "swipe"}


def _thought_field(thought: str) -> dict[str, Any]:
    return {"thought": thought} if thought else {}


def _is_action(value: dict[str, Any]) -> bool:
    return any(key in value for key in ("action", "name", "kind", "function"))


def _single_action(value: dict[str, Any]) -> dict[str, Any]:
    """The one action of an object that lists its actions; another object as it is. Raises ReplyParseError."""
    listed = next((value[key] for key in ("actions", "tool_calls") if isinstance(value.get(key), list)), None)
    if listed is None or _is_action(value) or not all(isinstance(one, dict) for one in listed):
        return value
    if len(listed) > 1:
        raise several_actions_error(f"it lists {len(listed)}")
    thoughts = {key: value[key] for key in _THOUGHTS if key in value}
    return {**thoughts, **listed[0]} if listed else value


def _listed_actions(value: dict[str, Any]) -> list[dict[str, Any]]:
    """The actions of an object: itself, or those it lists. Raises ReplyParseError where it is none and lists none."""
    listed = next((value[key] for key in ("actions", "tool_calls") if isinstance(value.get(key), list)), [value])
    actions = [value] if _is_action(value) else [one for one in listed if isinstance(one, dict) and _is_action(one)]
    if not actions or len(actions) < len(listed):
        raise several_actions_error("there is other text among them")
    return actions


def _find_thought(reply: UnwrappedReply, before: str, value: dict[str, Any]) -> str:
    """What the object says it thought, else what stands before it; what was thought in tags comes first."""
    for key in _THOUGHTS:
        if isinstance(value.get(key), str):
            content = str(value[key])
            return f"{reply.thinking}\n{content}" if reply.thinking else content
    return join_thought(reply.thinking, _LABELS.sub("", strip_thought_wrappers(before.rstrip().removesuffix("["))))


def _object_to_call(value: dict[str, Any]) -> FunctionCall:
    """The call an object means. Raises ReplyParseError."""
    content = {key: item for key, item in value.items() if key not in _THOUGHTS}
    for inner in ("function", "action"):
        if isinstance(content.get(inner), dict):
            content = content[inner]
    name = next((content.pop(key) for key in ("action", "name", "kind", "function", "type") if key in content), "")
    raw_arguments = content.pop("arguments", None) if "arguments" in content else content.pop("parameters", None)
    if isinstance(raw_arguments, str):
        raw_arguments = decode_arguments(raw_arguments)
    arguments = content if raw_arguments is None else raw_arguments
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise ReplyParseError("bad_arguments", "An action is a name, with an object of arguments.")
    arguments = dict(arguments)
    is_tool = name in TOOL_NAMES and isinstance(arguments.get("action"), str)
    if is_tool:
        name = arguments.pop("action")
    name, arguments = to_function_call(
        name, {key: item for key, item in arguments.items() if item is not None}, is_tool=is_tool
    )
    return FunctionCall(name, format_arguments(name, arguments))


_INTRODUCTION = "You get a task, what you did so far and the latest screenshots, and decide on the next action."
_TERMINAL_INTRODUCTION = "You get a task, what you did so far and what came of it, and decide on the next action."

DIALECT = FamilyDialect(
    name="json_calls",
    codec=JsonCallCodec(
        PointSyntax(
            grid=thousandths_grid, point="point", start="start_point", end="end_point", text=lambda x, y: f"{x} {y}"
        )
    ),
    grammars={
        "desktop": Grammar(f"You work on a computer through its screen, mouse and keyboard. {_INTRODUCTION}", DESKTOP),
        "browser": Grammar(
            f"You work in a web browser through its screen, mouse and keyboard. {_INTRODUCTION}", BROWSER
        ),
        "phone": Grammar(f"You work on a phone through its touch screen. {_INTRODUCTION}", PHONE),
        "terminal": Grammar(f"You work on a computer without a screen. {_TERMINAL_INTRODUCTION}", {**TOOLS, **END}),
    },
    template=PromptTemplate(prompt=PROMPT_TEMPLATE),
)
