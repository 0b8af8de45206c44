"""What the guest's program does under Windows: the real PyAutoGUI's calls to user32, on whatever system this is."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from protocol.actions.types import (
    Action,
    Click,
    Drag,
    DragPath,
    GetClipboard,
    ListFiles,
    MouseClick,
    Point,
    PressKeys,
    RightClick,
    RunCommand,
    Scroll,
    ScrollBy,
    SetClipboard,
    TypeText,
)
from vm_bridge.drivers.osworld import guest_program
from vm_bridge.drivers.osworld.actions import build_request
from vm_bridge.simulators.osworld.__main__ import PACKAGES
from vm_bridge.simulators.osworld.packages import ensure_packages

HARNESS = Path(__file__).with_name("windows.py")
LEFT_CLICK, RIGHT_CLICK, LEFT_DOWN, LEFT_UP, WHEEL, SIDEWAYS = 0x6, 0x18, 0x2, 0x4, 0x800, 0x1000
KEY_UP = 2
SHIFT, CONTROL, WINDOWS_KEY = 0x10, 0x11, 0x5B
LEFT_SHIFT, CAPS_LOCK, KEY_IS_DOWN, KEY_IS_ON = 0xA0, 0x14, 0x8000, 1
POWERSHELL = """#!/bin/sh
while [ "$1" != -File ]; do shift; done
[ "$(head -c 3 "$2" | od -An -tx1)" = " ef bb bf" ] || exit 90
sed -n 2p "$2" | tr -d '\\r' | sh
"""
"""Runs the line that is the command with the shell there is, from a file that begins as PowerShell wants it."""
TASKKILL = """#!/bin/sh
tree() { echo "$1"; for child in $(pgrep -P "$1"); do tree "$child"; done; }
[ "$1 $2 $3" = "/F /T /PID" ] && kill -9 $(tree "$4")
"""


class Windows:
    """A home folder and the programs that Windows has."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        programs = folder / "programs"
        programs.mkdir()
        for name, text in (("powershell", POWERSHELL), ("taskkill", TASKKILL)):
            (programs / name).write_text(text)
            (programs / name).chmod(stat.S_IRWXU)
        self._environment = {
            **os.environ,
            "HOME": str(self.home),
            "TMPDIR": str(folder),
            "CLIPBOARD": str(folder / "clipboard"),
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PYTHONPATH": str(ensure_packages(PACKAGES).resolve()),
        }
        (folder / "clipboard").write_text("before")

    def ask(self, asked: dict[str, Any]) -> tuple[dict[str, Any], list[list[Any]]]:
        """What the program answers, and what it called of user32."""
        ran = subprocess.run(
            (sys.executable, HARNESS, guest_program.__file__, json.dumps(asked)),
            capture_output=True,
            text=True,
            env={**self._environment, "KEY_STATES": os.environ.get("KEY_STATES", "{}")},
            timeout=120,
        )
        assert ran.returncode == 0, ran.stderr
        answer, calls = map(json.loads, ran.stdout.splitlines())
        return answer, calls

    def do(self, action: Action) -> tuple[dict[str, Any], list[list[Any]]]:
        return self.ask(build_request(action))


@pytest.fixture
def windows(tmp_path: Path) -> Windows:
    return Windows(tmp_path)


def scaled(x: int, y: int) -> list[int]:
    """A point as user32's mouse_event counts it."""
    return [65536 * x // 1280 + 1, 65536 * y // 800 + 1]


@pytest.mark.parametrize(("action", "word"), [(Click(x=640, y=400), LEFT_CLICK), (RightClick(x=9, y=799), RIGHT_CLICK)])
def test_a_click_is_at_its_point(windows: Windows, action: Click | RightClick, word: int) -> None:
    _, calls = windows.do(action)
    assert calls == [["SetCursorPos", action.x, action.y], ["mouse_event", word, *scaled(action.x, action.y), 0, 0]]


def test_a_drag_holds_the_button_from_start_to_end(windows: Windows) -> None:
    _, calls = windows.do(Drag(start=Point(x=10, y=20), end=Point(x=300, y=400)))
    pressed = [call for call in calls if call[0] == "mouse_event"]
    assert [call[:4] for call in pressed] == [
        ["mouse_event", LEFT_DOWN, *scaled(10, 20)],
        ["mouse_event", LEFT_UP, *scaled(300, 400)],
    ]
    moves = calls[calls.index(pressed[0]) : calls.index(pressed[1])]
    assert len(moves) > 3  # programs begin a drag on motion


@pytest.mark.parametrize(
    ("direction", "word", "turned"),
    [("up", WHEEL, 360), ("down", WHEEL, -360), ("right", SIDEWAYS, 360), ("left", SIDEWAYS, -360)],
)
def test_the_wheel_turns_by_notches_on_its_axis(windows: Windows, direction: str, word: int, turned: int) -> None:
    action = Scroll.model_validate({"point": {"x": 5, "y": 6}, "direction": direction, "amount": 3})
    _, calls = windows.do(action)
    assert calls[0] == ["SetCursorPos", 5, 6]
    [turn] = [call for call in calls if call[0] == "mouse_event"]
    assert (turn[1], turn[4]) == (word, turned)


def test_keys_are_held_around_a_click_and_a_path(windows: Windows) -> None:
    _, calls = windows.do(MouseClick(point=Point(x=5, y=6), keys=("ctrl",)))
    keys = [place for place, call in enumerate(calls) if call[:2] == ["keybd_event", CONTROL]]
    (click,) = (place for place, call in enumerate(calls) if call[0] == "mouse_event")
    assert keys[0] < click < keys[-1]
    path = DragPath(points=(Point(x=10, y=20), Point(x=300, y=400), Point(x=50, y=60)), keys=("shift",))
    _, calls = windows.do(path)
    assert [call[:4] for call in calls if call[0] == "mouse_event"] == [
        ["mouse_event", LEFT_DOWN, *scaled(10, 20)],
        ["mouse_event", LEFT_UP, *scaled(50, 60)],
    ]
    _, calls = windows.do(ScrollBy(dx=-250, dy=120))
    assert [(call[1], call[4]) for call in calls if call[0] == "mouse_event"] == [(SIDEWAYS, -240), (WHEEL, -120)]


def test_keys_are_held_together(windows: Windows) -> None:
    _, calls = windows.do(PressKeys(keys=("super", "ctrl", "a")))
    assert [(call[1], call[3]) for call in calls] == [
        *((WINDOWS_KEY, 0), (CONTROL, 0), (ord("A"), 0)),
        *((ord("A"), KEY_UP), (CONTROL, KEY_UP), (WINDOWS_KEY, KEY_UP)),
    ]


def test_every_character_of_the_keyboard_has_its_own_key(windows: Windows) -> None:
    _, calls = windows.do(TypeText(text="<a>B"))
    held, pressed = False, []
    for _, key, _, flags, _ in calls:
        if key == SHIFT:
            held = flags != KEY_UP
        elif flags != KEY_UP:
            pressed.append((key, held))
    assert pressed == [(188, True), (ord("A"), False), (190, True), (ord("B"), True)]


def test_held_modifiers_are_up_and_caps_lock_is_off_while_text_is_typed(
    windows: Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY_STATES", json.dumps({str(LEFT_SHIFT): KEY_IS_DOWN, str(CAPS_LOCK): KEY_IS_ON}))
    _, calls = windows.do(TypeText(text="a"))
    assert [(call[1], call[3] == KEY_UP) for call in calls] == [
        *((LEFT_SHIFT, True), (CAPS_LOCK, False), (CAPS_LOCK, True)),
        *((ord("A"), False), (ord("A"), True)),
        *((CAPS_LOCK, False), (CAPS_LOCK, True), (LEFT_SHIFT, False)),
    ]


def test_what_no_key_gives_goes_over_the_clipboard_which_is_put_back(windows: Windows) -> None:
    _, calls = windows.do(TypeText(text="żółw 中文"))
    assert [call[1] for call in calls if call[3] == 0] == [CONTROL, ord("V")]
    assert windows.do(GetClipboard())[0] == {"text": "before"}


def test_the_clipboards_lines_end_as_windows_wants_them(windows: Windows, tmp_path: Path) -> None:
    windows.do(SetClipboard(text="one\n中文"))
    assert (tmp_path / "clipboard").read_bytes() == "one\r\n中文".encode()
    assert windows.do(GetClipboard())[0] == {"text": "one\n中文"}


def test_a_command_is_a_script_of_powershells(windows: Windows, tmp_path: Path) -> None:
    assert windows.do(RunCommand(command="echo 'żółw \"x\"'"))[0] == {"text": 'żółw "x"\n'}
    assert windows.do(RunCommand(command="echo no; exit 3"))[0] == {"text": "no\n\n[exit status 3]"}
    assert not list(tmp_path.glob("*.ps1"))


def test_a_command_that_takes_too_long_is_ended_with_what_it_started(windows: Windows) -> None:
    answer, _ = windows.do(RunCommand(command="echo begun; sleep 600 & wait", timeout=2))
    assert (answer["failed"], answer["text"]) == ("timed_out", "begun\n")


def test_files_are_below_the_home_folder(windows: Windows) -> None:
    (windows.home / "landed").write_text("text")
    windows.ask({"do": "move", "source": "~/landed", "path": "new/name.txt"})
    assert "name.txt" in windows.do(ListFiles(path="new"))[0]["text"]
    assert not (windows.home / "landed").exists()
