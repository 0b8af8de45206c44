"""Tracks the windows on the screen from the X server's events; also its clock and the keyboard mapping."""

import time
from contextlib import suppress
from typing import Any

from Xlib import X, Xatom
from Xlib.error import XError

from ..clocks import ClockSample
from ..desktop import OWN_CLASS
from ..exclusions import WindowInfo
from . import open_display

CLIENT_BITS = 21
"""A resource id's lowest bits; the bits above identify its client."""
MAX_DEPTH = 3
"""Levels of windows below the root that are checked: a window manager's frame, its border, the program's window."""
MAX_PARENTS = 16
MAX_TITLE_CHARACTERS = 500
STRUCTURE_EVENTS = (X.CreateNotify, X.DestroyNotify, X.MapNotify, X.UnmapNotify, X.ReparentNotify)


class WindowWatcher:
    """Tracks windows. `sync` is one round trip: afterwards, everything drawn before it is known."""

    def __init__(self) -> None:
        self._display = open_display()
        self._display.set_error_handler(lambda *_: None)  # windows may close at any time
        self._root = self._display.screen().root
        self.root_id: int = self._root.id
        self._root.change_attributes(
            event_mask=X.SubstructureNotifyMask | X.StructureNotifyMask | X.FocusChangeMask  # the listener reads those
        )
        self._clock_window = self._root.create_window(
            -1, -1, 1, 1, 0, X.CopyFromParent, event_mask=X.PropertyChangeMask
        )
        self._clock_atom = self._atom("PILOTHOUSE_CLOCK")
        self._title_atoms = (self._atom("_NET_WM_NAME"), Xatom.WM_NAME)
        self._utf8 = self._atom("UTF8_STRING")
        self._pid_atom = self._atom("_NET_WM_PID")
        self._focus_id, self._focused = -1, ("", 0)
        self._clock_ms: int | None = None
        self._structure_changed = True
        self.changes = 0
        """Number of times that windows appeared, disappeared or moved in the tree, as of the last `sync`."""
        self.flashes = 0
        """Number of times that windows appeared and disappeared between two calls of `sync`. What they showed is
        unknown.
        """
        self._mapped_ids: set[int] = set()
        self._infos: dict[int, WindowInfo] = {}
        self._keyboard: list[Any] = []
        self._first_key: int = self._display.display.info.min_keycode
        self._read_keyboard()
        self.size = (self._display.screen().width_in_pixels, self._display.screen().height_in_pixels)
        """Width and height of the whole screen, every monitor on it."""
        self.sync()

    def close(self) -> None:
        """Close the connection."""
        self._display.close()

    @property
    def windows(self) -> tuple[WindowInfo, ...]:
        """Windows as of the last `sync`."""
        return tuple(self._infos.values())

    @property
    def focused(self) -> tuple[str, int]:
        """The class of the focused window, and its program's process; empty and 0 if unknown."""
        return self._focused

    @property
    def keys_follow_pointer(self) -> bool:
        """Whether no window has the focus, so that keys go to the window under the pointer, as of the last `sync`."""
        return self._focus_id == int(X.PointerRoot)

    def key_mapping(self, keycode: int) -> tuple[int, ...]:
        """The keysyms of a key."""
        place = keycode - self._first_key
        return tuple(self._keyboard[place]) if 0 <= place < len(self._keyboard) else ()

    def is_own(self, window_id: int) -> bool:
        """Whether it is the recorder's own window."""
        info = self._infos.get(window_id)
        return info is not None and OWN_CLASS in info.classes

    def is_own_at(self, x: int, y: int) -> bool:
        """Whether the recorder's own window covers this point."""
        for window_id, info in self._infos.items():
            if OWN_CLASS not in info.classes or not info.visible:
                continue
            with suppress(XError):
                window = self._display.create_resource_object("window", window_id)
                size, origin = window.get_geometry(), self._root.translate_coords(window, 0, 0)
                if 0 <= x - origin.x < size.width and 0 <= y - origin.y < size.height:
                    return True
        return False

    def pid_at(self, x: int, y: int) -> int:
        """The process of the window at this point, as its program reports; 0 if it does not."""
        window = self._root
        with suppress(XError):
            for _ in range(MAX_PARENTS):
                window = window.translate_coords(self._root, x, y).child
                if isinstance(window, int) or window.id == X.NONE:
                    break
                if (pid := window.get_full_property(self._pid_atom, Xatom.CARDINAL)) is not None and pid.value:
                    return int(pid.value[0])
        return 0

    def sync(self) -> None:
        """Request the changes, and apply them."""
        focus = self._display.get_input_focus().focus
        self._read_notices()
        while self._structure_changed:
            self._structure_changed = False
            self._scan()
            self._read_notices()
        if any(not self._is_visible(window_id) for window_id in self._mapped_ids):
            self.flashes += 1
        self._mapped_ids.clear()
        focus_id = focus if isinstance(focus, int) else focus.id
        if focus_id != self._focus_id:
            self._focus_id, self._focused = focus_id, self._describe_focus(focus)

    def _is_visible(self, window_id: int) -> bool:
        info = self._infos.get(window_id)
        return info is not None and info.visible

    def sample_clock(self) -> ClockSample:
        """Ask the X server for its time: a property changes, and the event has a timestamp."""
        self._clock_ms = None
        before = time.monotonic_ns()
        self._clock_window.change_property(self._clock_atom, Xatom.INTEGER, 32, [0])
        self._display.sync()
        after = time.monotonic_ns()
        self._read_notices()
        assert self._clock_ms is not None, "the notice comes before the answer"
        return ClockSample(before, self._clock_ms, after)

    def _atom(self, name: str) -> int:
        return int(self._display.intern_atom(name))

    def _read_notices(self) -> None:
        while self._display.pending_events():
            event = self._display.next_event()
            if event.type in STRUCTURE_EVENTS:
                self._structure_changed = True
                self.changes += 1
                if event.type == X.MapNotify and event.event == self._root:
                    self._mapped_ids.add(event.window.id)
            elif event.type == X.ConfigureNotify and event.window == self._root:
                self.size = (event.width, event.height)
            elif event.type == X.MappingNotify:
                self._read_keyboard()
            elif event.type == X.PropertyNotify:
                self._note_property(event)

    def _note_property(self, event: Any) -> None:
        if event.window == self._clock_window:
            self._clock_ms = event.time
        elif event.atom in self._title_atoms or event.atom == Xatom.WM_CLASS:
            known = self._infos.get(event.window.id)
            if known is None:
                self._structure_changed = True
            elif (info := self._describe(event.window, top_level=known.top_level)) is not None:
                self._infos[event.window.id] = info

    def _scan(self) -> None:
        found: dict[int, WindowInfo] = {}
        level = [(window, True) for window in self._children(self._root)]
        for _ in range(MAX_DEPTH):
            below: list[tuple[Any, bool]] = []
            for window, top_level in level:
                if window.id not in self._infos:
                    window.change_attributes(event_mask=X.PropertyChangeMask | X.SubstructureNotifyMask)
                info = self._describe(window, top_level=top_level)
                if info is None:
                    continue
                found[window.id] = info
                if not info.classes:
                    below += [(child, False) for child in self._children(window)]
            level = below
        self._infos = found

    def _children(self, window: Any) -> list[Any]:
        with suppress(XError):
            return list(window.query_tree().children)
        return []

    def _describe(self, window: Any, *, top_level: bool) -> WindowInfo | None:
        try:
            classes = window.get_wm_class() or ()
            title = self._title(window)
            visible = window.get_attributes().map_state == X.IsViewable
        except (XError, UnicodeError):
            return None
        return WindowInfo(
            client=window.id >> CLIENT_BITS,
            classes=tuple(str(name).lower() for name in classes),
            title=title,
            visible=visible,
            top_level=top_level,
        )

    def _title(self, window: Any) -> str:
        for atom, kind in zip(self._title_atoms, (self._utf8, X.AnyPropertyType), strict=True):
            found = window.get_full_property(atom, kind)
            if found is not None and found.value:
                value = found.value
                return (value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value))[
                    :MAX_TITLE_CHARACTERS
                ]
        return ""

    def _describe_focus(self, window: Any) -> tuple[str, int]:
        with suppress(XError, UnicodeError):
            for _ in range(MAX_PARENTS):
                if isinstance(window, int) or window.id in (X.NONE, X.PointerRoot, self._root.id):
                    break
                if (classes := window.get_wm_class()) is not None:
                    pid = window.get_full_property(self._pid_atom, Xatom.CARDINAL)
                    return str(classes[1]).lower(), int(pid.value[0]) if pid is not None and pid.value else 0
                window = window.query_tree().parent
        return "", 0

    def _read_keyboard(self) -> None:
        info = self._display.display.info
        self._keyboard = list(
            self._display.get_keyboard_mapping(info.min_keycode, info.max_keycode - info.min_keycode + 1)
        )
