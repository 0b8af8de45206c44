"""The recorder's window, used by keys at a real X server."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from Xlib import X

from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.recorder.desktop import MODULE, Desktop
from recorder.pilothouse_recorder.control import send_command
from recorder.pilothouse_recorder.errors import RecorderError
from recorder.pilothouse_recorder.sessions import open_session
from recorder.pilothouse_recorder.settings import set_consent
from tests.waiting import wait_until

ALT, BLUE = 0xFFE9, 0x2040C0


def status(home: Path) -> dict[str, object]:
    try:
        return send_command(home, {"command": "status"})
    except RecorderError:
        return {}


def test_a_recording_is_begun_marked_and_ended_in_the_window(
    desktop: Desktop, environment: dict[str, str], tmp_path: Path
) -> None:
    pytest.importorskip("tkinter")
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    desktop.move(900, 700)  # where no window manager is, Tk takes the focus when the pointer enters, and gives it up
    set_consent(home, accepted=True)
    command = [sys.executable, "-m", MODULE, "window", "--language", "zh"]
    own = {**environment, "PILOTHOUSE_RECORDER_HOME": str(home)}
    with subprocess.Popen(command, cwd=ROOT, env=own, stdout=subprocess.PIPE, text=True) as process:
        try:
            window = desktop.wait_for_window("pilothouse-recorder")
            x, y = instruction_field(desktop, window)
            unfocused = pixels(desktop, x, y)
            desktop.focus(window)
            desktop.click(x, y)
            wait_until(lambda: pixels(desktop, x, y) != unfocused)  # Tk gives its field the focus a moment later
            desktop.type("book")
            desktop.press(ALT, ord("s"))
            wait_until(lambda: status(home).get("recording") is True)
            form = desktop.open_window("form", "form", BLUE, place=(700, 400, 200, 200))
            area = desktop.root.translate_coords(window, 0, 0)
            desktop.click(area.x + 3, area.y + 3)
            desktop.press(ALT, ord("m"))
            desktop.click(800, 500)
            wait_until(lambda: "mark" in kinds(home))
            desktop.focus(window)
            desktop.press(ALT, ord("d"))
            wait_until(lambda: status(home) == {})
            form.destroy()
            desktop.focus(window)
            close(desktop, window)
            assert json.loads(process.communicate(timeout=30)[0]) == {"closed": True}
        finally:
            process.kill()
    (folder,) = (home / "sessions").iterdir()
    session = open_session(folder)
    assert (session.manifest["instruction"], session.manifest["outcome"]) == ("book", "success")
    pressed = [(one["x"], one["y"]) for one in session.events if one["kind"] in ("pointer.down", "pointer.up")]
    assert pressed == [(800, 500)] * 2, "the recorder's own window is no part of the task"
    assert "key.down" not in kinds(home)


def instruction_field(desktop: Desktop, window: Any) -> tuple[int, int]:
    """A point of the field, the second of the wide ones from above, once the window has them all."""
    wait_until(lambda: len(wide_fields(desktop, window)) >= 4)
    y, x = wide_fields(desktop, window)[1]
    return x, y


def pixels(desktop: Desktop, x: int, y: int) -> bytes:
    """The border and the beginning of a field of which this is a point: both show whether it has the focus."""
    image = desktop.root.get_image(x - 8, y - 8, 60, 20, X.ZPixmap, 0xFFFFFFFF)
    return bytes(image.data)


def wide_fields(desktop: Desktop, window: Any) -> list[tuple[int, int]]:
    """A point (y, x) of each of the window's widest parts, from above."""
    parts, level = [], [window]
    while level:
        children = [(one, one.query_tree().children) for one in level]
        parts += [one for one, below in children if not below]
        level = [child for _, below in children for child in below]
    sizes = {one: one.get_geometry() for one in parts}
    widest = max(size.width for size in sizes.values())
    places = [desktop.root.translate_coords(one, 5, 5) for one, size in sizes.items() if size.width == widest]
    return sorted((place.y, place.x) for place in places)


def kinds(home: Path) -> set[str]:
    (folder,) = (home / "sessions").iterdir()
    lines = (line for path in folder.glob("events-*.jsonl") for line in path.read_text().splitlines())
    return {json.loads(line)["kind"] for line in lines}


def close(desktop: Desktop, window: object) -> None:
    """Close a window as a window manager does."""
    from Xlib.protocol.event import ClientMessage

    protocols, delete = (desktop.display.intern_atom(name) for name in ("WM_PROTOCOLS", "WM_DELETE_WINDOW"))
    event = ClientMessage(window=window, client_type=protocols, data=(32, [delete, X.CurrentTime, 0, 0, 0]))
    window.send_event(event)  # type: ignore[attr-defined]
    desktop.display.sync()
