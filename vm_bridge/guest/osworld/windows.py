"""The windows of an X display: where they are, and what brings one to the front or closes it."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from Xlib import X, display
from Xlib.error import XError
from Xlib.protocol.event import ClientMessage


class Window(NamedTuple):
    """A window, and where it is (pixels)."""

    id: int
    title: str
    classes: tuple[str, ...]
    x: int
    y: int
    width: int
    height: int


def list_windows(display_name: str) -> list[Window]:
    """Those that the window manager manages, oldest first."""
    with open_display(display_name) as server:
        root, found = server.screen().root, []
        listed = root.get_full_property(server.intern_atom("_NET_CLIENT_LIST"), X.AnyPropertyType)
        for identity in listed.value if listed else ():
            window = server.create_resource_object("window", identity)
            with suppress(XError):  # it has just gone
                size, place = window.get_geometry(), root.translate_coords(window, 0, 0)
                title, classes = _title(server, window), window.get_wm_class() or ()
                found.append(Window(identity, title, classes, place.x, place.y, size.width, size.height))
        return found


def act_on_window(display_name: str, name: str, *, strict: bool, by_class: bool, close: bool) -> bool:
    """Bring the window of that name to the front, or close it; whether there is one.

    `strict` wants the whole name, else a part in any case is enough; `by_class` compares the window's class.
    """
    for window in list_windows(display_name):
        if any(_matches(each, name, strict) for each in (window.classes if by_class else (window.title,))):
            _ask_manager(display_name, window.id, "_NET_CLOSE_WINDOW" if close else "_NET_ACTIVE_WINDOW")
            return True
    return False


@contextmanager
def open_display(display_name: str) -> Iterator[Any]:
    """A connection to the X server."""
    server = display.Display(display_name)
    try:
        yield server
    finally:
        server.close()


def _title(server: Any, window: Any) -> str:
    named = window.get_full_property(server.intern_atom("_NET_WM_NAME"), X.AnyPropertyType)
    if named is not None and isinstance(named.value, bytes):
        return named.value.decode("utf-8", "replace")
    return str(window.get_wm_name() or "")


def _ask_manager(display_name: str, identity: int, what: str) -> None:
    with open_display(display_name) as server:
        window = server.create_resource_object("window", identity)
        event = ClientMessage(window=window, client_type=server.intern_atom(what), data=(32, [0, 2, 0, 0, 0]))
        mask = X.SubstructureRedirectMask | X.SubstructureNotifyMask
        server.screen().root.send_event(event, event_mask=mask)
        server.sync()


def _matches(found: str, wanted: str, strict: bool) -> bool:
    return found == wanted if strict else wanted.casefold() in found.casefold()
