"""OpenCUA: sections `## Thought`, `## Action` (in words) and `## Code`; the code is pyautogui's, read and never run.

Points are pixels of the picture after smart_resize with OpenCUA's own smallest size. Code is taken apart by `ast`
against the signatures below: calls with literal arguments, nothing else. `moveTo` and what follows at that point are
one action. `computer.`, `mobile.`, `browser.` are the additions of AgentNet; `tools.` and its likes are ours.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from protocol.actions.descriptions import describe_action
from protocol.actions.types import Action
from protocol.dialects.action_readers import call_to_action, call_to_actions
from protocol.dialects.action_writers import PointSyntax, action_to_call
from protocol.dialects.coordinates import MAX_PIXELS, RESIZE_FACTOR, CoordinateGrid, smart_resize
from protocol.dialects.dialect import ScreenSize
from protocol.dialects.family_dialect import FamilyDialect, Grammar, ParsedTurn
from protocol.dialects.function_calls import ReplyParseError, several_actions_error
from protocol.dialects.prompt_template import PromptTemplate
from protocol.dialects.python_calls import is_code, parse_python_call, parse_python_calls, unfinished_code_error
from protocol.dialects.python_writers import call_to_code
from protocol.dialects.reply_wrappers import (
    TURN_LINE,
    UnwrappedReply,
    explain_missing_call,
    find_call_end,
    has_earlier_call,
    has_following_turn,
    join_thought,
    strip_thought_wrappers,
    unwrap_reply,
)
from protocol.trajectory.proposals import ImageLimits

PROMPT_TEMPLATE = """{opening}

Answer in these sections:

## Thought:
(in {language}: what you see, what came of the last step, what to do next)

## Action:
(the next action in one sentence)

## Code:
```python
(one of the calls below)
```

Calls there are; points are pixels of the screenshot:
{actions}"""
TASK_TEMPLATE = "# Task:\n{instruction}"

LIMITS = ImageLimits(min_pixels=56 * 56, max_pixels=MAX_PIXELS)


def opencua_grid(screen: ScreenSize) -> tuple[int, int]:
    """Pixels of the picture as OpenCUA's processor scales it. Raises ValueError for one over 200 to 1."""
    rows, columns = smart_resize(
        screen.height, screen.width, min_pixels=LIMITS.min_pixels, max_pixels=LIMITS.max_pixels, factor=RESIZE_FACTOR
    )
    return columns, rows


def _tool(name: str, note: str = "", /, **arguments: str) -> str:
    arguments_text = ", ".join(f"{key}='{value}'" for key, value in arguments.items())
    return f"tools.{name}({arguments_text}){f' # {note}' if note else ''}"


TOOLS = {
    "run_command": _tool("run_command", "Run a command line.", content="xxx"),
    "type_terminal": _tool("type_terminal", "Type in an interactive terminal; a line break submits.", content="xxx"),
    "list_files": _tool("list_files", "What is in a folder; paths begin at the home folder.", path="xxx"),
    "read_file": _tool("read_file", path="xxx"),
    "write_file": _tool("write_file", path="xxx", content="xxx"),
    "edit_file": _tool("edit_file", "Replace the one occurrence of a text.", path="xxx", old="xxx", new="xxx"),
    "download_file": _tool("download_file", "Hand a file to the user.", path="xxx"),
    "run_code": _tool("run_code", "Run Python; variables are kept.", content="xxx"),
    "call_tool": _tool("call_tool", "Call one of the tools below.", name="xxx", arguments="{}"),
}

END = {
    "wait": "computer.wait() # Let 5 seconds pass; or as many as seconds= says.",
    "call_user": "computer.call_user(message='xxx') # Ask the user.",
    "finish": "computer.terminate(status='success', answer='xxx') # Done; the answer, if one was asked for.",
    "infeasible": "computer.terminate(status='failure', answer='xxx') # The task cannot be done, and why.",
}

DESKTOP = {
    "click": "pyautogui.click(x=x1, y=y1)",
    "double_click": "pyautogui.doubleClick(x=x1, y=y1)",
    "triple_click": "computer.tripleClick(x=x1, y=y1)",
    "right_click": "pyautogui.rightClick(x=x1, y=y1)",
    "middle_click": "pyautogui.middleClick(x=x1, y=y1)",
    "move_to": "pyautogui.moveTo(x=x1, y=y1)",
    "mouse_down": "pyautogui.mouseDown(x=x1, y=y1, button='left')",
    "mouse_up": "pyautogui.mouseUp(x=x1, y=y1, button='left')",
    "drag": "pyautogui.moveTo(x=x1, y=y1); pyautogui.dragTo(x=x2, y=y2, button='left')",
    "scroll": "pyautogui.scroll(-5, x=x1, y=y1) # Down where negative; hscroll goes to the left.",
    "mouse_click": "pyautogui.keyDown('ctrl'); pyautogui.click(x=x1, y=y1, clicks=1, button='left'); "
    "pyautogui.keyUp('ctrl') # Any click; at the pointer without x and y.",
    "drag_path": "pyautogui.moveTo(x=x1, y=y1); pyautogui.mouseDown(button='left'); pyautogui.moveTo(x=x2, y=y2); "
    "pyautogui.moveTo(x=x3, y=y3); pyautogui.mouseUp(button='left')",
    "scroll_by": _tool("scroll_by", "Pixels to the right and down.", point="x1 y1", dx="0", dy="300"),
    "screenshot": _tool("screenshot", "See the screen again."),
    "zoom": _tool("zoom", "See the part between two corners enlarged.", start_point="x1 y1", end_point="x2 y2"),
    "type_text": "pyautogui.write(message='xxx')",
    "press_keys": "pyautogui.hotkey(['ctrl', 'c'])",
    "press": "pyautogui.keyDown('ctrl')",
    "release": "pyautogui.keyUp('ctrl')",
    **TOOLS,
    **END,
}

BROWSER = {
    **DESKTOP,
    "navigate": "browser.navigate(url='xxx')",
    "navigate_back": "browser.navigate_back()",
    "switch_page": _tool("switch_page", "Bring another open page to the front, by its id.", page="xxx"),
    "close_page": _tool("close_page", "Close the page in front; page='xxx' closes another."),
    "choose_files": _tool("choose_files", "Give the page files it asks for; | between several.", files="xxx"),
}

PHONE = {
    "click": DESKTOP["click"],
    "long_press": "mobile.long_press(x=x1, y=y1)",
    "swipe": "mobile.swipe(from_coord=[x1, y1], to_coord=[x2, y2])",
    "type_text": DESKTOP["type_text"],
    "open_app": "mobile.open_app(name='xxx')",
    "press_home": "mobile.home()",
    "press_back": "mobile.back()",
    **END,
}


@dataclass(frozen=True)
class CodeSectionCodec:
    """Sections with code in the last; see `protocol.dialects.family_dialect.TurnCodec`."""

    syntax: PointSyntax
    batch_hint: str = "Where no new screenshot is needed in between, write up to {count} actions, a line each."

    @property
    def grid(self) -> CoordinateGrid:
        return self.syntax.grid

    def write(self, thought: str, action: Action, screen: ScreenSize) -> str:
        return self.write_batch(thought, (action,), screen)

    def write_batch(self, thought: str, actions: tuple[Action, ...], screen: ScreenSize) -> str:
        code = "\n".join(self.write_code(action, screen) for action in actions)
        words = " ".join(" ".join(map(describe_action, actions)).split())
        return f"{_thought_section(thought)}## Action:\n{words}\n\n## Code:\n```python\n{code}\n```"

    def write_code(self, action: Action, screen: ScreenSize) -> str:
        """An action as a line of Python."""
        return call_to_code(action_to_call(action, screen, self.syntax))

    def write_summary(self, thought: str, summary: str) -> str:
        return f"{_thought_section(thought)}## Action:\n{' '.join(summary.split())}"

    def read(self, text: str, screen: ScreenSize) -> ParsedTurn:
        return self._read(text, lambda code: (call_to_action(parse_python_call(code), screen, self.syntax.grid),))

    def read_batch(self, text: str, screen: ScreenSize) -> ParsedTurn:
        def parse(code: str) -> tuple[Action, ...]:
            calls = parse_python_calls(code)
            return tuple(each for call in calls for each in call_to_actions(call, screen, self.syntax.grid))

        return self._read(text, parse)

    def _read(self, text: str, parse: Callable[[str], tuple[Action, ...]]) -> ParsedTurn:
        reply = unwrap_reply(text.replace("\r\n", "\n"), _SECTION, fences=False)
        found = _HEAD.search(reply.text)
        head = _CODE_HEAD.search(reply.text) or found
        before = reply.text[: head.start()] if head else reply.text
        thought, code = _find_thought(reply, before), ""
        try:
            if head is None:
                raise ReplyParseError(
                    "no_action", "The reply holds no code." if reply.text.strip() else explain_missing_call(reply)
                )
            words = _ACTION_HEAD.search(before)
            if has_earlier_call(before[: words.start()] if words else before):
                raise several_actions_error("a call precedes the code")
            code, rest = _split_code(reply.text[head.end() if _CODE_HEAD.match(head[0]) else head.start() :])
            if has_following_turn(rest):
                raise several_actions_error()
            if reply.open and find_call_end(rest, 0) < len(rest):
                raise unfinished_code_error()
            action, *further = parse(code)
            return ParsedTurn(thought, code, action, tuple(further))
        except ReplyParseError as parse_error:
            return ParsedTurn(thought, code, parse_error)


_CODE_HEAD = re.compile(r"^##[ \t]*Code[ \t]*[:：]?[ \t]*\n?", re.MULTILINE)
_ACTION_HEAD = re.compile(r"^##[ \t]*Action[ \t]*[:：]?", re.MULTILINE)
_LABEL = re.compile(r"\s*##[ \t]*(?:Thought|Observation)[ \t]*[:：]?[ \t]*")
_INNER_LABEL = re.compile(r"^##[ \t]*Thought[ \t]*[:：]?[ \t]*\n?", re.MULTILINE)
_FENCE = re.compile(r"^```(?:python|py|code)?[ \t]*$", re.MULTILINE)
_CLOSING_FENCE = re.compile(r"^```(?!\w)", re.MULTILINE)
_FENCE_ON_A_LINE = re.compile(r"```(?:python|py|code)?[ \t]*([^`\n]+)```")
_MODULE = r"(?:pyautogui|computer|mobile|browser|tools)\."
_HEAD = re.compile(
    rf"{_CODE_HEAD.pattern}|{_FENCE.pattern}|^```(?:python|py|code)?[ \t]*{_MODULE}|^{_MODULE}[A-Za-z]", re.MULTILINE
)
_SECTION = re.compile(rf"{_ACTION_HEAD.pattern}|{_HEAD.pattern}", re.MULTILINE)
_NEXT_TURN = re.compile(rf"{TURN_LINE.pattern}|^[ \t]*#{{1,4}}[ \t]*(?:Step|Code)\b", re.MULTILINE)
_CODE_LINE = re.compile(rf"\s*(?:$|#(?!#)|import |from |(?:{_MODULE}|time\.)|[A-Za-z_]\w*\()")


def _thought_section(thought: str) -> str:
    return f"## Thought:\n{thought}\n\n" if thought else ""


def _find_thought(reply: UnwrappedReply, before: str) -> str:
    actions = list(_ACTION_HEAD.finditer(before))
    return join_thought(
        reply.thinking, _strip_label(strip_thought_wrappers(before[: actions[-1].start()] if actions else before))
    )


def _strip_label(text: str) -> str:
    label = _LABEL.match(text)
    if label is None:
        return text.strip()
    observed = "Observation" in label[0]
    text = text[label.end() :].strip()
    return _INNER_LABEL.sub("", text, count=1).strip() if observed else text


def _split_code(text: str) -> tuple[str, str]:
    """(code without its fence, what follows it). Raises ReplyParseError where a fence opens and does not close."""
    text = text.strip()
    if on_a_line := _FENCE_ON_A_LINE.match(text):
        return on_a_line[1].strip(), text[on_a_line.end() :]
    opening = _FENCE.match(text)
    if opening is None:
        return _bare_code(text)
    closing = _CLOSING_FENCE.search(text, opening.end())
    if closing is None:
        raise unfinished_code_error()
    return text[opening.end() : closing.start()].strip(), text[closing.end() :]


def _bare_code(text: str) -> tuple[str, str]:
    """The same where there is no fence: the lines that look like code."""
    turn = _NEXT_TURN.search(text)
    if turn:
        return text[: turn.start()].strip(), text[turn.start() :]
    if "\n" not in text or is_code(text):
        return text, ""
    lines = text.split("\n")
    count = next((number for number, line in enumerate(lines) if not _CODE_LINE.match(line)), len(lines))
    return "\n".join(lines[:count]).strip(), "\n".join(lines[count:])


_INTRODUCTION = "You get a task, your past steps and the latest screenshots, and give the next action as code."
_TERMINAL_INTRODUCTION = "You get a task, your past steps and what came of them, and give the next action as code."

OPENCUA = FamilyDialect(
    name="opencua",
    codec=CodeSectionCodec(
        PointSyntax(
            grid=opencua_grid, point="point", start="start_point", end="end_point", text=lambda x, y: f"{x} {y}"
        )
    ),
    grammars={
        "desktop": Grammar(f"You work on a computer. {_INTRODUCTION}", DESKTOP),
        "browser": Grammar(f"You work in a web browser. {_INTRODUCTION}", BROWSER),
        "phone": Grammar(f"You work on a phone. {_INTRODUCTION}", PHONE),
        "terminal": Grammar(f"You work on a computer without a screen. {_TERMINAL_INTRODUCTION}", {**TOOLS, **END}),
    },
    template=PromptTemplate(prompt=PROMPT_TEMPLATE, task=TASK_TEMPLATE),
    limits=LIMITS,
)
