"""Waits inside a machine of Windows for the host, and drives its desktop. What starts it is `pack`'s."""

import argparse
import os
import sys
import threading
import traceback

import pyautogui

from vm_bridge.guest.serve import Desk, Server
from vm_bridge.guest.win32.desk import WindowsDesk
from vm_bridge.guest.win32.door import Door
from vm_bridge.guest.win32.eyes import Carrier, Picture, screen_grab
from vm_bridge.guest.win32.inside import WindowsInside
from vm_bridge.guest.win32.language import LANGUAGES

OBSERVED_SLOTS, STREAMED_SLOTS = (0, 1), (2, 3)
PORT = 8015


def main(secret: str) -> None:
    """Returns never; `secret` is who may come in."""
    parser = argparse.ArgumentParser(prog="pilothouse-windows", description=__doc__)
    parser.add_argument("--listen", default="0.0.0.0", help="address to listen at (all)")  # noqa: S104 - the guest's only address; a key is asked for
    parser.add_argument("--port", type=int, default=PORT, help=f"port to listen at ({PORT}); 0 for any")
    parser.add_argument("--shell", choices=sorted(LANGUAGES), default="powershell", help="what runs commands")
    parser.add_argument("--log", help="file to write to where there is no console (none)")
    given = parser.parse_args()
    if given.log:
        sys.stdout = sys.stderr = open(given.log, "a", encoding="utf-8", buffering=1)  # noqa: SIM115 - to the end
    threading.excepthook = end_on_error
    door = Door(given.listen, given.port, secret)
    inside = WindowsInside(given.shell)

    def start(width: int, height: int) -> Desk:
        def grab() -> bytes:
            return screen_grab(width, height)

        carrier, size = Carrier(server, width), (width, height)
        observed, streamed = (Picture(grab, carrier, size, slots) for slots in (OBSERVED_SLOTS, STREAMED_SLOTS))
        return WindowsDesk(observed, streamed, inside)

    server = Server(door, start, inside, home="", tools={})
    server.begin(*pyautogui.size())
    print("listening at {}:{}".format(*door.address), flush=True)
    server.serve()


def end_on_error(error: threading.ExceptHookArgs) -> None:
    """An agent that is broken must not seem to be busy."""
    if sys.stderr is not None:  # `pythonw` has none
        traceback.print_exception(error.exc_value)
    os._exit(1)
