"""The X server's input, windows and screen. Nothing else of the recorder knows X."""

import os
import sys
from contextlib import redirect_stdout

from Xlib.display import Display
from Xlib.error import ConnectionClosedError, DisplayError

from ..errors import RecorderError

XWAYLAND = "XWAYLAND"
"""The extension of the X server that a Wayland desktop has for old programs: it sees those alone."""
WAYLAND = (
    "This desktop runs Wayland, which shows no program the keys and clicks of others: its portals give pictures of the "
    "screen, but no input that goes on to its program. Choose a session of X11 (Xorg) where you sign in."
)


def open_display() -> Display:
    """A connection to the X server. Raises RecorderError with `wayland` or `no_display`."""
    if os.environ.get("XDG_SESSION_TYPE") == "wayland":
        raise RecorderError("wayland", WAYLAND)
    try:
        with redirect_stdout(sys.stderr):  # python-xlib prints a warning where there is no authority file
            display = Display()
    except (DisplayError, ConnectionClosedError):
        if os.environ.get("WAYLAND_DISPLAY"):
            raise RecorderError("wayland", WAYLAND) from None
        raise RecorderError("no_display", "There is no X11 desktop here; check DISPLAY.") from None
    if display.has_extension(XWAYLAND):
        display.close()
        raise RecorderError("wayland", WAYLAND)
    return display
