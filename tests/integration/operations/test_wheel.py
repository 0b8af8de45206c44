"""The wheel turned once from the command line: a real database, trainer and policy server, and a turner that is killed
in the middle of training and goes on."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from annotation_app.operations.stack import ROOT
from tests.waiting import wait_until

WITHIN = 1_500


def wheel(data: Path) -> "subprocess.Popen[str]":
    words = ["-m", "annotation_app.operations", "wheel", "--turns", "1", "--small", "--data", str(data)]
    return subprocess.Popen(
        [sys.executable, *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def turner(folder: Path) -> int | None:
    """The process that turns what is in this folder."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if b"turn_wheel" in (process / "cmdline").read_bytes():
                environment = (process / "environ").read_bytes().split(b"\0")
                if f"PILOTHOUSE_DATA={folder.absolute()}".encode() in environment:
                    return int(process.name)
    return None


def updates(folder: Path, phase: str) -> list[int]:
    logs = list(folder.glob(f"flywheel/*/train/{phase}/log.jsonl"))
    lines = logs[0].read_text().splitlines(keepends=True) if logs else []
    return [json.loads(line)["update"] for line in lines if line.endswith("\n")]


@pytest.mark.slow
@pytest.mark.timeout(WITHIN * 2)
@pytest.mark.xdist_group("servers")
def test_a_turn_that_was_killed_while_it_trained_goes_on_to_its_end(tmp_path: Path) -> None:
    first = wheel(tmp_path)
    try:
        wait_until(lambda: len(updates(tmp_path, "sft")) > 10 or first.poll() is not None, limit=WITHIN)
        pid = turner(tmp_path)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        said, _ = first.communicate(timeout=WITHIN)
        assert first.returncode == 1, said
    finally:
        first.kill()
        first.wait()
    second = wheel(tmp_path)
    try:
        said, _ = second.communicate(timeout=WITHIN)
    finally:
        second.kill()
        second.wait()
    assert second.returncode == 0, said
    last = said.strip().splitlines()[-1]
    assert last.startswith("Turn 1: sft "), last
    assert "small-0001" in last
    assert "gate passed" in last or "gate shut" in last
    assert updates(tmp_path, "sft") == list(range(1, 31)), "no update was learned twice, and none is missing"
    assert updates(tmp_path, "rl") in ([], [1, 2, 3, 4])
