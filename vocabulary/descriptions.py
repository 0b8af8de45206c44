"""An action in words, in English and Chinese."""

from collections.abc import Callable
from typing import Any, Literal

from vocabulary.actions import Action, Point, points_of

Language = Literal["en", "zh"]

_SENTENCES: dict[str, tuple[str, str]] = {
    "click": ("Click at {point}", "单击 {point}"),
    "double_click": ("Double-click at {point}", "双击 {point}"),
    "triple_click": ("Triple-click at {point}", "三击 {point}"),
    "right_click": ("Right-click at {point}", "右键单击 {point}"),
    "middle_click": ("Middle-click at {point}", "中键单击 {point}"),
    "move_to": ("Move the pointer to {point}", "将指针移到 {point}"),
    "mouse_down": ("Hold the {button} mouse button down{at}", "按住鼠标{button}{at}"),
    "mouse_up": ("Let the {button} mouse button go{at}", "松开鼠标{button}{at}"),
    "drag": ("Drag from {point} to {end}", "从 {point} 拖动到 {end}"),
    "scroll": ("Scroll {direction} by {amount}{at}", "向{direction}滚动 {amount} 格{at}"),
    "type_text": ("Type {text}", "输入{text}"),
    "press_keys": ("Press {keys}", "按下 {keys}"),
    "press": ("Hold the key {key} down", "按住 {key} 键"),
    "release": ("Let the key {key} go", "松开 {key} 键"),
    "wait": ("Wait for {seconds:g} s", "等待 {seconds:g} 秒"),
    "navigate": ("Open {url}", "打开 {url}"),
    "navigate_back": ("Go back one page", "返回上一页"),
    "long_press": ("Press {point} for {seconds:g} s", "长按 {point} {seconds:g} 秒"),
    "swipe": ("Swipe from {point} to {end}", "从 {point} 滑动到 {end}"),
    "open_app": ("Open the app {name}", "打开应用 {name}"),
    "press_home": ("Press the home button", "按主屏幕键"),
    "press_back": ("Press the back button", "按返回键"),
    "set_clipboard": ("Copy {text} to the clipboard", "将{text}复制到剪贴板"),
    "get_clipboard": ("Read the clipboard", "读取剪贴板"),
    "run_command": ("Run the command {command}", "运行命令{command}"),
    "read_file": ("Read the file {path}", "读取文件 {path}"),
    "write_file": ("Write the file {path}", "写入文件 {path}"),
    "edit_file": ("Replace {old} by {new} in the file {path}", "在文件 {path} 中将{old}替换为{new}"),
    "run_code": ("Run the code {code}", "运行代码{code}"),
    "call_tool": ("Call the tool {name}", "调用工具 {name}"),
    "finish": ("Finish{answer}", "完成任务{answer}"),
    "call_user": ("Ask the user{message}", "询问用户{message}"),
    "gesture": ("Work by hand: {inputs} inputs", "手动操作：{inputs} 个输入"),
}

_WORDS: dict[str, tuple[str, str]] = {
    "up": ("up", "上"),
    "down": ("down", "下"),
    "left": ("left", "左"),
    "right": ("right", "右"),
}
_BUTTONS: dict[str, tuple[str, str]] = {
    "left": ("left", "左键"),
    "middle": ("middle", "中键"),
    "right": ("right", "右键"),
}
_LONGEST_QUOTE = 80


def in_pixels(point: Point) -> str:
    """A point as people read it."""
    return f"({point.x}, {point.y})"


def describe(action: Action, language: Language = "en", *, point: Callable[[Point], str] = in_pixels) -> str:
    """The action in words; `point` says how a pixel is named."""
    sentence = _SENTENCES[action.kind][language == "zh"]
    return sentence.format(**_fields(action, language, point))


def _fields(action: Action, language: Language, point: Callable[[Point], str]) -> dict[str, Any]:
    chinese = language == "zh"
    fields: dict[str, Any] = {
        name: _quoted(value, chinese) if name in _QUOTED else value for name, value in action if name not in _OPTIONAL
    }
    for name in _OPTIONAL & action.__class__.model_fields.keys():
        value = getattr(action, name)
        fields[name] = (("：" if chinese else ": ") + _quoted(value, chinese)) if value else ""
    points = [point(pixel) for pixel in points_of(action)]
    fields["at"] = ""
    if points:
        fields |= {"point": points[0], "end": points[-1], "at": f"（{points[0]}）" if chinese else f" at {points[0]}"}
    for name, words in (("direction", _WORDS), ("button", _BUTTONS)):
        if name in fields:
            fields[name] = words[fields[name]][chinese]
    if "keys" in fields:
        fields["keys"] = " + ".join(fields["keys"])
    if "inputs" in fields:
        fields["inputs"] = len(fields["inputs"])
    return fields


_QUOTED = frozenset({"text", "command", "code", "old", "new"})
_OPTIONAL = frozenset({"answer", "message"})


def _quoted(text: str, chinese: bool) -> str:
    line = text.replace("\n", "⏎")
    short = line if len(line) <= _LONGEST_QUOTE else line[: _LONGEST_QUOTE - 1] + "…"
    return f"“{short}”"
