"""Waits inside the sandbox until the host wants a desktop, and then drives it: `python -m vm_bridge.guest.main`."""

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

from vm_bridge.guest.digest import tree_digest
from vm_bridge.guest.door import Door
from vm_bridge.guest.doors import doors_open
from vm_bridge.guest.inside import Inside
from vm_bridge.guest.serve import Desk, Server
from vm_bridge.guest.tools import TOOLS

SKELETON, MANIFEST, PATIENCE = Path("/image/home"), Path("/image/image.json"), Path("/image/patience.json")
PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
RLIMIT_SIGPENDING, RLIMIT_MSGQUEUE = 11, 12
"""Python has no names for them (asm-generic/resource.h)."""
BOUNDS = {
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_MEMLOCK: 8 * 1024 * 1024,
    RLIMIT_SIGPENDING: 4096,
    RLIMIT_MSGQUEUE: 819_200,
}
"""Most of what the kernel keeps for the programs of a sandbox: bytes, but for signals that wait, which are counted."""
OBSERVED_SLOTS, STREAMED_SLOTS, WATCHED_SLOTS = (0, 1), (2, 3), (4,)
"""Which frame slots of the shared memory are whose."""


def main() -> None:
    """Arguments are the host's; see `vm_bridge.hosts.tree`."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("listen", "tunnel", "memory", "processes", "leash"):
        parser.add_argument(f"--{name}", type=int, required=True)
    given = parser.parse_args()
    for descriptor in (given.listen, given.tunnel, given.memory):
        os.set_inheritable(descriptor, False)
    confine_children(given.processes)
    doors_open(given.tunnel)
    threading.excepthook = end_on_error
    loading = threading.Thread(target=load)
    loading.start()
    shutil.copytree(SKELETON, Path.home(), symlinks=True, dirs_exist_ok=True)
    door = Door(socket.socket(fileno=given.listen), given.memory, given.leash)

    inside = Inside()

    def start(width: int, height: int) -> Desk:
        return desk_of(given.memory, width, height, loading, inside)

    Server(door, start, inside, home=tree_digest(Path.home()), tools=TOOLS).serve()
    os._exit(0)  # the sandbox ends with its first program, whatever its threads are doing


def load() -> None:
    """What a desktop needs, while there is none to drive yet."""
    import datetime  # noqa: F401
    import platform  # noqa: F401

    import Xlib.display
    import Xlib.ext

    for _, name in Xlib.ext.__extensions__:
        importlib.import_module(f"Xlib.ext.{name}")

    from vm_bridge.guest import census, desk, eyes, habits, keyboard  # noqa: F401


def desk_of(memory: int, width: int, height: int, loading: threading.Thread, inside: Inside) -> Desk:
    """The image's desktop, up and driven; a size of zero means that there is no screen."""
    if width == 0:
        from vm_bridge.guest.bare import Bare

        return Bare(inside)
    from vm_bridge.guest.session import Icons, WindowManager, XServer, start_programs

    manifest = json.loads(MANIFEST.read_text())
    os.environ["DISPLAY"] = ":0"
    server = XServer(width, height)
    loading.join()
    from vm_bridge.guest.census import Census
    from vm_bridge.guest.desk import ScreenDesk
    from vm_bridge.guest.eyes import Picture
    from vm_bridge.guest.habits import Watch

    server.wait()
    manager = WindowManager()
    # What follows is made while the window manager starts.
    census = Census({1, os.getpid(), server.pid}, json.loads(PATIENCE.read_text()) if PATIENCE.exists() else {})
    pixels = mmap.mmap(memory, 0, prot=mmap.PROT_READ)
    watch = Watch(lambda: Picture(memory, width, height, WATCHED_SLOTS), pixels, width, height)
    picture = Picture(memory, width, height, OBSERVED_SLOTS, boxes=True)
    desk = ScreenDesk(
        picture, census, watch, lambda: Picture(memory, width, height, STREAMED_SLOTS, boxes=True), inside
    )
    manager.wait()
    start_programs(manifest.get("start", []))
    desk.icons = Icons() if manifest.get("icons", False) else None
    return desk


def end_on_error(error: threading.ExceptHookArgs) -> None:
    """A guest that is broken must not seem to be busy."""
    traceback.print_exception(error.exc_value)
    os._exit(1)


def confine_children(processes: int) -> None:
    """What is started from here on keeps none of the guest's rights and can only grow so many."""
    libc = ctypes.CDLL("libc.so.6")
    libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    for kind, most in {resource.RLIMIT_NPROC: processes, **BOUNDS}.items():
        present = resource.getrlimit(kind)[1]
        limit = most if present == resource.RLIM_INFINITY else min(most, present)
        resource.setrlimit(kind, (limit, limit))


if __name__ == "__main__":
    main()
