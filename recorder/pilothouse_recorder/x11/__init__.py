"""The X server's input, windows and screen. Nothing else of the recorder knows X."""

import os
import sys
from contextlib import redirect_stdout

from Xlib.display import Display
from Xlib.error import ConnectionClosedError, DisplayError

from ..errors import RecorderError

DisplayGone = ConnectionClosedError
"""Raised by every call once the X server ended."""


def open_display() -> Display:
    """A connection to the X server. Raises RecorderError with `wayland` or `no_display`."""
    if os.environ.get("XDG_SESSION_TYPE") == "wayland":
        raise RecorderError("wayland", "This desktop runs Wayland. The recorder needs a session of X11 (Xorg).")
    try:
        with redirect_stdout(sys.stderr):  # python-xlib prints a warning where there is no authority file
            return Display()
    except (DisplayError, ConnectionClosedError):
        raise RecorderError("no_display", "There is no X11 desktop here; check DISPLAY.") from None
