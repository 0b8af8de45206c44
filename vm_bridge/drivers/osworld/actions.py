"""Drives a desktop behind OSWorld's in-guest server: actions through PyAutoGUI, files through its API."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from protocol.actions.inputs import scroll_notches
from protocol.actions.types import (
    MAX_FILE,
    Action,
    Click,
    DoubleClick,
    DownloadFile,
    Drag,
    DragPath,
    EditFile,
    Gesture,
    GetClipboard,
    InputEvent,
    ListFiles,
    MiddleClick,
    MouseClick,
    MouseDown,
    MouseUp,
    MoveTo,
    Point,
    Press,
    PressKeys,
    ReadFile,
    Release,
    RightClick,
    RunCommand,
    Scroll,
    ScrollBy,
    SetClipboard,
    TripleClick,
    TypeText,
    UploadFile,
    WriteFile,
)
from vm_bridge.drivers.osworld.guest_client import SERVER_TIMEOUT_SECONDS, GuestClient
from vm_bridge.drivers.remote.screen_trees import linux_texts
from vm_bridge.errors import ActionFailed
from vm_bridge.machine_io import ScreenTexts

ACTION_KINDS = (
    *("click", "double_click", "triple_click", "right_click", "middle_click", "move_to", "mouse_down", "mouse_up"),
    *("mouse_click", "drag_path", "scroll_by"),
    *("drag", "scroll", "type_text", "press_keys", "press", "release", "wait", "gesture", "set_clipboard"),
    *("get_clipboard", "run_command", "list_files", "read_file", "write_file", "edit_file", "upload_file"),
    "download_file",
)
MAX_ACTION_SECONDS = SERVER_TIMEOUT_SECONDS - 10
"""The guest program ends before their server would end it (seconds)."""
MAX_TEXT = 64 * 1024
"""Maximum text of a file that is shown (bytes)."""
_KEYS = {"super": "win", "menu": "apps"}
"""Keys that PyAutoGUI names differently."""

FileAction = ReadFile | WriteFile | EditFile | UploadFile | DownloadFile
InputCall = tuple[str, Any, float]
"""A function name, its arguments, and when it is due (seconds after the first)."""


class GuestActionExecutor:
    """Executes actions on one guest."""

    def __init__(self, guest: GuestClient) -> None:
        self._guest = guest

    async def do(self, action: Action, size: tuple[int, int], staged: Mapping[str, bytes]) -> str | bytes | None:
        """See `ActionExecutor.do`."""
        if isinstance(action, FileAction):
            return await self._file(action, staged)
        return await self._guest.inside(build_request(action))

    async def screen_texts(self) -> ScreenTexts:
        """See `ActionExecutor.screen_texts`."""
        return await asyncio.to_thread(linux_texts, await self._guest.accessibility_tree())

    async def _file(self, action: FileAction, staged: Mapping[str, bytes]) -> str | bytes | None:
        match action:
            case ReadFile():
                return (await self._guest.read(action.path, MAX_FILE))[:MAX_TEXT].decode("utf-8", "replace")
            case WriteFile():
                await self._guest.put(action.path, action.text.encode())
            case EditFile():
                await self._edit(action)
            case UploadFile():
                await self._guest.put(action.path, staged[action.blob.sha256])
            case DownloadFile():
                return await self._guest.read(action.path, MAX_FILE)
        return None

    async def _edit(self, action: EditFile) -> None:
        text = (await self._guest.read(action.path, MAX_FILE)).decode("utf-8", "surrogateescape")
        count = text.count(action.old)
        if count != 1:
            raise ActionFailed("no_single_match", f"the old text occurs {count} times in {action.path}, not once")
        await self._guest.put(action.path, text.replace(action.old, action.new).encode("utf-8", "surrogateescape"))


def build_request(action: Action) -> dict[str, Any]:
    """The request to the guest program for an action. Raises ActionFailed."""
    match action:
        case TypeText() | SetClipboard():
            return {"do": "type" if isinstance(action, TypeText) else "set_clipboard", "text": action.text}
        case GetClipboard():
            return {"do": "get_clipboard"}
        case RunCommand():
            return {"do": "run", "command": action.command, "timeout": min(action.timeout, MAX_ACTION_SECONDS)}
        case ListFiles():
            return {"do": "list", "path": action.path}
    inputs = build_inputs(action)
    if inputs[-1][2] > MAX_ACTION_SECONDS:
        raise ActionFailed("too_long", f"a gesture lasts at most {MAX_ACTION_SECONDS:g} s here")
    return {"do": "act", "inputs": inputs}


def build_inputs(action: Action) -> list[InputCall]:
    """The function calls of the guest program for a pointer or key action."""
    match action:
        case Click() | DoubleClick() | TripleClick() | RightClick() | MiddleClick():
            return [("click", _click(action), 0.0)]
        case Drag():
            start, end = (action.start.x, action.start.y), (action.end.x, action.end.y)
            return [("drag", (start, end, action.button), 0.0)]
        case MouseClick() | DragPath() | ScrollBy():
            return _with_keys_held(action.keys, _held_keys_inputs(action))
        case PressKeys():
            return _with_keys_held(action.keys, [])
        case Gesture():
            return [one for timed in action.inputs for one in _primitive(timed.input, timed.at_ms / 1000)]
        case MoveTo() | MouseDown() | MouseUp() | Scroll() | Press() | Release():
            return _primitive(action, 0.0)
    raise AssertionError(f"{action.kind} is none of the kinds")


def _with_keys_held(keys: Sequence[str], inputs: list[InputCall]) -> list[InputCall]:
    down: list[InputCall] = [("key_down", (pyautogui_key(key),), 0.0) for key in keys]
    return [*down, *inputs, *(("key_up", (pyautogui_key(key),), 0.0) for key in reversed(keys))]


def _held_keys_inputs(action: MouseClick | DragPath | ScrollBy) -> list[InputCall]:
    """Raises ActionFailed for what PyAutoGUI does not support."""
    match action:
        case MouseClick(button="back" | "forward"):
            raise ActionFailed("unsupported_button", f"this machine's mouse has no button {action.button}")
        case MouseClick():
            click = {"button": action.button, "clicks": action.clicks, "interval": 0.05}
            return [*_at(action.point, 0.0), ("click", click, 0.0)]
        case DragPath(points=points):
            start = [_to(points[0], 0.0)] if len(points) > 1 else []
            along = [(point.x, point.y) for point in (points[1:] or points)]
            return [*start, ("drag_along", (along, action.button), 0.0)]
        case ScrollBy():
            dx, dy = scroll_notches(action)
            turns = [("right" if dx > 0 else "left", abs(dx)), ("down" if dy > 0 else "up", abs(dy))]
            return [*_at(action.point, 0.0), *(("scroll", turn, 0.0) for turn in turns if turn[1])]


def pyautogui_key(key: str) -> str:
    """PyAutoGUI's name of a key."""
    return _KEYS.get(key, key)


def _click(action: Click | DoubleClick | TripleClick | RightClick | MiddleClick) -> dict[str, Any]:
    button = {"right_click": "right", "middle_click": "middle"}.get(action.kind, "left")
    clicks = {"double_click": 2, "triple_click": 3}.get(action.kind, 1)
    return {"x": action.x, "y": action.y, "button": button, "clicks": clicks, "interval": 0.05}


def _primitive(action: InputEvent, due: float) -> list[InputCall]:
    match action:
        case MoveTo():
            return [_to(Point(x=action.x, y=action.y), due)]
        case MouseDown():
            return [*_at(action.point, due), ("mouseDown", {"button": action.button}, due)]
        case MouseUp():
            return [*_at(action.point, due), ("mouseUp", {"button": action.button}, due)]
        case Scroll():
            return [*_at(action.point, due), ("scroll", (action.direction, action.amount), due)]
        case Press():
            return [("key_down", (pyautogui_key(action.key),), due)]
        case Release():
            return [("key_up", (pyautogui_key(action.key),), due)]
        case TypeText():
            return [("type_text", (action.text,), due)]


def _at(point: Point | None, due: float) -> list[InputCall]:
    return [] if point is None else [_to(point, due)]


def _to(point: Point, due: float) -> InputCall:
    return ("moveTo", {"x": point.x, "y": point.y}, due)
