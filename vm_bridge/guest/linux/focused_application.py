"""Which application has the keyboard: the class of the X window in front."""

from contextlib import suppress

from Xlib import X, display
from Xlib.error import ConnectionClosedError, XError

MAX_DEPTH = 16
"""Windows between the one with the focus, which may be a part of the application's, and the application's own."""
MAX_NAME = 200


class FocusedApplication:
    """Asks the X server on a connection of its own; used by one thread."""

    def __init__(self) -> None:
        self._display = display.Display()

    def name(self) -> str:
        """The second part of WM_CLASS in lower case, such as `xterm`; empty where nothing in front has one."""
        with suppress(XError, ConnectionClosedError, UnicodeError):  # the window may end meanwhile
            window = self._display.get_input_focus().focus
            for _ in range(MAX_DEPTH):
                if isinstance(window, int) or window.id in (X.NONE, X.PointerRoot):
                    return ""
                if (found := window.get_wm_class()) is not None:
                    return str(found[1]).lower()[:MAX_NAME]
                window = window.query_tree().parent
        return ""
