"""The X server's input, windows and screen. Only this package knows X."""

import os
import sys
from contextlib import redirect_stdout

from Xlib.display import Display
from Xlib.error import ConnectionClosedError, DisplayError

from ..errors import RecorderError

XWAYLAND = "XWAYLAND"
"""The extension of a Wayland desktop's X server for legacy programs: it sees only those."""
WAYLAND = (
    "This desktop runs Wayland, which shows no program the keys and clicks of others: its portals give pictures of the "
    "screen, but no input that goes on to its program. Choose a session of X11 (Xorg) where you sign in."
)


def open_display() -> Display:
    """A connection to the X server. Raises RecorderError with `wayland` or `no_display`."""
    if os.environ.get("XDG_SESSION_TYPE") == "wayland":
        raise RecorderError("wayland", WAYLAND)
    try:
        with redirect_stdout(sys.stderr):  # python-xlib prints a warning if there is no authority file
            display = Display()
    except (DisplayError, ConnectionClosedError):
        if os.environ.get("WAYLAND_DISPLAY"):
            raise RecorderError("wayland", WAYLAND) from None
        raise RecorderError("no_display", "There is no X11 desktop here; check DISPLAY.") from None
    if display.has_extension(XWAYLAND):
        display.close()
        raise RecorderError("wayland", WAYLAND)
    return display
