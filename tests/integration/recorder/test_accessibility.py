"""Elements and password fields of a real GTK program, by the desktop's own accessibility."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from benchmarks.parts.recorder.canaries import found_canaries
from benchmarks.parts.recorder.desktop import Desktop, RecorderProcess, recorder
from recorder.pilothouse_recorder.dbus.connection import SESSION_BUS
from recorder.pilothouse_recorder.sessions import open_session
from tests.integration.recorder import gtk_form
from tests.integration.recorder.bus import private_bus
from tests.waiting import wait_until

LAUNCHER = Path("/usr/libexec/at-spi-bus-launcher")
LIBRARY = Path("/usr/lib/x86_64-linux-gnu/libgtk-3.so.0")
APPLICATION = gtk_form.NAME.decode()


@pytest.fixture
def form(environment: dict[str, str], desktop: Desktop, tmp_path: Path) -> Iterator[tuple[RecorderProcess, Desktop]]:
    """A recorder beside a form with a button, a text field and a password field, each 100 pixels high."""
    if not LAUNCHER.exists() or not LIBRARY.exists() or shutil.which("dbus-daemon") is None:
        pytest.skip("AT-SPI or GTK is not installed")
    with ExitStack() as stack:
        address = stack.enter_context(private_bus(tmp_path))
        own = {**environment, SESSION_BUS: address, "XDG_RUNTIME_DIR": str(tmp_path), "XDG_SESSION_TYPE": "x11"}
        own.pop("NO_AT_BRIDGE", None)
        program = stack.enter_context(subprocess.Popen([sys.executable, gtk_form.__file__], env=own))
        stack.callback(program.kill)
        desktop.wait_for_window(APPLICATION)
        yield stack.enter_context(recorder(tmp_path / "home", own)), desktop


def place(desktop: Desktop) -> tuple[int, int]:
    window = desktop.wait_for_window(APPLICATION)
    origin = desktop.root.translate_coords(window, 0, 0)
    desktop.focus(window)
    return -origin.x, -origin.y


def test_a_click_has_its_element_and_a_password_is_not_stored(form: tuple[RecorderProcess, Desktop]) -> None:
    running, desktop = form
    left, top = place(desktop)

    def clicked() -> bool:
        desktop.click(left + 150, top + 50)
        running.wait_stored()
        return any("element" in one for one in open_events(running))

    wait_until(clicked)
    desktop.click(left + 150, top + 150)
    desktop.type("before")
    running.wait_stored()
    desktop.click(left + 150, top + 250)
    running.wait(reason="password")
    desktop.type("canary")
    desktop.click(left + 150, top + 150)
    running.wait(recording=True)
    desktop.type("after")
    running.stop()
    events = open_session(running.folder).events
    elements = [one["element"] for one in events if "element" in one]
    assert (elements[0]["role"], elements[0]["name"]) == ("button", "Save")
    assert elements[0]["bounds"] == [left, top, 300, 100]
    assert "textbox" in [one["role"] for one in elements]
    typed = "".join(one["text"] for one in events if one["kind"] == "key.down")
    assert typed.startswith("before")
    assert typed.endswith("after")
    assert not list(found_canaries(running.home, ("canary",), {}))


def open_events(running: RecorderProcess) -> list[dict[str, object]]:
    """The events that are stored now."""
    lines = [line for path in sorted(running.folder.glob("events-*.jsonl")) for line in path.read_bytes().splitlines()]
    return [json.loads(line) for line in lines]
