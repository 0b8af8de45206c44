"""Starts the desktop inside the sandbox and answers the host until it hangs up: `python -m vm_bridge.guest.main`."""

import argparse
import ctypes
import json
import mmap
import os
import resource
import shutil
import socket
import threading
import traceback
from pathlib import Path

from vm_bridge.guest import wire
from vm_bridge.guest.digest import tree_digest
from vm_bridge.guest.session import Icons, XServer, start_window_manager

SKELETON, PATIENCE = Path("/image/home"), Path("/image/patience.json")
PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
READY = 0
"""The id of the message that says that the desktop is up and what its home folder held at first."""
OBSERVED_SLOTS, STREAMED_SLOTS, WATCHED_SLOTS = (0, 1), (2, 3), (4,)
"""Which frame slots of the shared memory are whose."""


def main() -> None:
    """Arguments are the host's; see `vm_bridge.hosts.local`."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("link", "memory", "width", "height", "fence", "processes"):
        parser.add_argument(f"--{name}", type=int, required=True)
    given = parser.parse_args()
    link = socket.socket(fileno=given.link)
    os.set_inheritable(given.link, False)
    os.set_inheritable(given.memory, False)
    confine_children(given.processes)
    threading.excepthook = end_on_error
    os.environ["DISPLAY"] = ":0"
    server = XServer(given.width, given.height)
    shutil.copytree(SKELETON, Path.home(), symlinks=True, dirs_exist_ok=True)
    fresh = tree_digest(Path.home())

    # Loaded while the X server starts.
    from vm_bridge.guest.census import Census
    from vm_bridge.guest.eyes import Picture

    server.wait()
    start_window_manager()
    icons = Icons()
    # PyAutoGUI opens its display as soon as it is imported.
    from vm_bridge.guest.desk import Desk
    from vm_bridge.guest.habits import Watch
    from vm_bridge.guest.serve import Server

    size = given.width, given.height
    census = Census({1, os.getpid(), server.pid}, json.loads(PATIENCE.read_text()))
    pixels = mmap.mmap(given.memory, 0, prot=mmap.PROT_READ)
    watch = Watch(Picture(given.memory, *size, WATCHED_SLOTS), pixels, *size)
    desk = Desk(Picture(given.memory, *size, OBSERVED_SLOTS), census, watch, icons)
    stream = Picture(given.memory, *size, STREAMED_SLOTS)
    link.sendall(wire.encode({"id": READY, "result": {"home": fresh}}))
    try:
        Server(link, desk, stream, given.fence).serve()
    except wire.WireError:
        os._exit(0)  # the sandbox ends with its first process, whatever its threads are doing


def end_on_error(error: threading.ExceptHookArgs) -> None:
    """A guest that is broken must not seem to be busy."""
    traceback.print_exception(error.exc_value)
    os._exit(1)


def confine_children(processes: int) -> None:
    """What is started from here on keeps none of the guest's rights and can only grow so many."""
    libc = ctypes.CDLL("libc.so.6")
    libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
