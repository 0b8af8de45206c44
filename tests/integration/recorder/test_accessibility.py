"""Elements and password fields of a real GTK program, by the desktop's own accessibility."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import pytest

from benchmarks.parts.recorder.accessibility import gtk_program, has_accessibility, private_bus, with_bus
from benchmarks.parts.recorder.canaries import found_canaries
from benchmarks.parts.recorder.desktop import Desktop, RecorderProcess, recorder
from recorder.pilothouse_recorder.dbus.connection import Connection
from recorder.pilothouse_recorder.dbus.wire import Variant
from recorder.pilothouse_recorder.sessions import open_session
from tests.waiting import wait_until

CTRL, SHIFT = 0xFFE3, 0xFFE1


@pytest.fixture
def form(
    environment: dict[str, str], desktop: Desktop, tmp_path: Path
) -> Iterator[tuple[RecorderProcess, tuple[int, int]]]:
    """A recorder beside a form with a button, a text field and a password field; and where the form is."""
    if not has_accessibility():
        pytest.skip("AT-SPI or GTK is not installed")
    with ExitStack() as stack:
        own = with_bus(environment, stack.enter_context(private_bus(tmp_path)), tmp_path)
        place = stack.enter_context(gtk_program(desktop, own))
        yield stack.enter_context(recorder(tmp_path / "home", own)), place


def test_a_click_has_its_element_and_a_password_is_not_stored(
    form: tuple[RecorderProcess, tuple[int, int]], desktop: Desktop
) -> None:
    running, (left, top) = form

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


PART = "style='display:block;width:400px;height:100px'"
PAGE = f"<body style='margin:0'><button {PART}>Save</button><input {PART} aria-label=City><input type=password {PART}>"


@pytest.fixture
def web_page(environment: dict[str, str], desktop: Desktop, tmp_path: Path) -> Iterator[tuple[RecorderProcess, int]]:
    """A recorder beside Chromium with a button, a text field and a password field; and how far down they begin."""
    if not has_accessibility() or shutil.which("chromium") is None:
        pytest.skip("AT-SPI, GTK or Chromium is not installed")
    (tmp_path / "page.html").write_text(PAGE)
    with ExitStack() as stack:
        address = stack.enter_context(private_bus(tmp_path))
        own = {**with_bus(environment, address, tmp_path), "HOME": str(tmp_path)}
        session = Connection(address)
        turned_on = ("org.a11y.Status", "IsEnabled", Variant("b", True))
        properties = "org.freedesktop.DBus.Properties"
        session.call("org.a11y.Bus", "/org/a11y/bus", properties, "Set", "ssv", *turned_on)
        session.close()
        options = ["--no-sandbox", "--force-renderer-accessibility", "--no-first-run", "--window-position=0,0"]
        options += [f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1000,700"]
        command = ["chromium", *options, f"--app=file://{tmp_path / 'page.html'}"]
        browser = stack.enter_context(subprocess.Popen(command, env=own, stdout=DEVNULL, stderr=DEVNULL))
        stack.callback(browser.terminate)
        running = stack.enter_context(recorder(tmp_path / "home", own))

        def seen() -> bool:
            desktop.click(100, 130)
            running.wait_stored()
            return any("element" in one for one in open_events(running))

        wait_until(seen)
        yield running, next(one["element"]["bounds"][1] for one in open_events(running) if "element" in one)


def test_a_password_of_a_web_page_is_not_stored(web_page: tuple[RecorderProcess, int], desktop: Desktop) -> None:
    running, top = web_page
    desktop.click(100, top + 150)
    desktop.type("before")
    running.wait_stored()
    desktop.click(100, top + 250)
    running.wait(reason="password")
    desktop.type("canary")
    desktop.click(100, top + 150)
    running.wait(recording=True)
    desktop.type("after")
    running.stop()
    events = open_session(running.folder).events
    elements = [(one["element"]["role"], one["element"]["name"]) for one in events if "element" in one]
    assert ("button", "Save") in elements
    assert "".join(one["text"] for one in events if one["kind"] == "key.down") == "beforeafter"
    assert not list(found_canaries(running.folder, ("canary",), {}))


def open_events(running: RecorderProcess) -> list[dict[str, Any]]:
    """The events that are stored now."""
    lines = [line for path in sorted(running.folder.glob("events-*.jsonl")) for line in path.read_bytes().splitlines()]
    return [json.loads(line) for line in lines]


def test_text_that_an_input_method_composed_is_stored(
    form: tuple[RecorderProcess, tuple[int, int]], desktop: Desktop
) -> None:
    running, (left, top) = form

    def inserted() -> list[str]:
        running.wait_stored()
        return [one["text"] for one in open_events(running) if one["kind"] == "text.inserted"]

    def typed() -> bool:
        desktop.click(left + 150, top + 150)
        desktop.type("x")
        return bool(inserted())

    wait_until(typed)  # the program tells of its texts
    desktop.press(CTRL, SHIFT, ord("u"))
    desktop.type("20ac")  # GTK's own way to compose a character by its number
    desktop.press(ord(" "))
    wait_until(lambda: "€" in inserted())
    running.stop()
    texts = {one["text"] for one in open_session(running.folder).events if one["kind"] == "text.inserted"}
    assert texts == {"x", "€"}
