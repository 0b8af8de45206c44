"""The simulated guest's desktop: an X server, a window manager, a terminal, and a home folder."""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageGrab
from Xlib import X, display

from vm_bridge.guest.osworld.screenshots import screen_size

START_SECONDS = 15.0
MAX_ATTEMPTS = 4
TERMINAL = ["xterm", "-geometry", "80x24+40+40", "-xrm", "xterm*cursorBlink: false"]
STOP_SECONDS = 10.0
POINTER = (9, 9)
POLL = 0.05


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

    def screenshot(self) -> bytes:
        """See `GuestDesktop.screenshot`."""
        file = BytesIO()
        self.picture().save(file, "PNG", compress_level=1)
        return file.getvalue()

    def screen_size(self) -> tuple[int, int]:
        """See `GuestDesktop.screen_size`."""
        return screen_size(self.environment["DISPLAY"])

    def opener(self, path: Path) -> list[str]:
        """A pager, whatever the kind."""
        return ["xterm", "-T", path.name, "-e", "less", str(path)]

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
