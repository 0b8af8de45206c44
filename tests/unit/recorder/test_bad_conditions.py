"""A recording while the computer sleeps, the clock is set, the disk is full and hours pass, without a real desktop."""

import errno
import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from recorder.pilothouse_recorder import recording, sessions
from recorder.pilothouse_recorder.clocks import MS, SECOND, ClockSample, ServerClock
from recorder.pilothouse_recorder.control import ControlServer
from recorder.pilothouse_recorder.desktop import DesktopGone, Hotkey, Input, Picture
from recorder.pilothouse_recorder.errors import RecorderError
from recorder.pilothouse_recorder.events import Event
from recorder.pilothouse_recorder.exclusions import ExclusionRules, WindowInfo
from recorder.pilothouse_recorder.recording import Recording
from recorder.pilothouse_recorder.review import summarize
from recorder.pilothouse_recorder.sessions import Session, SessionWriter, open_session
from recorder.pilothouse_recorder.uploads import Server, upload_session

ID = "6d3a1c52-7d0e-4c47-9f0f-4e3c0d7b6a11"
ROUND_NS = 400 * MS
WIDTH, HEIGHT = 4, 2
MANIFEST = {"id": ID, "instruction": "x"}


@dataclass
class FakeDesktop:
    """A desktop of a few pixels, whose time the test sets."""

    now_ns: int = SECOND
    color: int = 0
    pressed: list[Input] = field(default_factory=list)
    size: tuple[int, int] = (WIDTH, HEIGHT)
    windows: Sequence[WindowInfo] = ()
    changes: int = 0
    flashes: int = 0
    application: str = "form"
    time_error_ns: int = MS
    slept_ns: int = 0
    gone: bool = False
    passes_ns: int = 0
    """How much time passes while it waits."""

    def sync(self) -> None:
        if self.gone:
            raise DesktopGone

    def take_inputs(self) -> list[Input]:
        taken, self.pressed = self.pressed, []
        return taken

    def take_damage(self) -> bool:
        return True

    def grab(self) -> Picture | None:
        return Picture(memoryview(bytes((self.color % 256, 0, 0, 0)) * (WIDTH * HEIGHT)), WIDTH, HEIGHT)

    def is_own_at(self, x: int, y: int) -> bool:
        return False

    def asks_for_password(self) -> bool:
        return False

    def describe_element(self, event: Event) -> None:
        event.data["element"] = {"role": "button"}

    def sample_clock(self) -> None: ...

    def suspended_ns(self) -> int:
        return self.slept_ns

    def wait(self, control: int, seconds: float) -> None:
        self.now_ns += self.passes_ns

    def close(self) -> None: ...

    def press(self, text: str, hotkey: Hotkey | None = None) -> None:
        data = {"x": 1, "y": 1, "modifiers": [], "key": text, "text": text}
        self.pressed.append(Input(Event("key.down", self.now_ns, "x_server", MS, data), hotkey))


Run = Callable[[int], None]


@pytest.fixture
def desktop(monkeypatch: pytest.MonkeyPatch) -> FakeDesktop:
    fake = FakeDesktop()
    monkeypatch.setattr(recording, "now_ns", lambda: fake.now_ns)
    return fake


@pytest.fixture
def running(desktop: FakeDesktop, tmp_path: Path) -> Recording:
    """A recording that is open."""
    started = Recording(tmp_path / ID, dict(MANIFEST), ExclusionRules(), 5, desktop=desktop)
    rounds(started, desktop, 4)
    assert started.status()["recording"]
    return started


def rounds(running: Recording, desktop: FakeDesktop, count: int) -> None:
    for _ in range(count):
        desktop.now_ns += ROUND_NS
        running.tick()


def finished(running: Recording, desktop: FakeDesktop, home: Path) -> Session:
    rounds(running, desktop, 4)
    with ControlServer(home) as control:
        running.stop()
        running.run(control)
    return open_session(home / ID)


def typed(session: Session) -> str:
    return "".join(one["text"] for one in session.events if one["kind"] == "key.down")


def test_input_that_arrives_with_the_hotkey_of_a_pause_is_not_stored(
    running: Recording, desktop: FakeDesktop, tmp_path: Path
) -> None:
    for text in "a1x2b3":
        desktop.press(text, "pause" if text.isdigit() else None)
        desktop.now_ns += MS
    desktop.press("y")
    rounds(running, desktop, 1)
    assert running.status()["reason"] == "paused"
    desktop.press("z")
    rounds(running, desktop, 1)
    running.command({"command": "resume"})
    rounds(running, desktop, 4)
    desktop.press("c")
    assert typed(finished(running, desktop, tmp_path)) == "a1b3c"


def test_sleep_is_a_gap_and_nothing_of_it_is_stored(running: Recording, desktop: FakeDesktop, tmp_path: Path) -> None:
    desktop.press("a")
    rounds(running, desktop, 4)
    desktop.slept_ns = 3_600 * SECOND
    desktop.now_ns += 2 * SECOND  # the time that passes while programs are stopped and started again
    desktop.press("x")
    desktop.now_ns += SECOND
    running.tick()
    rounds(running, desktop, 30)
    desktop.press("b")
    session = finished(running, desktop, tmp_path)
    assert typed(session) == "ab"
    gaps = {one["reason"]: one.get("seconds") for one in session.events if one["kind"] == "gap.begin"}
    assert gaps == {"unwatched": None, "suspended": 3_600.0}


def test_a_wall_clock_that_is_set_changes_no_time(
    running: Recording, desktop: FakeDesktop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall = {"ns": 10**18}
    monkeypatch.setattr("recorder.pilothouse_recorder.recording.time.time_ns", lambda: wall["ns"])
    rounds(running, desktop, 30)
    pressed_ns = desktop.now_ns
    desktop.press("a")
    wall["ns"] += 3_600 * SECOND
    rounds(running, desktop, 60)
    session = finished(running, desktop, tmp_path)
    clocks = [one["realtime_ns"] for one in session.events if one["kind"] == "clock"]
    assert {clocks[1], clocks[-1]} == {10**18, 10**18 + 3_600 * SECOND}
    (key,) = [one for one in session.events if one["kind"] == "key.down"]
    assert key["t_ns"] == pressed_ns
    assert not summarize(session).gaps


@pytest.mark.parametrize("part", [0, 7])
def test_a_full_disk_ends_the_recording_and_what_was_stored_opens(
    running: Recording, desktop: FakeDesktop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    desktop.press("a")
    rounds(running, desktop, 4)
    write = os.write
    left = [part]

    def write_some(descriptor: int, content: bytes) -> int:
        if left:
            return write(descriptor, content[: left.pop()])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("recorder.pilothouse_recorder.file_locks.os.write", write_some)
    desktop.press("b")
    desktop.passes_ns = ROUND_NS
    with pytest.raises(OSError, match="No space"), ControlServer(tmp_path) as control:
        running.run(control)
    monkeypatch.setattr("recorder.pilothouse_recorder.file_locks.os.write", write)
    session = open_session(tmp_path / ID)
    assert (session.manifest["state"], typed(session)) == ("crashed", "a")


def test_a_disk_that_takes_a_part_gets_the_rest(
    running: Recording, desktop: FakeDesktop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    monkeypatch.setattr(
        "recorder.pilothouse_recorder.file_locks.os.write", lambda descriptor, content: write(descriptor, content[:5])
    )
    desktop.press("a")
    assert typed(finished(running, desktop, tmp_path)) == "a"


def test_a_desktop_that_ends_is_told(running: Recording, desktop: FakeDesktop, tmp_path: Path) -> None:
    desktop.gone = True
    with pytest.raises(RecorderError) as caught, ControlServer(tmp_path) as control:
        running.run(control)
    assert caught.value.code == "display_gone"
    assert open_session(tmp_path / ID).manifest["state"] == "crashed"


def test_eight_hours_are_one_session(
    running: Recording, desktop: FakeDesktop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "sync_data", lambda _: None)
    began = desktop.now_ns
    while desktop.now_ns - began < 8 * 3_600 * SECOND:
        desktop.press("a")
        desktop.color += 1
        rounds(running, desktop, 150)
    assert len(running._buffer._waiting) < 10
    session = finished(running, desktop, tmp_path)
    assert typed(session) == "a" * 480
    assert session.events[-1]["t_ns"] - session.events[0]["t_ns"] >= 8 * 3_600 * SECOND
    assert not summarize(session).gaps
    assert len(list((tmp_path / ID).glob("events-*.jsonl"))) > 400


def test_a_server_clock_that_drifts_for_eight_hours_is_followed() -> None:
    start, rate = 100 * SECOND, 1 + 50e-6
    clock = ServerClock(ClockSample(start, start // MS, start + MS))
    for second in range(10, 8 * 3_600, 10):
        true_ns = start + second * SECOND
        server_ms = int((start + second * SECOND * rate) / MS)
        clock.add(ClockSample(true_ns, server_ms, true_ns + MS))
        assert clock.error_ns < 15 * MS
        found = clock.at(server_ms)
        assert abs(found.t_ns - true_ns) < 30 * MS


def test_a_session_waits_on_the_disk_until_there_is_a_network(tmp_path: Path) -> None:
    writer = SessionWriter(tmp_path / ID, {**MANIFEST, "clock": {"monotonic_ns": 0}})
    frame: dict[str, Any] = {"sha256": "ab", "width": 1, "height": 1, "begin_ns": 0, "damaged_ns": 0, "app": ""}
    writer.append(Event("screen.frame", 5, "capture", 0, frame), b"jpeg")
    writer.finish(None)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        server = Server(f"http://127.0.0.1:{closed.getsockname()[1]}", "token")
        for _ in range(2):
            with pytest.raises(RecorderError) as caught:
                upload_session(server, open_session(tmp_path / ID), "Recorded")
            assert caught.value.code == "unreachable"
    assert [one["kind"] for one in open_session(tmp_path / ID).events] == ["screen.frame"]
