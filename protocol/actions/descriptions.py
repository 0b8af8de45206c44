"""Describes an action in words, in English and Chinese."""

from collections.abc import Callable
from typing import Any, Literal

from protocol.actions.types import Action, Point, action_points

Language = Literal["en", "zh"]

MAX_QUOTE_CHARACTERS = 80
"""Longest quoted text (characters); of a longer one the beginning is shown."""

_Sentence = Callable[["_Words"], str]


def format_pixel(point: Point) -> str:
    """A point as people read it."""
    return f"({point.x}, {point.y})"


def describe_action(action: Action, language: Language = "en", *, point: Callable[[Point], str] = format_pixel) -> str:
    """The action in words; `point` says how a pixel is named."""
    english, chinese = _SENTENCES[action.kind]
    words = _Words(action, [point(pixel) for pixel in action_points(action)])
    return (chinese if language == "zh" else english)(words)


class _Words:
    """What sentences are made of."""

    def __init__(self, action: Any, points: list[str]) -> None:
        self.action = action
        self.at = points[0] if points else ""
        self.end = points[-1] if points else ""
        self.points = points

    def quoted(self, field: str) -> str:
        line = str(getattr(self.action, field)).replace("\n", "⏎")
        return f"“{line if len(line) <= MAX_QUOTE_CHARACTERS else line[: MAX_QUOTE_CHARACTERS - 1] + '…'}”"

    def after_colon(self, colon: str, field: str) -> str:
        return f"{colon}{self.quoted(field)}" if getattr(self.action, field) else ""

    def where(self, before: str = " at ", after: str = "") -> str:
        return f"{before}{self.at}{after}" if self.at else ""

    def held(self, before: str = " with ", after: str = " held") -> str:
        return f"{before}{' + '.join(self.action.keys)}{after}" if self.action.keys else ""

    def through(self, word: str) -> str:
        return word.join(self.points)

    def unless_left_button(self, text: str) -> str:
        return "" if self.action.button == "left" else text


_UP_DOWN = {"up": "上", "down": "下", "left": "左", "right": "右"}
_BUTTON = {"left": "左键", "middle": "中键", "right": "右键", "back": "后退键", "forward": "前进键"}
_TIMES = {1: "", 2: " twice", 3: " three times"}
_PIXELS = {"pixels": "像素", "notches": "格"}

_SENTENCES: dict[str, tuple[_Sentence, _Sentence]] = {
    "click": (lambda w: f"Click at {w.at}", lambda w: f"单击 {w.at}"),
    "double_click": (lambda w: f"Double-click at {w.at}", lambda w: f"双击 {w.at}"),
    "triple_click": (lambda w: f"Triple-click at {w.at}", lambda w: f"三击 {w.at}"),
    "right_click": (lambda w: f"Right-click at {w.at}", lambda w: f"右键单击 {w.at}"),
    "middle_click": (lambda w: f"Middle-click at {w.at}", lambda w: f"中键单击 {w.at}"),
    "move_to": (lambda w: f"Move the pointer to {w.at}", lambda w: f"将指针移到 {w.at}"),
    "mouse_down": (
        lambda w: f"Hold the {w.action.button} mouse button down{w.where()}",
        lambda w: f"按住鼠标{_BUTTON[w.action.button]}{w.where('（', '）')}",
    ),
    "mouse_up": (
        lambda w: f"Let the {w.action.button} mouse button go{w.where()}",
        lambda w: f"松开鼠标{_BUTTON[w.action.button]}{w.where('（', '）')}",
    ),
    "drag": (
        lambda w: f"Drag{w.unless_left_button(f' with the {w.action.button} button')} from {w.at} to {w.end}",
        lambda w: f"{w.unless_left_button(f'用{_BUTTON[w.action.button]}')}从 {w.at} 拖动到 {w.end}",
    ),
    "mouse_click": (
        lambda w: (
            f"Click{w.unless_left_button(f' the {w.action.button} button')}{_TIMES[w.action.clicks]}"
            f"{w.where() or ' where the pointer is'}{w.held()}"
        ),
        lambda w: (
            f"{w.held('按住 ', ' 键，')}在{w.where(' ', ' ') or '指针处'}"
            f"用{_BUTTON[w.action.button]}点击 {w.action.clicks} 次"
        ),
    ),
    "drag_path": (
        lambda w: (
            f"Drag{w.unless_left_button(f' with the {w.action.button} button')} "
            f"{'from the pointer to' if len(w.points) == 1 else 'along'} {w.through(' → ')}{w.held()}"
        ),
        lambda w: (
            f"{w.held('按住 ', ' 键，')}{w.unless_left_button(f'用{_BUTTON[w.action.button]}')}"
            f"{'从指针处拖动到' if len(w.points) == 1 else '沿以下路径拖动：'} {w.through(' → ')}"
        ),
    ),
    "scroll_by": (
        lambda w: f"Scroll by ({w.action.dx}, {w.action.dy}) {w.action.unit}{w.where()}{w.held()}",
        lambda w: (
            f"{w.held('按住 ', ' 键，')}滚动 ({w.action.dx}, {w.action.dy}) {_PIXELS[w.action.unit]}"
            f"{w.where('（', '）')}"
        ),
    ),
    "scroll": (
        lambda w: f"Scroll {w.action.direction} by {w.action.amount}{w.where()}",
        lambda w: f"向{_UP_DOWN[w.action.direction]}滚动 {w.action.amount} 格{w.where('（', '）')}",
    ),
    "type_text": (lambda w: f"Type {w.quoted('text')}", lambda w: f"输入{w.quoted('text')}"),
    "press_keys": (lambda w: f"Press {' + '.join(w.action.keys)}", lambda w: f"按下 {' + '.join(w.action.keys)}"),
    "press": (lambda w: f"Hold the key {w.action.key} down", lambda w: f"按住 {w.action.key} 键"),
    "release": (lambda w: f"Let the key {w.action.key} go", lambda w: f"松开 {w.action.key} 键"),
    "wait": (lambda w: f"Wait for {w.action.seconds:g} s", lambda w: f"等待 {w.action.seconds:g} 秒"),
    "navigate": (lambda w: f"Open {w.action.url}", lambda w: f"打开 {w.action.url}"),
    "navigate_back": (lambda w: "Go back one page", lambda w: "返回上一页"),
    "switch_page": (lambda w: f"Switch to the page {w.action.page}", lambda w: f"切换到页面 {w.action.page}"),
    "close_page": (
        lambda w: f"Close the page {w.action.page}" if w.action.page else "Close this page",
        lambda w: f"关闭页面 {w.action.page}" if w.action.page else "关闭当前页面",
    ),
    "choose_files": (
        lambda w: f"Choose {', '.join(w.action.files)}" if w.action.files else "Choose no file",
        lambda w: f"选择文件 {'、'.join(w.action.files)}" if w.action.files else "不选择文件",
    ),
    "long_press": (
        lambda w: f"Press {w.at} for {w.action.seconds:g} s",
        lambda w: f"长按 {w.at} {w.action.seconds:g} 秒",
    ),
    "swipe": (lambda w: f"Swipe from {w.at} to {w.end}", lambda w: f"从 {w.at} 滑动到 {w.end}"),
    "open_app": (lambda w: f"Open the app {w.quoted('name')}", lambda w: f"打开应用{w.quoted('name')}"),
    "press_home": (lambda w: "Press the home button", lambda w: "按主屏幕键"),
    "press_back": (lambda w: "Press the back button", lambda w: "按返回键"),
    "set_clipboard": (
        lambda w: f"Copy {w.quoted('text')} to the clipboard",
        lambda w: f"将{w.quoted('text')}复制到剪贴板",
    ),
    "get_clipboard": (lambda w: "Read the clipboard", lambda w: "读取剪贴板"),
    "run_command": (lambda w: f"Run the command {w.quoted('command')}", lambda w: f"运行命令{w.quoted('command')}"),
    "type_terminal": (
        lambda w: f"Type {w.quoted('text')} in the terminal" if w.action.text else "Look at the terminal",
        lambda w: f"在终端输入{w.quoted('text')}" if w.action.text else "查看终端",
    ),
    "list_files": (lambda w: f"List the folder {w.quoted('path')}", lambda w: f"列出文件夹{w.quoted('path')}"),
    "upload_file": (lambda w: f"Upload the file {w.quoted('path')}", lambda w: f"上传文件{w.quoted('path')}"),
    "download_file": (lambda w: f"Download the file {w.quoted('path')}", lambda w: f"下载文件{w.quoted('path')}"),
    "read_file": (lambda w: f"Read the file {w.quoted('path')}", lambda w: f"读取文件{w.quoted('path')}"),
    "write_file": (lambda w: f"Write the file {w.quoted('path')}", lambda w: f"写入文件{w.quoted('path')}"),
    "edit_file": (
        lambda w: f"Replace {w.quoted('old')} by {w.quoted('new')} in the file {w.quoted('path')}",
        lambda w: f"在文件{w.quoted('path')}中将{w.quoted('old')}替换为{w.quoted('new')}",
    ),
    "run_code": (lambda w: f"Run the code {w.quoted('code')}", lambda w: f"运行代码{w.quoted('code')}"),
    "call_tool": (lambda w: f"Call the tool {w.quoted('name')}", lambda w: f"调用工具{w.quoted('name')}"),
    "screenshot": (lambda w: "Look at the screen", lambda w: "查看屏幕"),
    "zoom": (
        lambda w: f"Look closer at the part from {w.at} to {w.end}",
        lambda w: f"放大查看从 {w.at} 到 {w.end} 的区域",
    ),
    "finish": (
        lambda w: f"Finish{w.after_colon(': ', 'answer')}",
        lambda w: f"完成任务{w.after_colon('：', 'answer')}",
    ),
    "call_user": (
        lambda w: f"Ask the user{w.after_colon(': ', 'message')}",
        lambda w: f"询问用户{w.after_colon('：', 'message')}",
    ),
    "infeasible": (
        lambda w: f"Say that the task cannot be done{w.after_colon(': ', 'reason')}",
        lambda w: f"报告任务无法完成{w.after_colon('：', 'reason')}",
    ),
    "no_action": (
        lambda w: f"Say what nobody can do{w.after_colon(': ', 'said')}",
        lambda w: f"给出无法执行的回复{w.after_colon('：', 'said')}",
    ),
    "gesture": (
        lambda w: f"Work by hand, {len(w.action.inputs)} inputs",
        lambda w: f"手动操作，{len(w.action.inputs)} 个输入",
    ),
}
"""Each kind's sentence in English and in Chinese."""
