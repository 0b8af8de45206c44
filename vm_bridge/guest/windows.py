"""Waits for windows by their titles."""

import select
import time

from Xlib import X, display, error


def wait_for_window(title: str, seconds: float) -> bool:
    """Whether a window whose title holds `title` is there within so many seconds."""
    server = display.Display()
    try:
        return _wait(server, title, time.monotonic() + seconds)
    finally:
        server.close()


def _wait(server: display.Display, title: str, ends: float) -> bool:
    server.screen().root.change_attributes(event_mask=X.PropertyChangeMask)
    while not any(title in shown for shown in _titles(server)):
        if not server.pending_events() and not select.select([server], [], [], max(0.0, ends - time.monotonic()))[0]:
            return False
        while server.pending_events():
            server.next_event()
    return True


def _titles(server: display.Display) -> list[str]:
    """The titles of all managed windows; every later change of one wakes the caller."""
    clients = server.screen().root.get_full_property(server.intern_atom("_NET_CLIENT_LIST"), X.AnyPropertyType)
    titles = []
    for identifier in clients.value if clients is not None else ():
        window = server.create_resource_object("window", identifier)
        try:
            window.change_attributes(event_mask=X.PropertyChangeMask)
            name = window.get_full_property(server.intern_atom("_NET_WM_NAME"), X.AnyPropertyType)
            named = name.value.decode("utf-8", "replace") if name is not None else window.get_wm_name()
        except error.BadWindow:
            continue  # it closed in between
        titles.append(str(named or ""))
    return titles
