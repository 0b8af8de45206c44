"""Waits inside a machine of Windows for the host, and drives its desktop. What starts it is `pack`'s."""

import argparse
import os
import sys
import threading
import traceback

import pyautogui

from vm_bridge.guest.common.server import Desktop, Server
from vm_bridge.guest.windows.desktop import WindowsDesktop
from vm_bridge.guest.windows.host_listener import SecretHostListener
from vm_bridge.guest.windows.machine_io import WindowsMachineIO
from vm_bridge.guest.windows.programs import SHELL_LANGUAGES
from vm_bridge.guest.windows.screen_capture import RowSender, ScreenCapture, grab_screen

OBSERVED_SLOTS, STREAMED_SLOTS = (0, 1), (2, 3)
PORT = 8015


def main(secret: str) -> None:
    """Returns never; `secret` is who may come in."""
    parser = argparse.ArgumentParser(prog="pilothouse-windows", description=__doc__)
    parser.add_argument("--listen", default="0.0.0.0", help="address to listen at (all)")  # noqa: S104 - the guest's only address; a key is asked for
    parser.add_argument("--port", type=int, default=PORT, help=f"port to listen at ({PORT}); 0 for any")
    parser.add_argument("--shell", choices=sorted(SHELL_LANGUAGES), default="powershell", help="what runs commands")
    parser.add_argument("--terminal", help="command line of an interactive shell (that of --shell)")
    parser.add_argument("--log", help="file to write to where there is no console (none)")
    options = parser.parse_args()
    if options.log:
        sys.stdout = sys.stderr = open(options.log, "a", encoding="utf-8", buffering=1)  # noqa: SIM115 - to the end
    threading.excepthook = exit_on_error
    host_listener = SecretHostListener(options.listen, options.port, secret)
    machine_io = WindowsMachineIO(options.shell, options.terminal)

    def start(width: int, height: int) -> Desktop:
        def grab() -> bytes:
            return grab_screen(width, height)

        row_sender, size = RowSender(server, width), (width, height)
        observed, streamed = (
            ScreenCapture(grab, row_sender, size, slots) for slots in (OBSERVED_SLOTS, STREAMED_SLOTS)
        )
        return WindowsDesktop(observed, streamed, machine_io)

    server = Server(host_listener, start, machine_io, home="", tools={})
    server.begin(*pyautogui.size())
    print("listening at {}:{}".format(*host_listener.address), flush=True)
    server.serve()


def exit_on_error(error: threading.ExceptHookArgs) -> None:
    """An agent that is broken must not seem to be busy."""
    if sys.stderr is not None:  # `pythonw` has none
        traceback.print_exception(error.exc_value)
    os._exit(1)
