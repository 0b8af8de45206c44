"""The titles of the windows on the desktop, for completion."""

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

MAX_WINDOWS = 50
MAX_TITLE = 300
"""Characters."""


def window_titles() -> list[str]:
    """Titles of the windows that the window manager manages, the newest first; none without a screen."""
    if "DISPLAY" not in os.environ:
        return []
    # A machine without a screen never loads it.
    from Xlib import display
    from Xlib.error import ConnectionClosedError, DisplayError

    titles: list[str] = []
    with suppress(ConnectionClosedError, DisplayError):
        server = display.Display()
        try:
            for title in _titles(server):
                if title and title not in titles:
                    titles.append(title)
        finally:
            server.close()
    return titles


def _titles(server: Any) -> Iterator[str]:
    from Xlib import X
    from Xlib.error import XError

    root, atom = server.screen().root, server.intern_atom
    windows = root.get_full_property(atom("_NET_CLIENT_LIST"), X.AnyPropertyType)
    for number in reversed((windows.value if windows else ())[-MAX_WINDOWS:]):
        with suppress(XError):  # it closed in between
            window = server.create_resource_object("window", number)
            named = window.get_full_property(atom("_NET_WM_NAME"), atom("UTF8_STRING"))
            text = named.value.decode("utf-8", "replace") if named else window.get_wm_name() or ""
            yield (text.decode("latin-1") if isinstance(text, bytes) else text)[:MAX_TITLE]
