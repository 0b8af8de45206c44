"""A scripted person is recorded at a real X server."""

import shutil
import socket
import string
import subprocess
import time
from array import array
from datetime import UTC, datetime
from pathlib import Path

import pytest
from Xlib import X

from benchmarks.parts.recorder.canaries import found_canaries
from benchmarks.parts.recorder.desktop import Desktop, RecorderProcess, recorder
from benchmarks.parts.recorder.microphone import SAMPLE_NS, FedMicrophone, has_pulse, pulse_server
from benchmarks.parts.recorder.rfb import RemoteHands
from benchmarks.parts.recorder.x_server import SIZE, x_server
from protocol.blobs import BlobRef
from protocol.formats.recording_reader import READER
from protocol.formats.row_readers import SourceImage, SourceRow, read_row
from recorder.pilothouse_recorder.adapters import open_desktop
from recorder.pilothouse_recorder.control import ControlServer
from recorder.pilothouse_recorder.errors import RecorderError
from recorder.pilothouse_recorder.exclusions import ExclusionRules
from recorder.pilothouse_recorder.packing import needed_events
from recorder.pilothouse_recorder.recording import UNWATCHED_NS, Recording
from recorder.pilothouse_recorder.review import summarize
from recorder.pilothouse_recorder.sessions import open_session
from recorder.pilothouse_recorder.x11.desktop import CLOCK_ERROR_NS
from recorder.pilothouse_recorder.x11.screen import ScreenGrabber
from tests.integration.recorder.conftest import Record
from tests.waiting import wait_until

INPUT_KINDS = ("pointer.move", "pointer.down", "pointer.up", "scroll", "key.down", "key.up")
SUPER, CTRL, SHIFT, ENTER = 0xFFEB, 0xFFE3, 0xFFE1, 0xFF0D
BLUE, GREEN, SECRET_COLOR = 0x2040C0, 0x20A040, 0xD02090


def find_picture(name: str) -> SourceImage:
    return SourceImage(BlobRef(sha256=name, media_type="image/jpeg", size=1), *SIZE)


def test_every_input_is_stored_with_its_true_time(desktop: Desktop, record: Record) -> None:
    running = record()
    for place in range(40):
        desktop.click(10 + 5 * place, 20 + 3 * place)
        desktop.press(ord("a"))
    desktop.scroll(5)
    running.stop()
    session = open_session(running.folder)
    stored = [one for one in session.events if one["kind"] in INPUT_KINDS]
    assert [one["kind"] for one in stored] == [one.kind for one in desktop.sent]
    for sent, one in zip(desktop.sent, stored, strict=True):
        assert one["t_ns"] - one["t_error_ns"] <= sent.after_ns
        assert one["t_ns"] + one["t_error_ns"] >= sent.before_ns
    assert (stored[3]["text"], stored[0]["x"], stored[0]["y"]) == ("a", 10, 20)
    assert session.manifest["state"] == "finished"
    row = {**session.manifest, "events": list(needed_events(session.events))}
    trajectory = read_row(READER, SourceRow(row=row, find=find_picture, moment=datetime.now(UTC), key=""))
    assert [step.action.kind for step in trajectory.steps] == ["click", "type_text"] * 40 + ["scroll"]


def test_keys_belong_to_the_window_that_had_the_focus_when_they_were_pressed(desktop: Desktop, record: Record) -> None:
    own = desktop.open_window("recorder", "pilothouse-recorder", BLUE, place=(10, 10, 50, 50))
    form = desktop.open_window("form", "form", GREEN, place=(200, 200, 50, 50))
    desktop.focus(own)
    running = record()
    for _ in range(20):  # within less than a round of the recorder
        desktop.focus(own)
        desktop.press(ord("x"))
        desktop.focus(form)
        desktop.press(ord("a"))
    desktop.display.set_input_focus(X.PointerRoot, X.RevertToPointerRoot, X.CurrentTime)
    for x in (20, 220):
        desktop.move(x, x)
        desktop.press(ord("y"))
    running.stop()
    pressed = [one["text"] for one in open_session(running.folder).events if one["kind"] == "key.down"]
    assert pressed == ["a"] * 20 + ["y"]
    for window in (own, form):
        window.destroy()
    desktop.display.sync()


def test_input_of_a_remote_desktop_is_stored_while_no_program_is_active(
    environment: dict[str, str], record: Record
) -> None:
    running = record()
    hands = RemoteHands(Path(environment["XAUTHORITY"]).with_name("rfb"))
    text = string.ascii_lowercase * 4 + "Ünïcode 日本 €"
    hands.type(text)
    for place in range(50):
        hands.move(10 + place, 20)
    running.wait_stored()
    running.stop()
    hands.close()
    events = open_session(running.folder).events
    assert "".join(one["text"] for one in events if one["kind"] == "key.down") == text
    assert [one["x"] for one in events if one["kind"] == "pointer.move"][-1] == 59


def test_frames_are_stored_on_change(desktop: Desktop, record: Record) -> None:
    running = record()
    window = desktop.open_window("form", "form", BLUE)
    running.wait_stored()
    desktop.paint(window, BLUE)
    running.wait_stored()
    desktop.paint(window, GREEN)
    running.stop()
    window.destroy()
    session = open_session(running.folder)
    frames = [one["sha256"] for one in session.events if one["kind"] == "screen.frame"]
    assert len(frames) == len(set(frames)) == len(list((running.folder / "frames").iterdir())) == 3


@pytest.mark.parametrize("killed", [False, True])
def test_what_is_excluded_is_nowhere_on_the_disk(desktop: Desktop, record: Record, *, killed: bool) -> None:
    running = record("--exclude-app", "vault*", "--exclude-title", "*My Bank*")
    desktop.type("before")
    running.wait_stored()
    for title, application in (("Accounts", "vault-app"), ("My Bank - Browser", "browser")):
        window = desktop.open_window(title, application, SECRET_COLOR)
        desktop.type("canary")
        running.wait(reason="excluded")
        desktop.type("canary")
        if killed:
            running.wait_stored()
            running.kill()
            break
        window.destroy()
        desktop.display.sync()
        running.wait(recording=True)
    else:
        desktop.type("after")
        running.stop()
    window.destroy()
    desktop.display.sync()
    session = open_session(running.folder)
    found = list(found_canaries(running.home, ("canary", "My Bank", "vault"), {"secret": SECRET_COLOR}))
    assert not found
    assert next(found_canaries(running.home, ("before",), {}))
    assert [gap.reason for gap in summarize(session).gaps] == ["excluded"] * (1 if killed else 2)
    assert session.manifest["state"] == ("crashed" if killed else "finished")


def test_what_is_said_beside_a_secret_is_nowhere_on_the_disk(
    desktop: Desktop, environment: dict[str, str], tmp_path: Path
) -> None:
    if not has_pulse():
        pytest.skip("PulseAudio is not installed")
    plain, secret = (array("h", [level]).tobytes() * 1_600 for level in (12_345, 23_456))
    with pulse_server(tmp_path / "pulse") as (pulse, fifo):
        microphone = FedMicrophone(fifo)
        with recorder(tmp_path / "home", {**environment, **pulse}, "--voice", "--exclude-app", "vault*") as running:
            wait_until(lambda: list(running.folder.glob("audio/*.pcm")))
            said_ns = microphone.play(plain)
            wait_until(lambda: search_bytes(running.folder, plain[:2] * 50))
            microphone.play(secret)
            window = desktop.open_window("Accounts", "vault-app", SECRET_COLOR)
            running.wait(reason="excluded")
            microphone.play(secret)
            running.wait_stored()
            window.destroy()
            desktop.display.sync()
            running.wait(recording=True)
            running.stop()
        microphone.close()
    session = open_session(running.folder)
    assert not search_bytes(running.home, secret[:2] * 50)
    chunks = [one for one in session.events if one["kind"] == "audio.chunk"]
    heard = [
        one["t_ns"] + place // 2 * SAMPLE_NS
        for one in chunks
        if (place := (running.folder / "audio" / f"{one['t_ns']}.pcm").read_bytes().find(plain[:2] * 50)) >= 0
    ]
    assert heard
    assert abs(heard[0] - said_ns) <= 50_000_000


def search_bytes(folder: Path, pattern: bytes) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and pattern in path.read_bytes()]


def test_windows_in_the_frames_of_a_window_manager_are_excluded(
    desktop: Desktop, record: Record, environment: dict[str, str]
) -> None:
    if shutil.which("openbox") is None:
        pytest.skip("openbox is not installed")
    check = desktop.display.intern_atom("_NET_SUPPORTING_WM_CHECK")
    with subprocess.Popen(["openbox"], env=environment, stderr=subprocess.DEVNULL) as manager:
        try:
            wait_until(lambda: desktop.root.get_full_property(check, X.AnyPropertyType))
            running = record("--exclude-app", "vault*")
            window = desktop.open_window("Accounts", "vault-app", SECRET_COLOR)
            running.wait(reason="excluded")
            window.unmap()
            desktop.display.sync()
            running.wait(recording=True)
            running.stop()
            window.destroy()
        finally:
            manager.kill()
    assert not list(found_canaries(running.home, (), {"secret": SECRET_COLOR}))


def test_an_excluded_window_that_flashes_during_a_grab_is_in_no_frame(
    desktop: Desktop, environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", environment["DISPLAY"])
    grab, flashes = ScreenGrabber.grab, [True]

    def grab_in_a_flash(grabber: ScreenGrabber) -> bool:
        window = desktop.open_window("Accounts", "vault-app", SECRET_COLOR) if flashes.pop() else None
        grabbed = grab(grabber)
        if window is not None:
            window.destroy()
            desktop.display.sync()
        flashes.append(False)
        return grabbed

    monkeypatch.setattr(ScreenGrabber, "grab", grab_in_a_flash)
    with ControlServer(tmp_path) as control:
        recording = Recording(
            tmp_path / "session", {"id": "flash"}, ExclusionRules(("vault*",), ()), 30, desktop=open_desktop()
        )

        def frame_is_stored() -> bool:
            recording.tick()
            return bool(recording.status()["frames"])

        wait_until(frame_is_stored)
        recording.stop()
        recording.run(control)
    assert not list(found_canaries(tmp_path, (), {"secret": SECRET_COLOR}))


@pytest.mark.parametrize("stopped", [False, True])
def test_what_was_typed_while_the_windows_were_not_watched_is_not_stored(
    desktop: Desktop, environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, stopped: bool
) -> None:
    monkeypatch.setenv("DISPLAY", environment["DISPLAY"])
    with ControlServer(tmp_path) as control:
        recording = Recording(
            tmp_path / "session", {"id": "stopped"}, ExclusionRules(("vault*",), ()), 30, desktop=open_desktop()
        )

        def stored_frames() -> bool:
            recording.tick()
            return bool(recording.status()["frames"])

        wait_until(stored_frames)
        window = desktop.open_window("Accounts", "vault-app", SECRET_COLOR)
        desktop.type("canary")
        window.destroy()
        desktop.display.sync()
        if stopped:
            time.sleep(2 * UNWATCHED_NS / 1e9)
        recording.tick()
        desktop.type("after")

        def stored_input() -> bool:
            recording.tick()
            return bool(recording.status()["events"] > 12)

        wait_until(stored_input)
        recording.stop()
        recording.run(control)
    assert not list(found_canaries(tmp_path, ("canary",), {"secret": SECRET_COLOR}))
    assert list(found_canaries(tmp_path, ("after",), {}))
    events = open_session(tmp_path / "session").events
    assert "unwatched" in [one["reason"] for one in events if one["kind"] == "gap.begin"]


def test_a_title_that_becomes_private_takes_back_what_was_shown(desktop: Desktop, record: Record) -> None:
    running = record("--exclude-title", "*My Bank*")
    window = desktop.open_window("loading", "browser", SECRET_COLOR)
    desktop.type("canary")
    window.set_wm_name("My Bank")
    desktop.display.sync()
    running.wait(reason="excluded")
    running.stop()
    window.destroy()
    desktop.display.sync()
    assert not list(found_canaries(running.folder, ("canary",), {"secret": SECRET_COLOR}))


def test_the_last_minute_is_forgotten_on_the_disk(desktop: Desktop, record: Record) -> None:
    running = record()
    window = desktop.open_window("form", "form", SECRET_COLOR)
    desktop.type("canary")
    running.wait_stored()
    assert list(found_canaries(running.folder, ("canary",), {"secret": SECRET_COLOR}))
    window.destroy()
    desktop.press(CTRL, SHIFT, SUPER, ord("f"))
    desktop.display.sync()
    running.wait_stored()
    desktop.type("after")
    running.stop()
    assert not list(found_canaries(running.folder, ("canary",), {"secret": SECRET_COLOR}))
    assert list(found_canaries(running.folder, ("after",), {}))
    assert [gap.reason for gap in summarize(open_session(running.folder)).gaps] == ["forgotten"]


def wait_longer_than_the_clocks_error() -> None:
    """Until input of now has another time than input of before, also where both times have the largest error."""
    ends = time.monotonic_ns() + 2 * CLOCK_ERROR_NS
    wait_until(lambda: time.monotonic_ns() > ends)


def test_a_pause_stores_nothing_and_keeps_what_was_before(desktop: Desktop, record: Record) -> None:
    running = record()
    desktop.type("before")
    wait_longer_than_the_clocks_error()
    running.command("pause")
    running.wait(reason="paused")
    wait_longer_than_the_clocks_error()
    desktop.type("canary")
    running.command("resume")
    running.wait(recording=True)
    desktop.type("after")
    running.stop("success")
    session = open_session(running.folder)
    typed = "".join(one["text"] for one in session.events if one["kind"] == "key.down")
    assert typed == "beforeafter"
    assert [gap.reason for gap in summarize(session).gaps] == ["paused"]
    assert session.manifest["outcome"] == "success"


def test_nothing_names_the_computer_or_the_person(desktop: Desktop, record: Record) -> None:
    running = record()
    window = desktop.open_window(f"root@{socket.gethostname()}: ~", "terminal", BLUE)
    desktop.focus(window)
    desktop.type("x")
    running.stop()
    window.destroy()
    desktop.display.sync()
    assert not list(found_canaries(running.home, (socket.gethostname(), "root@"), {}))


def test_a_password_typed_into_a_terminal_is_not_stored(
    desktop: Desktop, record: Record, environment: dict[str, str]
) -> None:
    if shutil.which("xterm") is None:
        pytest.skip("xterm is not installed")
    running = record()
    script = "stty -echo; printf Password:; read secret; stty echo; printf Thanks; read more"
    with subprocess.Popen(["xterm", "-e", "sh", "-c", script], env=environment) as terminal:
        try:
            desktop.focus(desktop.wait_for_window("xterm"))
            running.wait(reason="password")
            desktop.type("canary")
            desktop.press(ENTER)
            running.wait(recording=True)
            desktop.type("after")
            running.stop()
        finally:
            terminal.kill()
    assert not list(found_canaries(running.folder, ("canary",), {}))
    assert list(found_canaries(running.folder, ("after",), {}))


def test_a_second_recorder_and_an_unknown_command_change_nothing(record: Record) -> None:
    running = record()
    with pytest.raises(RecorderError) as caught:
        running.command("dance")
    assert caught.value.code == "unknown_command"
    with pytest.raises(RecorderError) as caught, ControlServer(running.home):
        pass
    assert caught.value.code == "already_recording"
    assert running.command("status")["recording"]


def test_an_x_server_that_ends_leaves_a_session_that_opens(tmp_path: Path, environment: dict[str, str]) -> None:
    with x_server(tmp_path) as display:
        running = RecorderProcess(tmp_path / "home", {**environment, "DISPLAY": display})
        running.wait(recording=True)
    _, errors = running.process.communicate(timeout=30)
    assert running.process.returncode == 1
    assert "display_gone: " in errors
    assert open_session(running.folder).manifest["state"] == "crashed"
