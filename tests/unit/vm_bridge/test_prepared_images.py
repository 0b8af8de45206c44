"""What was prepared ahead is found where the bridge may not write, and nothing is fetched for it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from annotation_app.operations.runtime.stack import ROOT
from vm_bridge.images import build, tools
from vm_bridge.images.build import prepare_image
from vm_bridge.images.tools import prepare_tools


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The programs that were to be run."""
    ran: list[tuple[str, ...]] = []
    monkeypatch.setattr(build, "run_step", lambda *command, folder=None: ran.append(command))
    return ran


def test_an_image_that_was_prepared_ahead_is_taken(tmp_path: Path, steps: list[tuple[str, ...]]) -> None:
    ahead, data = tmp_path / "ahead", tmp_path / "data"
    made = prepare_image("terminal", ahead)
    assert steps
    steps.clear()
    assert prepare_image("terminal", data, ahead) == made
    assert not steps
    assert not data.exists()


def test_the_files_of_its_home_have_one_time_whatever_the_checkout_gave_them(
    tmp_path: Path, steps: list[tuple[str, ...]]
) -> None:
    home = prepare_image("desktop", tmp_path) / "home"
    times = {path.stat().st_mtime for path in home.rglob("*")}
    assert times == {build.HOME_TIME}
    assert len(list((home / "Desktop").iterdir())) >= 5


def test_one_of_other_sources_is_not(tmp_path: Path, steps: list[tuple[str, ...]]) -> None:
    ahead, data = tmp_path / "ahead", tmp_path / "data"
    made = prepare_image("terminal", ahead)
    made.rename(made.with_name("terminal-of-before"))
    assert prepare_image("terminal", data, ahead).is_relative_to(data)


def test_tools_that_are_there_are_taken_without_a_trace(tmp_path: Path) -> None:
    folder = tmp_path / tools._fingerprint()
    folder.mkdir()
    assert prepare_tools(tmp_path) == folder
    assert list(tmp_path.iterdir()) == [folder]


@pytest.mark.parametrize("name", ["images", "virtual"])
def test_a_command_that_is_asked_for_help_makes_nothing(name: str, tmp_path: Path) -> None:
    said = subprocess.run(
        [sys.executable, "-m", f"vm_bridge.{name}", "--help"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (said.returncode, said.stdout.startswith("usage: python -m vm_bridge.")) == (0, True), said.stderr
    assert not list(tmp_path.iterdir())
