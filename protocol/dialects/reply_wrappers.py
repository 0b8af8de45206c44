"""Text around the call in a model's reply: thinking, wrappers, and the beginning of another turn.

Every dialect uses the same rules. Thinking tags and wrappers belong neither to the thought nor to the call. Text after
the call is dropped as prose unless it holds another call or begins another turn.
"""

import re
from dataclasses import dataclass

FUNCTION_NAMES = (
    *("click", "left_single", "left_double", "double_click", "triple_click", "right_single", "right_click"),
    *("mouse_click", "drag_path", "scroll_by", "swipe", "type", "screenshot", "zoom"),
    *("middle_click", "move_to", "hover", "mouse_down", "mouse_up", "drag", "select", "scroll"),
    *("hotkey", "press", "release", "wait", "navigate", "navigate_back", "switch_page", "close_page", "choose_files"),
    *("long_press", "open_app", "press_home", "press_back", "run_command", "type_terminal", "list_files", "read_file"),
    *("write_file", "edit_file", "download_file", "run_code", "call_tool", "finished", "call_user", "infeasible"),
)
"""Every function that `protocol.dialects.action_readers` reads."""

_NAMES = "|".join(sorted(FUNCTION_NAMES, key=len, reverse=True))
_CALL_OPENING = r"(?:[(（]|[ \t]+[(（]\s*(?:[A-Za-z_]\w*\s*[=＝]|[)）]))"
"""What follows the name of a function that is called; `click (the button)` is prose."""
_LABELS = r"(?:Thought|Observation|Action|Action_Summary|Reflection)"
_LABEL = rf"{_LABELS}[ \t]*\d*[ \t]*(?:\*\*|__)?[ \t]*[:：]"
CHAT_TOKEN = r"<\|(?!box_|begin_of_box|end_of_box)\w{1,40}\|>"  # noqa: S105 - no password

TURN_LINE = re.compile(rf"^[ \t]*(?:\*\*|__|[#>]+[ \t]*)?{_LABEL}|{CHAT_TOKEN}", re.MULTILINE)
"""A line that begins a turn, or a token that separates two."""

CALL_AT_LINE = re.compile(rf"^[ \t]*(?=(?:{_NAMES}){_CALL_OPENING})", re.MULTILINE)
"""A line that begins with a call of a function that exists."""

NAMED_CALL = re.compile(rf"(?<![\w.])(?:{_NAMES})[(（]")
"""A call of a function that exists, anywhere."""

_FOLLOWING_TURN = re.compile(
    rf"{TURN_LINE.pattern}|{NAMED_CALL.pattern}|(?<![\w])(?:Thought|Observation|Action)\s*[:：]"
    rf"|^[ \t`]*(?:{_NAMES})(?:{_CALL_OPENING}|\s*\[|[ \t]+\w+[ \t]*=)|^[ \t`]*[A-Za-z_]\w*[(（]"
    rf"|^[ \t>*_#-]*\[?(?i:{_LABELS}|Final Answer|Step|思考|观察|动作|行动)[ \t]*\d*[ \t]*(?:\]|[*_]*[ \t]*[:：])"
    r"|^[ \t]*(?:(?:User|Human|Assistant)[ \t]*[:：]|(?:user|human|assistant|system)[ \t]*$)"
    r"|^[ \t]*#{1,4}[ \t]*(?:Step|Thought|Observation|Action|Code)\b"
    r"|</?think|<function=|<(?:(?:seed:)?tool_call|answer|action|output)>|<\|begin_of_box\|>"
    r"|['\"](?:action|name|function)['\"]\s*:"
    r"|(?<![\w.])(?:pyautogui|computer|mobile|browser|tools)\.[A-Za-z_]",
    re.MULTILINE,
)

_EARLIER_CALL = re.compile(
    rf"^[ \t]*(?:\*\*)?(?:Action[ \t]*(?:\*\*)?[ \t]*[:：][ \t`*]*)?(?:{_NAMES}){_CALL_OPENING}"
    r"|\{\s*\"(?:action|name|function)\"\s*:|<function=\w"
    r"|^[ \t]*(?:pyautogui|computer|mobile|browser|tools)\.[A-Za-z_]\w*\(",
    re.MULTILINE,
)

_THINK = re.compile(r"\s*<(?:think|reasoning)\w{0,80}>")
_THINK_END = re.compile(r"</(?:think|reasoning)\w{0,80}>")
_THINK_TAG = re.compile(r"</?(?:think|reasoning)\w{0,80}>")
_CLOSERS = re.compile(
    r"(?:[\s)）\]}.。,，;；!]|<\|end_of_box\|>|</(?!think|function|parameter)[\w:]{1,40}>|```(?!\w)|(?<!`)`(?!`)|\*\*)*"
)
_FIRST = r"(?:\s*(?:(?:<\|im_start\|>)?assistant[ \t]*\r?\n|<(?:computer_env|answer|output)>|<\|begin_of_box\|>{}))+\s*"
_BEGINNINGS = {True: re.compile(_FIRST.format(r"|```\w*[ \t]*(?=\r?\n)")), False: re.compile(_FIRST.format(""))}
"""What a whole reply begins with, by whether fences are among it."""
_ENDINGS = (
    *("[EOS]", "</s>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_box|>", "<|end|>"),
    *("</computer_env>", "</answer>", "</action>", "</output>"),
)
_OPENINGS = ("<|begin_of_box|>", "<answer>", "<action>", "<output>", "<tool_call>", "<seed:tool_call>")
_FENCE_AT_END = re.compile(r"(?:\A|(?<=\n))[ \t]*```\w*\Z")
_STEP_HEADER = re.compile(r"\A\s*#{1,4}[ \t]*Step\b[ \t]*\d*[ \t]*[:：.]?[^\n]*(?:\n|\Z)")


@dataclass(frozen=True)
class UnwrappedReply:
    """A reply without its wrappers: what was thought in tags, the text after it, and whether a tag never closes."""

    thinking: str
    text: str
    open: bool = False


def unwrap_reply(text: str, head: re.Pattern[str], *, fences: bool = True) -> UnwrappedReply:
    """The reply without end tokens, wrappers (fences too, where they say nothing) and thinking.

    `head` finds where a call begins. A closing tag without an opening one ends the thinking only where no call begins
    before it: otherwise it may stand in the call's text.
    """
    text = _without_wrappers(text, fences=fences)
    parts: list[str] = []
    while opening := _THINK.match(text):
        closing = _THINK_END.search(text, opening.end())
        if closing is None:
            return UnwrappedReply(_join_parts(parts), text[opening.end() :], open=True)
        parts.append(text[opening.end() : closing.start()])
        text = _without_wrappers(text[closing.end() :], fences=fences)
    first = head.search(text)
    closings = list(_THINK_END.finditer(text, 0, first.start() if first else len(text)))
    if closings:
        parts.append(_THINK_END.sub("\n", text[: closings[-1].start()]))
        text = _without_wrappers(text[closings[-1].end() :], fences=fences)
    return UnwrappedReply(_join_parts(parts), text)


def _without_wrappers(text: str, *, fences: bool) -> str:
    text = _without_endings(text, (*_ENDINGS, "```") if fences else _ENDINGS)
    if beginning := _BEGINNINGS[fences].match(text):
        text = text[beginning.end() :]
    return text


def _without_endings(text: str, endings: tuple[str, ...]) -> str:
    text = text.rstrip()
    while text.endswith(endings):
        text = text.removesuffix(next(filter(text.endswith, endings))).rstrip()
    return text


def _join_parts(parts: list[str]) -> str:
    return "\n".join(filter(None, (part.strip() for part in parts)))


def join_thought(thinking: str, text: str) -> str:
    """What was thought in tags and the text before a call, as one thought: without thinking tags, step headers, and
    wrappers that the call opens."""
    text = strip_thought_wrappers(text)
    return _join_parts([thinking, text]) if thinking else text


def strip_thought_wrappers(text: str) -> str:
    """Text before a call, without what is no thought."""
    if "<" in text:
        text = _THINK_TAG.sub("", text)
    text = _without_endings(text.strip(), _OPENINGS)
    if text.startswith("#") and (header := _STEP_HEADER.match(text)):
        text = text[header.end() :].lstrip()
    if "```" in text[-40:] and (fence := _FENCE_AT_END.search(text, max(len(text) - 40, 0))):
        text = text[: fence.start()].rstrip()
    return text


def find_call_end(text: str, position: int) -> int:
    """The place after everything that closes the wrappers around a call."""
    closers = _CLOSERS.match(text, position)
    return closers.end() if closers else position


def has_following_turn(text: str, position: int = 0) -> bool:
    """Whether text after a call holds another call or begins another turn."""
    return _FOLLOWING_TURN.search(text, position) is not None


def has_earlier_call(text: str) -> bool:
    """Whether text before a call holds a call already, of whatever grammar."""
    return _EARLIER_CALL.search(text) is not None


def explain_missing_call(reply: UnwrappedReply) -> str:
    """Why a reply without a call holds none."""
    if reply.thinking and not reply.text.strip():
        return "The reply ends with its thinking and holds no action: let the model write more tokens."
    return "The reply holds no action."
