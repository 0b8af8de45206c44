"""Waits in the sandbox until the host requests a desktop, then drives it: `python -m vm_bridge.guest.linux.main`."""

import argparse
import ctypes
import importlib
import json
import mmap
import os
import resource
import shutil
import socket
import threading
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vm_bridge.guest.common.machine_io import tree_digest
from vm_bridge.guest.common.server import Desktop, Server
from vm_bridge.guest.linux.host_listener import SharedMemoryHostListener
from vm_bridge.guest.linux.machine_io import LinuxMachineIO
from vm_bridge.guest.linux.port_listeners import start_port_listeners
from vm_bridge.guest.linux.suite_tools import TOOLS

if TYPE_CHECKING:  # Xlib takes long to load
    from vm_bridge.guest.linux.desktop_programs import WindowManager, XServer

SKELETON, MANIFEST, TIMER_LIMITS = Path("/image/home"), Path("/image/image.json"), Path("/image/patience.json")
CAPABILITY_VERSION = 0x20080522
PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
RLIMIT_SIGPENDING, RLIMIT_MSGQUEUE = 11, 12
"""Python has no names for them (asm-generic/resource.h)."""
BOUNDS = {
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_MEMLOCK: 8 * 1024 * 1024,
    RLIMIT_SIGPENDING: 4096,
    RLIMIT_MSGQUEUE: 819_200,
}
"""Kernel limits for the programs of a sandbox: bytes, except pending signals, which are counted."""
OBSERVED_SLOTS, STREAMED_SLOTS, LEARNING_SLOTS = (0, 1), (2, 3), (4,)
"""Owners of the frame slots in shared memory."""


def main() -> None:
    """Arguments are the host's; see `vm_bridge.hosts.process_sandbox`."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("listen", "tunnel", "memory", "processes", "leash"):
        parser.add_argument(f"--{name}", type=int, required=True)
    options = parser.parse_args()
    for descriptor in (options.listen, options.tunnel, options.memory):
        os.set_inheritable(descriptor, False)
    restrict_children(options.processes)
    start_port_listeners(options.tunnel)
    threading.excepthook = exit_on_error
    preloader = DesktopPreloader()
    preloader.start()
    shutil.copytree(SKELETON, Path.home(), symlinks=True, dirs_exist_ok=True)
    home = tree_digest(Path.home())
    preloader.home_filled.set()
    host_listener = SharedMemoryHostListener(socket.socket(fileno=options.listen), options.memory, options.leash)

    machine_io = LinuxMachineIO()
    if not preloader.has_screen:
        threading.Thread(target=machine_io.terminal, daemon=True).start()  # its prompt takes longer than all the rest

    def start(width: int, height: int) -> Desktop:
        return start_desktop(options.memory, width, height, preloader, machine_io)

    Server(host_listener, start, machine_io, home=home, tools=TOOLS).serve()
    os._exit(0)  # the sandbox ends with its first program, whatever its threads do


class DesktopPreloader(threading.Thread):
    """Preloads a desktop's libraries, and starts the X server with the image's own size and the window manager, before
    a desktop is requested."""

    def __init__(self) -> None:
        super().__init__()
        self.manifest: dict[str, Any] = json.loads(MANIFEST.read_text())
        self._size: tuple[int, int] = self.manifest.get("width", 0), self.manifest.get("height", 0)
        self._screen: tuple[XServer, WindowManager] | None = None
        self.home_filled = threading.Event()
        """Set when the home folder is ready, which the window manager reads."""

    @property
    def has_screen(self) -> bool:
        """Whether the image has a screen."""
        return self._size[0] > 0

    def run(self) -> None:
        if not self.has_screen:
            return
        from vm_bridge.guest.linux.desktop_programs import WindowManager, XServer

        server = XServer(*self._size)
        import datetime  # noqa: F401
        import platform  # noqa: F401

        import Xlib.ext

        for _, name in Xlib.ext.__extensions__:
            importlib.import_module(f"Xlib.ext.{name}")

        from vm_bridge.guest.linux import desktop, screen_capture, thread_activity, x11_keyboard  # noqa: F401

        server.wait()
        self.home_filled.wait()
        self._screen = server, WindowManager()

    def screen(self, width: int, height: int) -> "tuple[XServer, WindowManager]":
        """The X server and the window manager, which may still be starting. For another size, new ones replace them.

        Waits until everything is loaded. Raises DesktopStartError.
        """
        from vm_bridge.guest.linux.desktop_programs import WindowManager, XServer

        self.join()
        screen, self._screen = self._screen, None
        if screen is not None and (width, height) == self._size:
            return screen
        if screen is not None:
            server, window_manager = screen
            window_manager.end()
            server.end()
        server = XServer(width, height)
        server.wait()
        return server, WindowManager()


def start_desktop(
    memory: int, width: int, height: int, preloader: DesktopPreloader, machine_io: LinuxMachineIO
) -> Desktop:
    """Start and drive the image's desktop; a size of zero means that there is no screen."""
    if width == 0:
        from vm_bridge.guest.linux.headless import HeadlessDesktop

        return HeadlessDesktop(machine_io)
    from vm_bridge.guest.linux.desktop_programs import DesktopIcons, start_programs

    server, window_manager = preloader.screen(width, height)
    from vm_bridge.guest.linux.desktop import LinuxDesktop
    from vm_bridge.guest.linux.screen_capture import ScreenCapture
    from vm_bridge.guest.linux.thread_activity import RedrawWatcher, ThreadSampler

    # The following starts in parallel with the window manager.
    sampler = ThreadSampler(
        {1, os.getpid(), server.pid}, json.loads(TIMER_LIMITS.read_text()) if TIMER_LIMITS.exists() else {}
    )
    pixels = mmap.mmap(memory, 0, prot=mmap.PROT_READ)
    redraw_watcher = RedrawWatcher(lambda: ScreenCapture(memory, width, height, LEARNING_SLOTS), pixels, width, height)
    picture = ScreenCapture(memory, width, height, OBSERVED_SLOTS, boxes=True)
    desktop = LinuxDesktop(
        picture,
        sampler,
        redraw_watcher,
        lambda: ScreenCapture(memory, width, height, STREAMED_SLOTS, boxes=True),
        machine_io,
    )
    window_manager.wait()
    start_programs(preloader.manifest.get("start", []))
    desktop.icons = DesktopIcons() if preloader.manifest.get("icons", False) else None
    return desktop


def exit_on_error(error: threading.ExceptHookArgs) -> None:
    """End a broken guest, which must not seem busy."""
    traceback.print_exception(error.exc_value)
    os._exit(1)


def restrict_children(processes: int) -> None:
    """Drop the guest's rights in later child processes, and limit their number."""
    libc = ctypes.CDLL("libc.so.6")
    libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice, for 64 capabilities
    libc.capget(header, sets)
    sets[2] = sets[5] = 0
    libc.capset(header, sets)
    for kind, most in {resource.RLIMIT_NPROC: processes, **BOUNDS}.items():
        present = resource.getrlimit(kind)[1]
        limit = most if present == resource.RLIM_INFINITY else min(most, present)
        resource.setrlimit(kind, (limit, limit))


if __name__ == "__main__":
    main()
