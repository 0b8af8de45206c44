"""The simulated guest's desktop: an X server, a window manager, a terminal, and a home folder."""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from PIL import Image, ImageGrab
from Xlib import X, display
from Xlib.error import BadWindow
from Xlib.protocol.event import ClientMessage

START_SECONDS = 15.0
MAX_ATTEMPTS = 4
TERMINAL = ["xterm", "-geometry", "80x24+40+40", "-xrm", "xterm*cursorBlink: false"]
STOP_SECONDS = 10.0
POINTER = (9, 9)
POLL = 0.05


class Window(NamedTuple):
    """A window, and where it is."""

    id: int
    title: str
    classes: tuple[str, ...]
    x: int
    y: int
    width: int
    height: int


class Desktop:
    """One desktop at a time; `revert` begins another in the same place."""

    def __init__(self, folder: Path, packages: Path, size: tuple[int, int]) -> None:
        self.home = folder / "home"
        self._packages, self._size = packages, size
        self._programs: list[subprocess.Popen[bytes]] = []
        self.environment: dict[str, str] = {}
        self.wallpaper: Path | None = None
        """What was chosen; nothing shows it."""

    def start(self) -> None:
        """Raises OSError, TimeoutError."""
        self.wallpaper = None
        shutil.rmtree(self.home, ignore_errors=True)
        (self.home / "Desktop").mkdir(parents=True)
        width, height = self._size
        ready, told = os.pipe()
        server = ("Xtigervnc", "-displayfd", str(told), "-geometry", f"{width}x{height}", "-depth", "24", "-br")
        quiet = (
            "-rfbport=-1",
            "-SecurityTypes=None",
            "-nolisten",
            "tcp",
            "-noreset",
            "-s",
            "0",
            "-extension",
            "GLX",
        )
        self.environment = {"HOME": str(self.home), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        self.environment |= {"LANG": "C.UTF-8", "PYTHONPATH": str(self._packages)}
        self._programs.append(self._begin([*server, *quiet], keep=told))
        os.close(told)
        with open(ready, "rb") as said:
            number = said.readline().strip().decode()
        if not number:
            raise OSError("the X server did not start")
        self.environment["DISPLAY"] = f":{number}"
        self._begin_until_shown(["openbox"], "_NET_SUPPORTING_WM_CHECK")
        self._begin_until_shown(TERMINAL, "_NET_CLIENT_LIST")

    def launch(self, argv: str | list[str], *, shell: bool = False) -> None:
        """Start a program that lives on. Raises OSError when it is not there."""
        self._programs.append(self._begin(argv, shell=shell))

    def stop(self) -> None:
        """End every program that was started here; those that only had windows go with the X server."""
        for program in reversed(self._programs):
            with suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)
        for program in self._programs:
            program.wait(STOP_SECONDS)
        self._programs.clear()

    def revert(self) -> None:
        """Back to the first state. Raises OSError."""
        self.stop()
        self.start()

    def picture(self) -> Image.Image:
        """The screen, and a square where the pointer is."""
        shown = ImageGrab.grab(xdisplay=self.environment["DISPLAY"])
        server = display.Display(self.environment["DISPLAY"])
        try:
            pointer = server.screen().root.query_pointer()
        finally:
            server.close()
        shown.paste(Image.new("RGB", POINTER, "black"), (pointer.root_x, pointer.root_y))
        return shown

    def window_do(self, name: str, *, strict: bool, by_class: bool, close: bool) -> bool:
        """Bring the window of that name to the front, or close it; whether there is one."""
        for window in self.windows():
            if any(_find_window(one, name, strict) for one in (window.classes if by_class else (window.title,))):
                self._tell_manager(window.id, "_NET_CLOSE_WINDOW" if close else "_NET_ACTIVE_WINDOW")
                return True
        return False

    def windows(self) -> list[Window]:
        """Those that the window manager keeps, oldest first."""
        server = display.Display(self.environment["DISPLAY"])
        try:
            root, found = server.screen().root, []
            listed = root.get_full_property(server.intern_atom("_NET_CLIENT_LIST"), X.AnyPropertyType)
            for identity in listed.value if listed else ():
                window = server.create_resource_object("window", identity)
                with suppress(BadWindow):  # it has just gone
                    size, place = window.get_geometry(), root.translate_coords(window, 0, 0)
                    title, classes = window.get_wm_name() or "", window.get_wm_class() or ()
                    found.append(Window(identity, str(title), classes, place.x, place.y, size.width, size.height))
            return found
        finally:
            server.close()

    def _tell_manager(self, identity: int, what: str) -> None:
        server = display.Display(self.environment["DISPLAY"])
        try:
            window = server.create_resource_object("window", identity)
            event = ClientMessage(window=window, client_type=server.intern_atom(what), data=(32, [0, 2, 0, 0, 0]))
            mask = X.SubstructureRedirectMask | X.SubstructureNotifyMask
            server.screen().root.send_event(event, event_mask=mask)
            server.sync()
        finally:
            server.close()

    def _begin_until_shown(self, argv: list[str], name: str) -> None:
        """Start a program that makes the window manager's property `name` be something; on a busy machine one
        sometimes hangs at its start, and is started once more. Raises TimeoutError."""
        for _ in range(MAX_ATTEMPTS):
            program = self._begin(argv)
            if self._shown(name):
                self._programs.append(program)
                return
            program.kill()
            program.wait(STOP_SECONDS)
        raise TimeoutError(f"{argv[0]} did not start")

    def _shown(self, name: str) -> bool:
        server = display.Display(self.environment["DISPLAY"])
        try:
            root, atom = server.screen().root, server.intern_atom(name)
            ends = time.monotonic() + START_SECONDS
            while not ((found := root.get_full_property(atom, X.AnyPropertyType)) and len(found.value)):
                if time.monotonic() > ends:
                    return False
                time.sleep(POLL)
            return True
        finally:
            server.close()

    def _begin(self, argv: str | list[str], *, shell: bool = False, keep: int | None = None) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            argv,
            shell=shell,
            cwd=self.home,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=() if keep is None else (keep,),
        )


def _find_window(found: str, wanted: str, strict: bool) -> bool:
    return found == wanted if strict else wanted.casefold() in found.casefold()
