"""What a waiting guest starts before its host asks for the desktop, and what becomes of it."""

import json
from pathlib import Path

import pytest

from vm_bridge.guest.linux import desktop_programs, main

PROGRAM = ["phone", "--size", "400"]


class Recorded:
    """A program that only notes what is done with it."""

    def __init__(self, log: list[str], *words: object) -> None:
        self.log, self.name = log, " ".join(map(str, words))
        self.pid = 1
        log.append(f"start {self.name}")

    def wait(self) -> None:
        self.log.append(f"wait {self.name}")

    def end(self) -> None:
        self.log.append(f"end {self.name}")


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was started, waited for and ended, in order."""
    log: list[str] = []
    manifest = tmp_path / "image.json"
    manifest.write_text(json.dumps({"width": 400, "height": 800, "start": [PROGRAM]}))
    monkeypatch.setattr(main, "MANIFEST", manifest)
    monkeypatch.setattr(desktop_programs, "XServer", lambda *size: Recorded(log, "X", *size))
    monkeypatch.setattr(desktop_programs, "WindowManager", lambda: Recorded(log, "wm"))
    monkeypatch.setattr(desktop_programs, "Program", lambda command: Recorded(log, *command))
    return log


def waiting_guest(monkeypatch: pytest.MonkeyPatch, seconds: float) -> main.DesktopPreloader:
    """One that starts the image's programs after so long."""
    monkeypatch.setattr(main, "PROGRAMS_SECONDS", seconds)
    preloader = main.DesktopPreloader()
    preloader.home_filled.set()
    preloader.start()
    if not seconds:
        preloader.join()
    return preloader


def test_the_programs_of_an_image_wait_with_its_screen(log: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    preloader = waiting_guest(monkeypatch, 0.0)
    waiting = ["start X 400 800", "wait X 400 800", "start wm", "wait wm", "start phone --size 400"]
    assert log == waiting
    preloader.screen(400, 800)
    preloader.start_programs()
    assert log == waiting, "they are those of the desktop"


def test_a_screen_of_another_size_has_its_own_programs(log: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    preloader = waiting_guest(monkeypatch, 0.0)
    log.clear()
    preloader.screen(640, 480)
    preloader.start_programs()
    ended = ["end phone --size 400", "end wm", "end X 400 800"]
    assert log == [*ended, "start X 640 480", "wait X 640 480", "start wm", "start phone --size 400"]


def test_a_host_that_asks_at_once_waits_for_no_pause(log: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    preloader = waiting_guest(monkeypatch, 600.0)
    preloader.screen(400, 800)
    assert log[-1] == "start wm"
    preloader.start_programs()
    assert log[-1] == "start phone --size 400"
