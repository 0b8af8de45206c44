"""The folder of short-lived files."""

import tempfile
from pathlib import Path

import pytest

from vm_bridge.hosts.runtime import LOCK, PREFIX, RuntimeFolder


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_what_a_dead_host_left_is_removed_and_a_living_one_is_not(tmp_path: Path) -> None:
    living = RuntimeFolder()
    dead = tmp_path / f"{PREFIX}dead"
    dead.mkdir()
    (dead / LOCK).touch()
    half_made = tmp_path / f"{PREFIX}half-made"
    half_made.mkdir()
    RuntimeFolder().remove()
    assert sorted(tmp_path.iterdir()) == sorted([living.path, half_made])
    living.remove()


def test_others_may_pass_but_not_look(tmp_path: Path) -> None:
    folder = RuntimeFolder()
    assert folder.path.stat().st_mode & 0o777 == 0o711
    folder.remove()
    assert not folder.path.exists()


def test_an_image_is_copied_once(tmp_path: Path) -> None:
    prepared = tmp_path / "desktop-1"
    prepared.mkdir()
    (prepared / "file").write_text("first")
    folder = RuntimeFolder()
    copy = folder.image(prepared)
    (prepared / "file").write_text("second")
    assert (folder.image(prepared) / "file").read_text() == "first"
    assert copy.parent.parent == folder.path
    folder.remove()
