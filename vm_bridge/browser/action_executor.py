"""Executes the protocol's actions on the active page of a session, in the page's own time and deterministically."""

import string
from collections.abc import Mapping, Sequence
from itertools import pairwise
from urllib.parse import urljoin, urlsplit

from protocol.actions.inputs import Button
from protocol.actions.keys import KEYS
from protocol.actions.types import (
    Action,
    ChooseFiles,
    Click,
    ClosePage,
    DoubleClick,
    Drag,
    DragPath,
    Gesture,
    MiddleClick,
    MouseClick,
    MouseDown,
    MouseUp,
    MoveTo,
    Navigate,
    NavigateBack,
    Point,
    Press,
    PressKeys,
    Release,
    RightClick,
    Scroll,
    ScrollBy,
    SwitchPage,
    TripleClick,
    TypeText,
)
from vm_bridge.browser.errors import ScriptFailed
from vm_bridge.browser.files import FilePayload
from vm_bridge.browser.keys import MODIFIERS, SHIFTED, key_event
from vm_bridge.browser.session import Session
from vm_bridge.errors import ActionFailed

ACTION_KINDS = (
    *("click", "double_click", "triple_click", "right_click", "middle_click", "move_to", "mouse_down", "mouse_up"),
    *("mouse_click", "drag_path", "scroll_by"),
    *("drag", "scroll", "type_text", "press_keys", "press", "release", "wait", "navigate", "navigate_back"),
    *("switch_page", "close_page", "choose_files", "gesture"),
)
FRAME_MS = 1000 / 60
NOTCH = 100
"""How far one notch of the wheel scrolls (pixels)."""
DRAG_STEPS = 8
"""Mouse moves between the two ends of a drag, one per frame: pages tell a drag from a click by its path."""
MAX_GAP_MS = 10_000
"""Longest pause between two inputs of a gesture that is reproduced."""
SCHEMES = ("http", "https", "about")


class PageActionExecutor:
    """The input state of a session: pointer position, held modifiers, and the files offered for upload, by name."""

    def __init__(self, session: Session, files: Mapping[str, FilePayload]) -> None:
        self._session, self._files = session, files
        self._at = Point(x=0, y=0)
        self._modifiers = 0

    async def do(self, action: Action, *, live: bool = False) -> None:
        """Execute an action.

        With `live` the page's time runs by itself, so none is given to it between two inputs. The caller executes
        waits, because it knows when they may be cut short. Raises ActionFailed, BrowserFailed.
        """
        match action:
            case Gesture():
                await self._gesture(action, live=live)
            case Navigate() | NavigateBack() | SwitchPage() | ClosePage():
                await self._switch_or_navigate(action)
            case TypeText() | PressKeys() | Press() | Release():
                await self._key(action)
            case ChooseFiles():
                await self._choose(action.files)
            case _:
                await self._point(action)

    async def _point(self, action: Action) -> None:
        match action:
            case Click() | DoubleClick() | TripleClick() | RightClick() | MiddleClick():
                await self._click(action)
            case MoveTo():
                await self._move(Point(x=action.x, y=action.y))
            case MouseDown() | MouseUp():
                if action.point is not None:
                    await self._move(action.point)
                await self._button("pressed" if isinstance(action, MouseDown) else "released", action.button)
            case Drag():
                await self._drag((action.start, action.end), action.button)
            case Scroll():
                await self._scroll(action)
            case MouseClick() | DragPath() | ScrollBy():
                await self._with_keys_down(action)
            case _:
                raise ActionFailed("unsupported_action", f"a browser cannot {action.kind}")

    async def _key(self, action: TypeText | PressKeys | Press | Release) -> None:
        match action:
            case TypeText():
                await self._type(action.text)
            case PressKeys():
                await self._press(action.keys)
            case Press():
                await self._down(action.key)
            case Release():
                await self._up(action.key)

    async def _switch_or_navigate(self, action: Navigate | NavigateBack | SwitchPage | ClosePage) -> None:
        match action:
            case Navigate():
                await self._navigate(action.url)
            case NavigateBack():
                if not await self._session.go_back():
                    raise ActionFailed("no_page_before", "there is no page to go back to")
            case SwitchPage():
                self._require_page(action.page)
                await self._session.activate_page(action.page)
            case ClosePage():
                await self._close(action.page)

    async def _with_keys_down(self, action: MouseClick | DragPath | ScrollBy) -> None:
        """Run a pointer action while its keys are held, and release them even after an error."""
        held: list[str] = []
        try:
            for key in action.keys:
                held.append(key)
                await self._down(key)
            await self._pointer_action(action)
        finally:
            for key in reversed(held):
                await self._up(key)

    async def _pointer_action(self, action: MouseClick | DragPath | ScrollBy) -> None:
        match action:
            case MouseClick():
                self._at = action.point or self._at
                await self._session.click(self._at.x, self._at.y, action.button, action.clicks, self._modifiers)
            case DragPath(points=points):
                await self._drag(points if len(points) > 1 else (self._at, *points), action.button)
            case ScrollBy():
                if action.point is not None:
                    await self._move(action.point)
                far = 1 if action.unit == "pixels" else NOTCH
                await self._session.wheel(self._at.x, self._at.y, far * action.dx, far * action.dy, self._modifiers)

    async def _click(self, action: Click | DoubleClick | TripleClick | RightClick | MiddleClick) -> None:
        buttons: dict[str, Button] = {"right_click": "right", "middle_click": "middle"}
        button = buttons.get(action.kind, "left")
        times = {"double_click": 2, "triple_click": 3}.get(action.kind, 1)
        self._at = Point(x=action.x, y=action.y)
        await self._session.click(action.x, action.y, button, times, self._modifiers)

    async def _drag(self, points: Sequence[Point], button: Button) -> None:
        await self._move(points[0])
        await self._button("pressed", button)
        for start, end in pairwise(points):
            for step in range(1, DRAG_STEPS + 1):
                await self._session.advance(FRAME_MS)
                way = step / DRAG_STEPS
                await self._move(
                    Point(x=round(start.x + (end.x - start.x) * way), y=round(start.y + (end.y - start.y) * way))
                )
        await self._session.advance(FRAME_MS)
        await self._button("released", button)

    async def _scroll(self, action: Scroll) -> None:
        width, height = self._session.size
        at = action.point or Point(x=width // 2, y=height // 2)
        await self._move(at)
        x, y = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}[action.direction]
        await self._session.wheel(at.x, at.y, x * NOTCH * action.amount, y * NOTCH * action.amount, self._modifiers)

    async def _type(self, text: str) -> None:
        """Type key by key if the keyboard has the character, for pages that listen for keys. Held modifiers are
        released meanwhile.
        """
        held = [key for key, bit in MODIFIERS.items() if self._modifiers & bit]
        for key in held:
            await self._up(key)
        try:
            await self._type_characters(text)
        finally:
            for key in held:
                await self._down(key)

    async def _type_characters(self, text: str) -> None:
        session, unmapped = self._session, ""
        for character in text.replace("\r\n", "\n"):
            key = _keys_for(character)
            if key is None:
                unmapped += character
                continue
            if unmapped:
                await session.insert_text(unmapped)
                unmapped = ""
            await self._press(key)
        if unmapped:
            await session.insert_text(unmapped)

    async def _press(self, keys: tuple[str, ...]) -> None:
        for key in keys:
            await self._down(key)
        for key in reversed(keys):
            await self._up(key)

    async def _down(self, key: str) -> None:
        self._modifiers |= MODIFIERS.get(key, 0)
        await self._session.key("down", key_event(key, self._modifiers), self._modifiers)

    async def _up(self, key: str) -> None:
        self._modifiers &= ~MODIFIERS.get(key, 0)
        await self._session.key("up", key_event(key, self._modifiers), self._modifiers)

    async def _navigate(self, wanted: str) -> None:
        url = resolve_address(wanted, self._session.active.url)
        scheme = urlsplit(url).scheme
        if scheme not in SCHEMES or (scheme == "about" and url != "about:blank"):
            raise ActionFailed("refused_address", f"{wanted} is no address of a page")
        await self._session.goto(url)

    async def _close(self, page: str | None) -> None:
        session = self._session
        if page is not None:
            self._require_page(page)
        if len(session.pages) == 1:
            raise ActionFailed("last_page", "the last page stays open")
        await session.close_page(page or session.active.id)

    async def _choose(self, names: tuple[str, ...]) -> None:
        chooser = self._session.active.chooser
        if chooser is None:
            raise ActionFailed("no_chooser", "the page asks for no file")
        if unknown := [name for name in names if name not in self._files]:
            raise ActionFailed("no_such_file", f"there is no file {unknown[0]} to choose")
        if len(names) > 1 and not chooser.several:
            raise ActionFailed("one_file_only", "the page takes one file")
        try:
            await self._session.set_input_files([self._files[name] for name in names])
        except ScriptFailed as failure:
            raise ActionFailed("no_chooser", f"the field that asked for files is gone: {failure}") from failure

    def _require_page(self, page: str) -> None:
        if page not in {known.id for known in self._session.pages}:
            raise ActionFailed("no_such_page", f"no page {page} is open")

    async def _gesture(self, gesture: Gesture, *, live: bool) -> None:
        at_ms = 0
        for timed in gesture.inputs:
            gap = min(timed.at_ms - at_ms, MAX_GAP_MS)
            if gap > 0 and not live:
                await self._session.advance(gap)
            at_ms = max(at_ms, timed.at_ms)
            await self.do(timed.input)

    async def _button(self, kind: str, button: Button, clicks: int = 1) -> None:
        await self._session.mouse(kind, self._at.x, self._at.y, button, clicks, self._modifiers)

    async def _move(self, to: Point) -> None:
        self._at = to
        await self._session.mouse("moved", to.x, to.y, modifiers=self._modifiers)


def resolve_address(wanted: str, present: str) -> str:
    """The URL that a browser opens for this text in the address bar, while it shows `present`."""
    wanted = wanted.strip()
    if "://" in wanted or wanted.startswith(("about:", "data:", "javascript:", "blob:", "file:", "view-source:")):
        return wanted
    if wanted.startswith(("/", "?", "#", "./", "../")):
        return urljoin(present, wanted)
    return f"{urlsplit(present).scheme if present.startswith('http') else 'https'}://{wanted}"


def _keys_for(character: str) -> tuple[str, ...] | None:
    """The keys that type a character on a US keyboard."""
    if character == " ":
        return ("space",)
    if character == "\n":
        return ("enter",)
    if character == "\t":
        return ("tab",)
    if character in string.ascii_uppercase:
        return ("shift", character.lower())
    if character in SHIFTED:
        return ("shift", SHIFTED[character])
    return (character,) if character in KEYS else None
