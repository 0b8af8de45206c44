"""Hypothesis strategies for the shared types."""

import re
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
    return points.flatmap(lambda point: _builders(points, point)[kind])


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


def _builders(points: st.SearchStrategy[Point], point: Point) -> dict[str, st.SearchStrategy[Any]]:
    maybe = st.none() | points
    held = st.lists(keys, max_size=4).map(tuple)
    at: dict[str, Any] = {"x": st.just(point.x), "y": st.just(point.y)}
    inputs = st.one_of(
        st.builds(a.MoveTo, **at), st.builds(a.MouseDown, point=maybe, button=buttons), st.builds(a.Press, key=keys)
    )
    timed = st.builds(a.TimedInput, at_ms=st.integers(0, 10**6), input=inputs)
    path = st.text(min_size=1, max_size=20)
    return {
        "click": st.builds(a.Click, **at),
        "double_click": st.builds(a.DoubleClick, **at),
        "triple_click": st.builds(a.TripleClick, **at),
        "right_click": st.builds(a.RightClick, **at),
        "middle_click": st.builds(a.MiddleClick, **at),
        "move_to": st.builds(a.MoveTo, **at),
        "mouse_down": st.builds(a.MouseDown, point=maybe, button=buttons),
        "mouse_up": st.builds(a.MouseUp, point=maybe, button=buttons),
        "mouse_click": st.builds(
            a.MouseClick,
            point=maybe,
            button=buttons | st.sampled_from(("back", "forward")),
            clicks=st.integers(1, 3),
            keys=held,
        ),
        "drag_path": st.builds(
            a.DragPath, points=st.lists(points, min_size=1, max_size=5).map(tuple), button=buttons, keys=held
        ),
        "scroll_by": st.builds(_scroll_by, point=maybe, dx=_far, dy=_far, unit=_units, keys=held),
        "drag": st.builds(a.Drag, start=points, end=points, button=buttons),
        "scroll": st.builds(
            a.Scroll,
            point=maybe,
            direction=st.sampled_from(("up", "down", "left", "right")),
            amount=st.integers(1, 100),
        ),
        "type_text": st.builds(a.TypeText, text=texts),
        "press_keys": st.builds(a.PressKeys, keys=st.lists(keys, min_size=1, max_size=5).map(tuple)),
        "press": st.builds(a.Press, key=keys),
        "release": st.builds(a.Release, key=keys),
        "wait": st.builds(a.Wait, seconds=seconds(60)),
        "navigate": st.builds(a.Navigate, url=st.text(min_size=1, max_size=40)),
        "navigate_back": st.builds(a.NavigateBack),
        "switch_page": st.builds(a.SwitchPage, page=_page_ids),
        "close_page": st.builds(a.ClosePage, page=st.none() | _page_ids),
        "choose_files": st.builds(a.ChooseFiles, files=st.lists(_file_names, max_size=3).map(tuple)),
        "long_press": st.builds(a.LongPress, **at, seconds=seconds(10)),
        "swipe": st.builds(a.Swipe, start=points, end=points),
        "open_app": st.builds(a.OpenApp, name=st.text(min_size=1, max_size=20)),
        "press_home": st.builds(a.PressHome),
        "press_back": st.builds(a.PressBack),
        "set_clipboard": st.builds(a.SetClipboard, text=texts),
        "get_clipboard": st.builds(a.GetClipboard),
        "run_command": st.builds(a.RunCommand, command=texts, timeout=seconds(600)),
        "type_terminal": st.builds(
            a.TypeTerminal, session=st.from_regex(r"[A-Za-z0-9_-]{1,32}", fullmatch=True), text=texts
        ),
        "list_files": st.builds(a.ListFiles, path=path),
        "upload_file": st.builds(a.UploadFile, path=path, blob=st.binary(max_size=9).map(_blob)),
        "download_file": st.builds(a.DownloadFile, path=path),
        "read_file": st.builds(a.ReadFile, path=path),
        "write_file": st.builds(a.WriteFile, path=path, text=texts),
        "edit_file": st.builds(a.EditFile, path=path, old=path, new=texts),
        "run_code": st.builds(a.RunCode, code=texts, timeout=seconds(600)),
        "call_tool": st.builds(
            a.CallTool,
            name=path,
            arguments=st.dictionaries(st.text(max_size=5), json_values, max_size=3),
        ),
        "finish": st.builds(a.Finish, answer=texts),
        "screenshot": st.builds(a.Screenshot),
        "zoom": st.builds(a.Zoom, start=points, end=points),
        "call_user": st.builds(a.CallUser, message=texts),
        "infeasible": st.builds(a.Infeasible, reason=texts),
        "no_action": st.builds(a.NoAction, said=texts),
        "gesture": st.builds(a.Gesture, inputs=st.lists(timed, min_size=1, max_size=5).map(tuple)),
    }
