"""What a task's programs may keep on this host's disk."""

import asyncio
import os
from pathlib import Path

import pytest

from vm_bridge.hosts import osworld_disk
from vm_bridge.hosts.osworld_disk import excess_of, folder_remove

DEPTH = 500
NAME = "a-folder-in-a-folder"


def nest(folder: Path) -> None:
    """Deeper than a path may be long, which a program reaches from where it is."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(DEPTH):
        os.mkdir(NAME, dir_fd=here)
        below = os.open(NAME, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


def test_few_small_files_are_not_too_much_wherever_they_lie(tmp_path: Path) -> None:
    (tmp_path / "cache" / "below").mkdir(parents=True)
    (tmp_path / "cache" / "below" / "one.txt").write_text("one")
    assert excess_of(tmp_path) is None


def test_what_lies_on_the_disk_counts_and_what_a_file_only_says_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(osworld_disk, "MOST", 2**20)
    with (tmp_path / "sparse").open("wb") as sparse:
        sparse.truncate(2**30)
    assert excess_of(tmp_path) is None
    (tmp_path / "below").mkdir()
    for number in range(3):
        (tmp_path / "below" / f"{number}").write_bytes(os.urandom(2**19))
    assert "take more than" in (excess_of(tmp_path) or "")


def test_empty_files_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(osworld_disk, "MOST_ENTRIES", 3)
    for number in range(4):
        (tmp_path / f"{number}").touch()
    assert "more than 3" in (excess_of(tmp_path) or "")


def test_a_link_leads_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(osworld_disk, "MOST_ENTRIES", 3)
    (tmp_path / "itself").symlink_to(tmp_path)
    (tmp_path / "system").symlink_to("/usr")
    assert excess_of(tmp_path) is None


def test_what_is_nested_too_deep_to_count_is_too_much_and_can_be_removed(tmp_path: Path) -> None:
    folder = tmp_path / "task"
    folder.mkdir()
    nest(folder)
    assert "cannot be counted" in (excess_of(folder) or "")
    asyncio.run(folder_remove(folder))
    assert not list(tmp_path.iterdir())


def test_a_disk_that_is_nearly_full_is_filled_no_further(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(osworld_disk, "LEAST_FREE", 2**70)
    assert "GiB left" in (excess_of(tmp_path) or "")
