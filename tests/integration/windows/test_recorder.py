"""The recorder's adapter for Windows on CPython for Windows under Wine: real hooks, real pictures, real windows."""

import json
import subprocess
import threading
import time
from array import array
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

import pytest

from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.recorder.desktop import Desktop
from benchmarks.parts.recorder.microphone import FedMicrophone, has_pulse, pulse_server
from recorder.pilothouse_recorder.sessions import open_session
from tests.integration.windows.interpreter import interpreter
from tests.integration.windows.wine import MACHINE, MARKS, Provided, wine64_command
from tests.waiting import wait_until

pytestmark = [*MARKS]
ANSWER_SECONDS = 60.0
LATE_NS = 100_000_000
"""Wine stamps input when it reads it from the X server, and its clock drifts from that of the test."""
SHIFT, LEFT, UP, ENTER = 0xFFE1, 0xFF51, 0xFF52, 0xFF0D


class WindowsRecorder:
    """The recorder as a program of Windows; `home` is its folder."""

    def __init__(self, environment: Mapping[str, str], home: Path) -> None:
        self.home = home
        own = {"PYTHONPATH": f"Z:{ROOT / 'recorder'}", "PILOTHOUSE_RECORDER_HOME": f"Z:{home}"}
        self._environment = {**environment, **own, "PYTHONDONTWRITEBYTECODE": "1"}
        self._command = (*wine64_command(), str(interpreter()), "-m", "pilothouse_recorder")

    def run(self, *words: str) -> dict[str, Any]:
        """A command's answer; empty where it cannot be done."""
        done = subprocess.run(
            [*self._command, *words],
            env=self._environment,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=DEVNULL,
            timeout=ANSWER_SECONDS,
        )
        answer: dict[str, Any] = json.loads(done.stdout or b"{}")
        return answer

    @contextmanager
    def start(self, *words: str) -> Iterator["subprocess.Popen[str]"]:
        """A command that goes on; it is ended with the block."""
        own: dict[str, Any] = {"env": self._environment, "stdin": DEVNULL, "stderr": DEVNULL}
        with subprocess.Popen([*self._command, *words], stdout=PIPE, text=True, **own) as process:
            try:
                yield process
            finally:
                process.kill()

    @contextmanager
    def recording(self, *options: str) -> Iterator[Path]:
        """The folder of a session that is recorded until the block ends."""
        self.run("consent", "--accept")
        with self.start("record", "Write a note", *options) as process:
            assert process.stdout is not None
            session = json.loads(process.stdout.readline())["session"]
            yield self.home / "sessions" / session
            self.run("stop", "--outcome", "success")
            process.communicate(timeout=ANSWER_SECONDS)


@pytest.fixture
def environment(provided: Provided) -> dict[str, str]:
    found: dict[str, str] = json.loads((provided.folder / MACHINE).read_text())["environment"]
    return found


@pytest.fixture
def person(environment: dict[str, str]) -> Iterator[Desktop]:
    """Somebody at Notepad."""
    with subprocess.Popen(
        [*wine64_command(), "notepad"], env=environment, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL
    ) as notepad:
        desktop = Desktop(environment["DISPLAY"])
        try:
            wait_until(lambda: any(_is_notepad(window) for window in desktop.root.query_tree().children))
            yield desktop
        finally:
            desktop.close()
            notepad.kill()


def _is_notepad(window: Any) -> bool:
    return "notepad.exe" in (window.get_wm_class() or ()) and window.get_geometry().width > 100


@pytest.fixture
def recorder(environment: dict[str, str], tmp_path: Path) -> WindowsRecorder:
    return WindowsRecorder(environment, tmp_path / "home")


def test_input_and_screen_of_windows_are_recorded(recorder: WindowsRecorder, person: Desktop) -> None:
    with recorder.recording() as folder:
        wait_until(lambda: recorder.run("status").get("frames"))
        person.click(100, 100)
        person.type("hello")
        person.press(SHIFT, ord("a"))
        person.press(LEFT)
        person.scroll(5)
        person.scroll(4)
        person.click(600, 400, 3)
        wait_until(lambda: recorder.run("status")["events"] > len(person.sent))
    raw_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - time.monotonic_ns()  # Wine's performance counter
    session = open_session(folder)
    acts = [one for one in person.sent if one.kind != "pointer.move"]  # Wine makes moves of its own
    events = [one for one in session.events if one["kind"] in {sent.kind for sent in acts}]
    assert [one["kind"] for one in events] == [one.kind for one in acts]
    for sent, one in zip(acts, events, strict=True):
        assert one["t_ns"] - one["t_error_ns"] <= sent.after_ns + raw_ns + LATE_NS
        assert one["t_ns"] + one["t_error_ns"] >= sent.before_ns + raw_ns - LATE_NS
    keys = [one for one in events if one["kind"] == "key.down"]
    assert "".join(one["text"] for one in keys) == "helloA"
    assert keys[-1]["key"] == "left"
    assert [(one["dx"], one["dy"]) for one in events if one["kind"] == "scroll"] == [(0, 1), (0, -1)]
    assert [(one["x"], one["y"], one["button"]) for one in events if one["kind"] == "pointer.down"] == [
        (100, 100, 1),
        (600, 400, 3),
    ]
    frames = [one for one in session.events if one["kind"] == "screen.frame"]
    assert frames
    assert {one["app"] for one in frames} == {"notepad"}
    assert (session.manifest["state"], session.manifest["outcome"]) == ("finished", "success")


def test_an_excluded_program_of_windows_is_not_recorded(recorder: WindowsRecorder, person: Desktop) -> None:
    with recorder.recording("--exclude-app", "notepad*") as folder:
        wait_until(lambda: recorder.run("status").get("reason") == "excluded")
        person.click(100, 100)
        person.type("canary")
        wait_until(lambda: recorder.run("status")["seconds"] > 5)
    kinds = {one["kind"] for one in open_session(folder).events}
    assert kinds <= {"clock", "gap.begin", "gap.end"}


def test_a_microphone_of_windows_is_heard(environment: dict[str, str], tmp_path: Path) -> None:
    if not has_pulse():
        pytest.skip("PulseAudio is not installed")
    tone = array("h", [12_345, -12_345]).tobytes() * 800
    with pulse_server(tmp_path / "pulse") as (pulse, fifo):
        microphone, ended = FedMicrophone(fifo), threading.Event()

        def play() -> None:
            while not ended.is_set():
                microphone.play(tone)

        player = threading.Thread(target=play)
        player.start()
        try:
            recorder = WindowsRecorder({**environment, **pulse}, tmp_path / "home")
            heard = recorder.run("microphone", "--seconds", "1")
            missing = recorder.run("microphone", "--microphone", "nothing")
        finally:
            ended.set()
            player.join()
            microphone.close()
    assert (heard["peak_db"], heard["heard"], missing) == (-8.5, True, {})


def test_the_tray_of_windows_shows_its_menu_and_ends(environment: dict[str, str], recorder: WindowsRecorder) -> None:
    with recorder.start("tray", "--language", "en") as process:
        desktop = Desktop(environment["DISPLAY"])
        try:
            tray = desktop.wait_for_window("explorer.exe", name="Wine System Tray")
            area = desktop.root.translate_coords(tray, 0, 0)
            desktop.click(area.x + 8, area.y + 8)
            menu = desktop.wait_for_window("python.exe")
            desktop.focus(menu)
            desktop.press(UP)  # the last entry: Quit
            desktop.press(ENTER)
            output, _ = process.communicate(timeout=ANSWER_SECONDS)
        finally:
            desktop.close()
    assert json.loads(output) == {"closed": True}
