"""The desktop's own programs: the X server, the window manager and the icons on the desktop."""

import os
import select
import subprocess
import time

from Xlib import X, display

X_SECONDS = 20.0
MANAGER_SECONDS = 20.0
RFB_SOCKET = "/run/vnc/rfb.sock"


class SessionError(Exception):
    """A program of the desktop did not start in time."""


class XServer:
    """Starts on construction; `wait` returns once it takes connections."""

    def __init__(self, width: int, height: int) -> None:
        self._ready, told = os.pipe()
        # Streams are for looking only, so the server takes no input and no clipboard over RFB.
        self._process = _start(
            *("Xtigervnc", ":0", "-displayfd", str(told), "-geometry", f"{width}x{height}", "-depth", "24", "-br"),
            *("-rfbport=-1", f"-rfbunixpath={RFB_SOCKET}", "-rfbunixmode=0600", "-SecurityTypes=None"),
            *("-AlwaysShared", "-AcceptSetDesktopSize=0", "-AcceptKeyEvents=0", "-AcceptPointerEvents=0"),
            *("-AcceptCutText=0", "-SendCutText=0", "-FrameRate=60", "-desktop=desktop"),
            *("-nolisten", "tcp", "-noreset", "-ac", "-s", "0"),
            descriptor=told,
        )
        os.close(told)
        self.pid = self._process.pid

    def wait(self) -> None:
        """Raises SessionError."""
        # The server dies if its pipe closes before the whole line is written.
        line, ends = b"", time.monotonic() + X_SECONDS
        while not line.endswith(b"\n") and select.select([self._ready], [], [], max(0.0, ends - time.monotonic()))[0]:
            chunk = os.read(self._ready, 16)
            if not chunk:
                break
            line += chunk
        os.close(self._ready)
        if not line.endswith(b"\n"):
            raise SessionError("the X server did not start")


def start_window_manager() -> None:
    """Returns once it manages windows. Raises SessionError."""
    server = display.Display()
    root = server.screen().root
    root.change_attributes(event_mask=X.PropertyChangeMask)
    managed = server.intern_atom("_NET_SUPPORTING_WM_CHECK")
    server.sync()
    _start("openbox")
    ends = time.monotonic() + MANAGER_SECONDS
    while root.get_full_property(managed, X.AnyPropertyType) is None:
        left = ends - time.monotonic()
        if left <= 0:
            raise SessionError("the window manager did not start")
        if not server.pending_events():
            select.select([server], [], [], left)
        while server.pending_events():
            server.next_event()
    server.close()


def start_icons() -> None:
    """The background and the files of ~/Desktop; they appear a moment later."""
    _start("pcmanfm", "--desktop")


def _start(*command: str, descriptor: int | None = None) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        command,
        pass_fds=() if descriptor is None else (descriptor,),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
