"""Elements and password fields of a real GTK program, by the desktop's own accessibility."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from benchmarks.parts.recorder.accessibility import gtk_program, has_accessibility, private_bus, with_bus
from benchmarks.parts.recorder.canaries import found_canaries
from benchmarks.parts.recorder.desktop import Desktop, RecorderProcess, recorder
from recorder.pilothouse_recorder.sessions import open_session
from tests.waiting import wait_until


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


def open_events(running: RecorderProcess) -> list[dict[str, object]]:
    """The events that are stored now."""
    lines = [line for path in sorted(running.folder.glob("events-*.jsonl")) for line in path.read_bytes().splitlines()]
    return [json.loads(line) for line in lines]
