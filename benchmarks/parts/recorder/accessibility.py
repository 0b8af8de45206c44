"""A D-Bus of its own with the desktop's accessibility, and a real program that tells of its elements."""

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from benchmarks.parts.recorder import gtk_form
from benchmarks.parts.recorder.desktop import Desktop
from recorder.pilothouse_recorder.dbus.connection import SESSION_BUS

LAUNCHER = Path("/usr/libexec/at-spi-bus-launcher")
LIBRARY = Path("/usr/lib/x86_64-linux-gnu/libgtk-3.so.0")
APPLICATION = gtk_form.NAME.decode()


def has_accessibility() -> bool:
    """Whether this computer has D-Bus, AT-SPI and GTK."""
    return LAUNCHER.exists() and LIBRARY.exists() and shutil.which("dbus-daemon") is not None


@contextmanager
def private_bus(folder: Path) -> Iterator[str]:
    """The address of a bus that ends with the block."""
    command = ["dbus-daemon", "--session", "--nofork", "--print-address", f"--address=unix:path={folder / 'bus'}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as daemon:
        try:
            assert daemon.stdout is not None
            yield daemon.stdout.readline().strip()
        finally:
            daemon.terminate()


def with_bus(environment: Mapping[str, str], address: str, folder: Path) -> dict[str, str]:
    """The environment of programs on this bus; `folder` is theirs at run time."""
    own = {**environment, SESSION_BUS: address, "XDG_RUNTIME_DIR": str(folder)}
    own.pop("NO_AT_BRIDGE", None)
    return own


@contextmanager
def gtk_program(desktop: Desktop, environment: Mapping[str, str]) -> Iterator[tuple[int, int]]:
    """The form, with the focus; gives the place of its upper left corner. Its button, its text field and its password
    field are each 300 by 100 pixels, one below the other."""
    with subprocess.Popen([sys.executable, gtk_form.__file__], env=dict(environment)) as program:
        try:
            window = desktop.wait_for_window(APPLICATION)
            desktop.focus(window)
            origin = desktop.root.translate_coords(window, 0, 0)
            yield -origin.x, -origin.y
        finally:
            program.kill()
