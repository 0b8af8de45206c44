"""What a task's programs may keep on this host's disk."""

import asyncio
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest

from vm_bridge.hosts.osworld import disk_quota
from vm_bridge.hosts.osworld.disk_quota import find_excess, remove_folder

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
    assert find_excess(tmp_path) is None


def test_what_lies_on_the_disk_counts_and_what_a_file_only_says_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_quota, "MAX_BYTES", 2**20)
    with (tmp_path / "sparse").open("wb") as sparse:
        sparse.truncate(2**30)
    assert find_excess(tmp_path) is None
    (tmp_path / "below").mkdir()
    for number in range(3):
        (tmp_path / "below" / f"{number}").write_bytes(os.urandom(2**19))
    assert "take more than" in (find_excess(tmp_path) or "")


def test_empty_files_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_quota, "MAX_ENTRIES", 3)
    for number in range(4):
        (tmp_path / f"{number}").touch()
    assert "more than 3" in (find_excess(tmp_path) or "")


def test_a_file_that_is_deleted_meanwhile_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a program's short-lived files are, of which the list still holds the names."""
    for name in ("vanishing", "one", "two", "three", "four"):
        (tmp_path / name).touch()
    scandir = os.scandir

    @contextmanager
    def one_vanishes(folder: Path) -> Iterator[list[os.DirEntry[str]]]:
        with scandir(folder) as entries:
            found = sorted(entries, key=lambda each: each.name != "vanishing")
        (folder / "vanishing").unlink()
        yield found

    with monkeypatch.context() as patched:
        patched.setattr(disk_quota, "MAX_ENTRIES", 3)
        patched.setattr(os, "scandir", one_vanishes)
        found = find_excess(tmp_path)
    assert "more than 3" in (found or "")


def test_a_folder_that_is_deleted_meanwhile_is_passed_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "below").mkdir()
    scandir = os.scandir

    def below_vanishes(folder: Path) -> Any:
        if folder.name == "below":
            folder.rmdir()
        return scandir(folder)

    with monkeypatch.context() as patched:
        patched.setattr(os, "scandir", below_vanishes)
        assert find_excess(tmp_path) is None
    assert not list(tmp_path.iterdir())


def test_a_link_leads_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_quota, "MAX_ENTRIES", 3)
    (tmp_path / "itself").symlink_to(tmp_path)
    (tmp_path / "system").symlink_to("/usr")
    assert find_excess(tmp_path) is None


def test_what_is_nested_too_deep_to_count_is_too_much_and_can_be_removed(tmp_path: Path) -> None:
    folder = tmp_path / "task"
    folder.mkdir()
    nest(folder)
    assert "cannot be counted" in (find_excess(folder) or "")
    asyncio.run(remove_folder(folder))
    assert not list(tmp_path.iterdir())


def test_a_disk_that_is_nearly_full_is_filled_no_further(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_quota, "MIN_FREE_BYTES", 2**70)
    assert "GiB left" in (find_excess(tmp_path) or "")


def test_a_folder_is_removed_when_a_process_can_be_begun_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "task"
    folder.mkdir()
    begin = asyncio.create_subprocess_exec
    refused: list[tuple[Any, ...]] = []

    async def once_refused(*given: Any, **more: Any) -> asyncio.subprocess.Process:
        if not refused:
            refused.append(given)
            raise OSError(errno.EAGAIN, "Resource temporarily unavailable")
        return await begin(*given, **more)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", once_refused)
    asyncio.run(remove_folder(folder))
    assert refused
    assert not folder.exists()


def test_a_folder_that_cannot_be_removed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def refused(*given: Any, **more: Any) -> NoReturn:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(asyncio, "create_subprocess_exec", refused)
    monkeypatch.setattr(disk_quota, "POLL_SECONDS", 0)
    asyncio.run(remove_folder(tmp_path / "task"))
    assert "could not be removed" in caplog.text
