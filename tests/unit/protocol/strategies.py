"""Hypothesis strategies for the shared types."""

import re
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from protocol.actions import types as a
from protocol.actions.keys import KEYS
from protocol.actions.types import Action, Point
from protocol.blobs import BlobRef
from protocol.dialects.reply_wrappers import FUNCTION_NAMES

FRAGMENTS = (
    *("Action:", "Action：", "Thought:", "Reflection:", "Action_Summary:", "<think>", "</think>", "[EOS]", "<answer>"),
    *("<|im_end|>", "<|im_start|>user", "Observation: ", "\n"),
    *("<seed:tool_call>", "<function=type>", "<parameter=content>", "</parameter>", "</function>", "&lt;", "&amp;lt;/"),
    *("## Thought:", "## Action:", "## Code:", "```python", "```", "pyautogui.", "write(message='", "tools.", "\\x00"),
    *('{"thought": "', '"action": "wait"', '"arguments": {', "}}", "{", "}", "[1, 2]", "<tool_call>", "null", "NaN"),
    *("click(", "type(content='", "start_box='(1,2)'", "<point>1 2</point>", "<|box_start|>(3,4)<|box_end|>", "wait()"),
    *(
        "'",
        '"',
        "\\",
        "\\n",
        "\\'",
        "\n",
        "\n\n",
        ")",
        "')",
        "', x='",
        "(",
        "（",
        "）",
        "，",
        "：",
        "=",
        ",",
        ";",
        " ",
        "终",
    ),
)
"""What replies are made of: joined at random they look like actions gone wrong."""

replies = st.one_of(st.text(), st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=4))).map("".join))
"""Any text a model might answer with."""

_NO_THOUGHT = re.compile(
    r"^[ \t]*(?:(?:\*\*|#+[ \t]*)?(?:Action|Thought|Observation|Reflection|Action_Summary)\s*[:：]"
    r"|##[ \t]*(?:Observation|Thought|Action|Code|Step)|#{1,4}[ \t]*Step\b"
    rf"|(?:{'|'.join(FUNCTION_NAMES)})\s*[(（]|(?:pyautogui|tools|computer|browser|mobile)\.)"
    r"|\{\s*\"(?:action|name|function)\"|<function=|</?(?:think|reasoning|answer|action|output|computer_env|tool_call|seed:)"
    r"|```|\[EOS\]|<\|(?!box_)|\r",
    re.MULTILINE,
)
"""What a thought does not hold: lines that begin like a call or a turn, and wrappers."""

_THOUGHT_FRAGMENTS = tuple(fragment for fragment in FRAGMENTS if not _NO_THOUGHT.search(fragment))
thoughts = (
    st.one_of(st.text(), st.lists(st.one_of(st.sampled_from(_THOUGHT_FRAGMENTS), st.text(max_size=4))).map("".join))
    .map(str.strip)
    .filter(lambda text: not _NO_THOUGHT.search(text))
)
"""Every thought the law of dialects speaks of."""

texts = st.one_of(replies, st.text(max_size=40))
keys = st.sampled_from(sorted(KEYS))
buttons = st.sampled_from(("left", "middle", "right"))
_held = st.lists(keys, max_size=4).map(tuple)
_paths = st.text(min_size=1, max_size=20)
_file_names = st.from_regex(r"[^\s/\\|\x00-\x1f]{1,12}( [a-z()',.\"]{1,8})?", fullmatch=True)
_page_ids = st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def seconds(most: float) -> st.SearchStrategy[float]:
    """A duration that is not zero."""
    return st.floats(min_value=0, max_value=most, exclude_min=True)


def actions_of(kind: str, points: st.SearchStrategy[Point]) -> st.SearchStrategy[Action]:
    """Any action of one kind whose points are of these."""
    return _builders(points)[kind]()


def any_action(points: st.SearchStrategy[Point] | None = None) -> st.SearchStrategy[Action]:
    """Any action of any kind."""
    pixels = points or st.builds(Point, x=st.integers(0, 32_767), y=st.integers(0, 32_767))
    return st.sampled_from(sorted(a.ACTION_CLASSES)).flatmap(lambda kind: actions_of(kind, pixels))


_far, _units = st.integers(-20_000, 20_000), st.sampled_from(("pixels", "notches"))


def _scroll_by(point: Point | None, dx: int, dy: int, unit: str, keys: tuple[str, ...]) -> a.ScrollBy:
    """One that moves, by no more notches than there may be."""
    if unit == "notches":
        dx, dy = dx % 201 - 100, dy % 201 - 100
    return a.ScrollBy.model_validate({"point": point, "dx": dx, "dy": dy or 1, "unit": unit, "keys": keys})


def _blob(data: bytes) -> BlobRef:
    return BlobRef.of(data, "application/octet-stream")


def _at(points: st.SearchStrategy[Point], made: Callable[..., Action]) -> st.SearchStrategy[Action]:
    return points.map(lambda point: made(x=point.x, y=point.y))


def _timed_inputs(points: st.SearchStrategy[Point]) -> st.SearchStrategy[a.TimedInput]:
    inputs = st.one_of(
        _at(points, a.MoveTo),
        st.builds(a.MouseDown, point=st.none() | points, button=buttons),
        st.builds(a.Press, key=keys),
    )
    return st.builds(a.TimedInput, at_ms=st.integers(0, 10**6), input=inputs)


def _builders(points: st.SearchStrategy[Point]) -> dict[str, Callable[[], st.SearchStrategy[Any]]]:
    """What makes the strategy of each kind. A test makes one of them for each example: all of them take 8 ms."""
    maybe = st.none() | points
    return {
        "click": lambda: _at(points, a.Click),
        "double_click": lambda: _at(points, a.DoubleClick),
        "triple_click": lambda: _at(points, a.TripleClick),
        "right_click": lambda: _at(points, a.RightClick),
        "middle_click": lambda: _at(points, a.MiddleClick),
        "move_to": lambda: _at(points, a.MoveTo),
        "mouse_down": lambda: st.builds(a.MouseDown, point=maybe, button=buttons),
        "mouse_up": lambda: st.builds(a.MouseUp, point=maybe, button=buttons),
        "mouse_click": lambda: st.builds(
            a.MouseClick,
            point=maybe,
            button=buttons | st.sampled_from(("back", "forward")),
            clicks=st.integers(1, 3),
            keys=_held,
        ),
        "drag_path": lambda: st.builds(
            a.DragPath, points=st.lists(points, min_size=1, max_size=5).map(tuple), button=buttons, keys=_held
        ),
        "scroll_by": lambda: st.builds(_scroll_by, point=maybe, dx=_far, dy=_far, unit=_units, keys=_held),
        "drag": lambda: st.builds(a.Drag, start=points, end=points, button=buttons),
        "scroll": lambda: st.builds(
            a.Scroll,
            point=maybe,
            direction=st.sampled_from(("up", "down", "left", "right")),
            amount=st.integers(1, 100),
        ),
        "type_text": lambda: st.builds(a.TypeText, text=texts),
        "press_keys": lambda: st.builds(a.PressKeys, keys=st.lists(keys, min_size=1, max_size=5).map(tuple)),
        "press": lambda: st.builds(a.Press, key=keys),
        "release": lambda: st.builds(a.Release, key=keys),
        "wait": lambda: st.builds(a.Wait, seconds=seconds(60)),
        "navigate": lambda: st.builds(a.Navigate, url=st.text(min_size=1, max_size=40)),
        "navigate_back": lambda: st.builds(a.NavigateBack),
        "switch_page": lambda: st.builds(a.SwitchPage, page=_page_ids),
        "close_page": lambda: st.builds(a.ClosePage, page=st.none() | _page_ids),
        "choose_files": lambda: st.builds(a.ChooseFiles, files=st.lists(_file_names, max_size=3).map(tuple)),
        "long_press": lambda: st.builds(
            lambda point, held_s: a.LongPress(x=point.x, y=point.y, seconds=held_s), points, seconds(10)
        ),
        "swipe": lambda: st.builds(a.Swipe, start=points, end=points),
        "open_app": lambda: st.builds(a.OpenApp, name=st.text(min_size=1, max_size=20)),
        "press_home": lambda: st.builds(a.PressHome),
        "press_back": lambda: st.builds(a.PressBack),
        "set_clipboard": lambda: st.builds(a.SetClipboard, text=texts),
        "get_clipboard": lambda: st.builds(a.GetClipboard),
        "run_command": lambda: st.builds(a.RunCommand, command=texts, timeout=seconds(600)),
        "type_terminal": lambda: st.builds(
            a.TypeTerminal, session=st.from_regex(r"[A-Za-z0-9_-]{1,32}", fullmatch=True), text=texts
        ),
        "list_files": lambda: st.builds(a.ListFiles, path=_paths),
        "upload_file": lambda: st.builds(a.UploadFile, path=_paths, blob=st.binary(max_size=9).map(_blob)),
        "download_file": lambda: st.builds(a.DownloadFile, path=_paths),
        "read_file": lambda: st.builds(a.ReadFile, path=_paths),
        "write_file": lambda: st.builds(a.WriteFile, path=_paths, text=texts),
        "edit_file": lambda: st.builds(a.EditFile, path=_paths, old=_paths, new=texts),
        "run_code": lambda: st.builds(a.RunCode, code=texts, timeout=seconds(600)),
        "call_tool": lambda: st.builds(
            a.CallTool,
            name=_paths,
            arguments=st.dictionaries(st.text(max_size=5), json_values, max_size=3),
        ),
        "finish": lambda: st.builds(a.Finish, answer=texts),
        "screenshot": lambda: st.builds(a.Screenshot),
        "zoom": lambda: st.builds(a.Zoom, start=points, end=points),
        "call_user": lambda: st.builds(a.CallUser, message=texts),
        "infeasible": lambda: st.builds(a.Infeasible, reason=texts),
        "no_action": lambda: st.builds(a.NoAction, said=texts),
        "gesture": lambda: st.builds(
            a.Gesture, inputs=st.lists(_timed_inputs(points), min_size=1, max_size=5).map(tuple)
        ),
    }
