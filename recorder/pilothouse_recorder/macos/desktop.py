"""Implements the desktop interface for macOS."""

import plistlib
import select
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..clocks import MS, now_ns
from ..desktop import OWN_CLASS, Input, Picture
from ..elements import Element, ElementWatcher, Insertion
from ..errors import RecorderError
from ..events import Event
from ..exclusions import WindowInfo
from ..layout import Layout
from ..own_window import own_window_pid
from .calls import ElementRecord, MacCalls
from .pictures import compose
from .translation import ERROR_NS, InputTranslator, event_time

PERMISSIONS = {
    "input_monitoring": "Input Monitoring",
    "screen_recording": "Screen & System Audio Recording",
    "accessibility": "Accessibility",
}
"""Names of the permissions in System Settings, Privacy & Security."""
NORMAL_LAYER = 0
"""Layer of windows that are not menus, the Dock or the wallpaper."""
PASSWORD_SUBROLE = "AXSecureTextField"  # noqa: S105 (a role, no password)
ROLES = {
    "AXButton": "button",
    "AXCheckBox": "checkbox",
    "AXComboBox": "combobox",
    "AXPopUpButton": "combobox",
    "AXTextField": "textbox",
    "AXTextArea": "textbox",
    "AXLink": "link",
    "AXImage": "image",
    "AXRow": "row",
    "AXMenuItem": "menuitem",
    "AXMenuButton": "button",
    "AXRadioButton": "radio",
    "AXSlider": "slider",
    "AXStaticText": "text",
    "AXTabGroup": "tablist",
    "AXGroup": "group",
    "AXWindow": "window",
}


class MacDesktop:
    """The desktop of a person signed in to macOS. Raises RecorderError with `permission_missing`, which names the
    permissions that are missing.
    """

    def __init__(self, calls: MacCalls) -> None:
        if missing := calls.missing_permissions():
            names = ", ".join(PERMISSIONS[one] for one in missing)
            raise RecorderError(
                "permission_missing",
                f"Allow your terminal in System Settings, Privacy & Security: {names}. Then start the terminal again.",
            )
        self._calls = calls
        self._own_pid = own_window_pid()
        self._layout = Layout(())
        self._raw: tuple[dict[str, Any], ...] = ()
        self._windows: tuple[WindowInfo, ...] = ()
        self.changes = 0
        self._numerator, self._denominator = calls.ticks_to_ns()
        self._translator = InputTranslator(
            lambda x, y: self._layout.pixel(x, y),
            lambda record: event_time(record, self._numerator, self._denominator),
        )
        self.sync()
        calls.start()
        self._elements = ElementWatcher(lambda: AccessibilityFinder(calls, lambda: self._layout))

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of all displays together, in the pixels of the finest one."""
        return self._layout.size

    @property
    def windows(self) -> Sequence[WindowInfo]:
        """The windows as of the last `sync`. The application's name is their class."""
        return self._windows

    @property
    def flashes(self) -> int:
        """Number of times that macOS switched the tap off: what happened then is unknown. A window that appears and
        disappears between two checks goes unnoticed.
        """
        return self._calls.interruptions()

    @property
    def application(self) -> str:
        """The name of the frontmost application."""
        found = self._front
        return str(found.get("kCGWindowOwnerName", "")).lower() if found is not None else ""

    @property
    def time_error_ns(self) -> int:
        """Largest error of an input's time."""
        return ERROR_NS

    def sync(self) -> None:
        """Update the windows and displays."""
        layout = Layout(self._calls.displays())
        raw = tuple(plistlib.loads(self._calls.windows()))
        if {one["kCGWindowNumber"] for one in raw} != {one["kCGWindowNumber"] for one in self._raw}:
            self.changes += 1
        self._layout, self._raw = layout, raw
        self._windows = tuple(self._describe(one) for one in raw)

    def take_inputs(self) -> list[Input]:
        """Input since the last call. Raises RecorderError with `no_input`."""
        alive, records = self._calls.tap_alive(), self._calls.take_events()
        if not alive and not records:
            raise RecorderError("no_input", "macOS reports no input any more.")
        front = 0 if self._front is None else int(self._front.get("kCGWindowOwnerPID", 0))
        return [
            replace(one, own=self._is_own_key(one, record.target_pid or front))
            for record in records
            for one in self._translator.translate(record)
        ]

    def take_damage(self) -> bool:
        """macOS does not report drawing here, so each picture is compared with the previous one."""
        return True

    def grab(self) -> Picture | None:
        """All displays, or None if one of them cannot be read now."""
        layout = self._layout
        pictures = [self._calls.capture(place) for place in range(len(layout.monitors))]
        found = [one for one in pictures if one is not None]
        if not found or len(found) != len(pictures):
            return None
        return Picture(memoryview(compose(layout, found)), *layout.size)

    def is_own_at(self, x: int, y: int) -> bool:
        """Whether the topmost window at this point is the recorder's."""
        found = self._window_at(x, y)
        return found is not None and found.get("kCGWindowOwnerPID") == self._own_pid

    def asks_for_password(self) -> bool:
        """Whether secure input is on, or a password field has the focus."""
        return self._calls.secure_input() or self._elements.password_focused

    def describe_element(self, event: Event) -> None:
        """Request the element in the background."""
        found = self._window_at(event.data["x"], event.data["y"])
        if found is not None:
            self._elements.describe(event, int(found.get("kCGWindowOwnerPID", 0)))

    def sample_clock(self) -> None:
        """Does nothing: events use the recorder's own clock."""

    def suspended_ns(self) -> int:
        """How long this computer slept."""
        return self._calls.suspended_ns()

    def wait(self, control: int, seconds: float) -> None:
        """Wait until a command arrives or `seconds` pass."""
        select.select([control], [], [], seconds)

    def close(self) -> None:
        """Close the tap."""
        self._elements.close()
        self._calls.close()

    def _is_own_key(self, one: Input, pid: int) -> bool:
        key = one.event is not None and one.event.kind in ("key.down", "key.up")
        return key and pid != 0 and pid == self._own_pid

    @property
    def _front(self) -> dict[str, Any] | None:
        return next((one for one in self._raw if one.get("kCGWindowLayer") == NORMAL_LAYER), None)

    def _window_at(self, x: int, y: int) -> dict[str, Any] | None:
        left, top = self._layout.point(x, y)
        return next((one for one in self._raw if _is_visible(one) and _contains(one, left, top)), None)

    @staticmethod
    def _names(one: dict[str, Any]) -> tuple[str, ...]:
        name = str(one.get("kCGWindowOwnerName", "")).lower()
        return (name,) if name else ()

    def _describe(self, one: dict[str, Any]) -> WindowInfo:
        pid = int(one.get("kCGWindowOwnerPID", 0))
        own = (OWN_CLASS,) if pid and pid == self._own_pid else ()
        title = str(one.get("kCGWindowName", ""))
        return WindowInfo(pid, (*self._names(one), *own), title, visible=_is_visible(one), top_level=True)


class AccessibilityFinder:
    """Elements from Accessibility, which answers in time or not at all."""

    def __init__(self, calls: MacCalls, layout: Callable[[], Layout]) -> None:
        self._calls, self._layout = calls, layout

    def element_at(self, x: int, y: int, pid: int, deadline_ns: int) -> Element | None:
        """The element at a pixel of the picture."""
        found = self._calls.element_at(*self._layout().point(x, y))
        return None if found is None or now_ns() > deadline_ns + MS else self._describe(found)

    def take_insertions(self) -> list[Insertion]:
        """Always empty: key events already contain the text that they write."""
        return []

    def has_password_focus(self, deadline_ns: int) -> bool:
        """Whether the element with the focus is a password field."""
        found = self._calls.focused_element()
        return found is not None and found.subrole == PASSWORD_SUBROLE

    def close(self) -> None:
        """Does nothing: there are no resources to release."""

    def _describe(self, found: ElementRecord) -> Element:
        secret = found.subrole == PASSWORD_SUBROLE
        role = "password" if secret else ROLES.get(found.role, found.role.removeprefix("AX").lower())
        return Element(role, "" if secret else found.name, self._layout().bounds(*found.rectangle))


def _is_visible(one: dict[str, Any]) -> bool:
    return bool(one.get("kCGWindowIsOnscreen", False)) and float(one.get("kCGWindowAlpha", 1.0)) > 0


def _contains(one: dict[str, Any], x: float, y: float) -> bool:
    bounds = one.get("kCGWindowBounds", {})
    left, top = float(bounds.get("X", 0)), float(bounds.get("Y", 0))
    return left <= x < left + float(bounds.get("Width", 0)) and top <= y < top + float(bounds.get("Height", 0))
