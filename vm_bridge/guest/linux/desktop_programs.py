"""The desktop's programs: the X server, the window manager and the desktop icons."""

import os
import select
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from Xlib import X, display
from Xlib.error import XError

from vm_bridge.guest.linux.detached import start_detached

DISPLAY = ":0"
X_SECONDS = 20.0
END_SECONDS = 2.0
WINDOW_MANAGER_SECONDS = 20.0
ICONS = ("pcmanfm", "--desktop")
ICON_SECONDS, ICON_RETRY_SECONDS = 3.0, 60.0
"""How long the first settled observation waits for the desktop's icons, at first and after a restart. On an emulated
processor they start more slowly than the time after which they count as hung elsewhere."""
RFB_SOCKET = "/run/vnc/rfb.sock"
VNC_UPDATES_PER_SECOND = 250
"""Updates per second to a viewer. At 60 a change waits up to a whole frame before it is sent, which costs 5 ms on
average."""


class DesktopStartError(Exception):
    """A program of the desktop did not start in time."""


class XServer:
    """Starts on construction. Later programs find it. `wait` returns once it accepts connections."""

    def __init__(self, width: int, height: int) -> None:
        os.environ["DISPLAY"] = DISPLAY
        self._ready, ready_writer = os.pipe()
        # Streams are view-only, so the server takes no input and no clipboard over RFB.
        self._process = start_detached(
            [
                *(
                    "Xtigervnc",
                    DISPLAY,
                    "-displayfd",
                    str(ready_writer),
                    "-geometry",
                    f"{width}x{height}",
                    "-depth",
                    "24",
                    "-br",
                ),
                *("-rfbport=-1", f"-rfbunixpath={RFB_SOCKET}", "-rfbunixmode=0600", "-SecurityTypes=None"),
                *("-AlwaysShared", "-AcceptSetDesktopSize=0", "-AcceptKeyEvents=0", "-AcceptPointerEvents=0"),
                *("-AcceptCutText=0", "-SendCutText=0", f"-FrameRate={VNC_UPDATES_PER_SECOND}", "-desktop=desktop"),
                *("-nolisten", "tcp", "-noreset", "-ac", "-s", "0"),
                # GLX loads a compiler: 30 MiB and half of the server's start time. Browsers draw without it.
                *("-extension", "GLX"),
            ],
            descriptors=(ready_writer,),
        )
        os.close(ready_writer)
        self.pid = self._process.pid

    def wait(self) -> None:
        """Raises DesktopStartError."""
        # The server dies if its pipe closes before the whole line is written.
        line, ends = b"", time.monotonic() + X_SECONDS
        while not line.endswith(b"\n") and select.select([self._ready], [], [], max(0.0, ends - time.monotonic()))[0]:
            chunk = os.read(self._ready, 16)
            if not chunk:
                break
            line += chunk
        os.close(self._ready)
        if not line.endswith(b"\n"):
            raise DesktopStartError("the X server did not start")

    def end(self) -> None:
        """End it; returns when its display is free."""
        _end(self._process)


class WindowManager:
    """Starts on construction, which needs the X server; `wait` returns once it manages windows."""

    def __init__(self) -> None:
        self._watch = ExitStack()
        self._root, self._atom, self._changed = self._watch.enter_context(_watch_root_window())
        size = self._root.get_geometry()
        # In the middle of the screen the pointer would hover over content and open its tooltip.
        self._root.warp_pointer(size.width - 1, size.height - 1)
        self._process = start_detached(["openbox"])

    def wait(self) -> None:
        """Raises DesktopStartError."""
        with self._watch:
            ends = time.monotonic() + WINDOW_MANAGER_SECONDS
            while self._root.get_full_property(self._atom("_NET_SUPPORTING_WM_CHECK"), X.AnyPropertyType) is None:
                if not self._changed(ends):
                    raise DesktopStartError("the window manager did not start")

    def end(self) -> None:
        """End it, instead of calling `wait`; returns when it has ended."""
        with self._watch:
            _end(self._process)


def start_programs(programs: list[list[str]]) -> None:
    """Start an image's own programs; they appear a moment later."""
    for program in programs:
        start_detached(program)


class DesktopIcons:
    """The background and the files of ~/Desktop; started on construction, they appear a moment later."""

    def __init__(self) -> None:
        self._process = start_detached(ICONS)
        self._appeared = False

    def wait(self) -> None:
        """Wait for the icon window, the first time only. On a busy machine the program sometimes hangs at its start;
        then it is restarted once. Raises DesktopStartError."""
        if self._appeared:
            return
        if not self._wait_visible(ICON_SECONDS):
            self._process.kill()
            self._process.wait()
            self._process = start_detached(ICONS)
            if not self._wait_visible(ICON_RETRY_SECONDS):
                raise DesktopStartError("the icons did not appear")
        self._appeared = True

    def _wait_visible(self, seconds: float) -> bool:
        with _watch_root_window() as (root, atom, changed):
            ends = time.monotonic() + seconds
            while not self._icons_visible(root, atom):
                if not changed(ends):
                    return False
            return True

    def _icons_visible(self, root: Any, atom: Callable[[str], int]) -> bool:
        windows = root.get_full_property(atom("_NET_CLIENT_LIST"), X.AnyPropertyType)
        return any(self._is_desktop(root, window, atom) for window in (windows.value if windows else ()))

    def _is_desktop(self, root: Any, window: int, atom: Callable[[str], int]) -> bool:
        try:
            kinds = root.display.get_resource_class("window")(root.display, window).get_full_property(
                atom("_NET_WM_WINDOW_TYPE"), X.AnyPropertyType
            )
        except XError:
            return False  # it closed meanwhile
        return kinds is not None and atom("_NET_WM_WINDOW_TYPE_DESKTOP") in kinds.value


@contextmanager
def _watch_root_window() -> Iterator[tuple[Any, Callable[[str], int], Callable[[float], bool]]]:
    """The root window, an atom look-up, and a wait until a property of the root may have changed. The wait returns
    False after a monotonic deadline."""
    server = display.Display()
    root = server.screen().root
    root.change_attributes(event_mask=X.PropertyChangeMask)
    server.sync()

    def changed(ends: float) -> bool:
        left = ends - time.monotonic()
        if left <= 0:
            return False
        if not server.pending_events():
            select.select([server], [], [], left)
        while server.pending_events():
            server.next_event()
        return True

    try:
        yield root, server.intern_atom, changed
    finally:
        server.close()


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
