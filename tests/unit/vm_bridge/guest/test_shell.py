"""Commands, run here as they run inside a sandbox."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from vm_bridge.guest.common.actions import MAX_OUTPUT, ActionFailed
from vm_bridge.guest.linux import shell


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def command(line: str, timeout: float = 20) -> dict[str, object]:
    return {"command": line, "timeout": timeout}


def run_text(action: dict[str, object]) -> str:
    text = shell.run_command(action).text
    assert text is not None
    return text


def test_output_of_both_streams_and_the_status() -> None:
    assert run_text(command("echo out; echo err >&2")) == "out\nerr\n"
    assert run_text(command("echo half; exit 3")) == "half\n\n[exit status 3]"
    assert run_text(command("exit 4")) == "[exit status 4]"


def test_it_runs_at_home(home: Path) -> None:
    assert run_text(command("pwd")).strip() == str(home)


def test_output_is_bounded() -> None:
    text = run_text(command("head -c 1000000 /dev/zero | tr '\\0' x"))
    assert text.startswith("x" * MAX_OUTPUT)
    assert len(text) < MAX_OUTPUT + 100
    assert "cut" in text


def test_a_command_out_of_time_is_killed_with_its_children(home: Path) -> None:
    with pytest.raises(ActionFailed) as failed:
        shell.run_command(command("echo begun; (sleep 60; touch late) & echo $! > pid; wait", timeout=0.5))
    assert failed.value.code == "timed_out"
    assert failed.value.text == "begun\n"
    status = Path("/proc", (home / "pid").read_text().strip(), "stat")
    ends = time.monotonic() + 10
    while status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < ends


def test_what_is_left_in_the_background_keeps_nobody_waiting(home: Path) -> None:
    assert run_text(command("sleep 60 & echo $! > pid; echo here")) == "here\n"
    os.kill(int((home / "pid").read_text()), signal.SIGTERM)


def test_input_that_nobody_reads_keeps_nobody_waiting() -> None:
    much = b"x" * 1_000_000
    assert shell.run(["cat"], timeout=20, stdin=b"given") == (b"given", 0)
    assert shell.run(["true"], timeout=20, stdin=much) == (b"", 0)
    assert shell.run(["sleep", "60"], timeout=0.2, stdin=much) == (b"", None)


def test_what_cannot_be_started_fails_the_act(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(home / "gone"))
    with pytest.raises(ActionFailed) as failed:
        shell.run_command(command("true"))
    assert failed.value.code == "cannot_run"


def test_a_command_can_be_cut_short() -> None:
    interrupt = shell.InterruptFlag()
    threading.Timer(0.3, interrupt.set).start()
    with pytest.raises(ActionFailed) as failed:
        shell.run_command(command("echo begun; sleep 60"), interrupt)
    assert (failed.value.code, failed.value.text) == ("cut_short", "begun\n")


def test_an_earlier_cut_is_forgotten() -> None:
    interrupt = shell.InterruptFlag()
    interrupt.set()
    interrupt.clear()
    interrupt.clear()
    assert shell.run_command(command("echo whole"), interrupt).text == "whole\n"


def test_an_app_that_is_not_there_is_named() -> None:
    with pytest.raises(ActionFailed, match="calculator") as failed:
        shell.open_app({"name": "no such program"})
    assert failed.value.code == "no_such_app"
