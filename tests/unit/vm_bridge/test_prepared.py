"""What was prepared ahead is found where the bridge may not write, and nothing is fetched for it."""

from pathlib import Path

import pytest

from vm_bridge.images import build, tools
from vm_bridge.images.build import image_prepare
from vm_bridge.images.tools import tools_prepare


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The programs that were to be run."""
    ran: list[tuple[str, ...]] = []
    monkeypatch.setattr(build, "run", lambda *command, folder=None: ran.append(command))
    return ran


def test_an_image_that_was_prepared_ahead_is_taken(tmp_path: Path, steps: list[tuple[str, ...]]) -> None:
    ahead, data = tmp_path / "ahead", tmp_path / "data"
    made = image_prepare("terminal", ahead)
    assert steps
    steps.clear()
    assert image_prepare("terminal", data, ahead) == made
    assert not steps
    assert not data.exists()


def test_one_of_other_sources_is_not(tmp_path: Path, steps: list[tuple[str, ...]]) -> None:
    ahead, data = tmp_path / "ahead", tmp_path / "data"
    made = image_prepare("terminal", ahead)
    made.rename(made.with_name("terminal-of-before"))
    assert image_prepare("terminal", data, ahead).is_relative_to(data)


def test_tools_that_are_there_are_taken_without_a_trace(tmp_path: Path) -> None:
    folder = tmp_path / tools._fingerprint()
    folder.mkdir()
    assert tools_prepare(tmp_path) == folder
    assert list(tmp_path.iterdir()) == [folder]
