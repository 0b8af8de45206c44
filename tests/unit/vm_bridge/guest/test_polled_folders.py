"""Folders that are watched by looking at them again and again."""

from pathlib import Path

import pytest

from vm_bridge.guest.common import polled_folders
from vm_bridge.guest.common.actions import ActionFailed
from vm_bridge.guest.common.files import UNFINISHED
from vm_bridge.guest.common.polled_folders import PolledFolderWatcher


def changes(watcher: PolledFolderWatcher, folder: Path) -> list[tuple[str, str]]:
    return [(each["name"], each["change"]) for each in watcher.changes("watch", str(folder), 0)]


def test_what_happens_after_the_first_call_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("1")
    (tmp_path / "kept").write_text("1")
    watcher = PolledFolderWatcher()
    assert changes(watcher, tmp_path) == []
    (tmp_path / "old").unlink()
    (tmp_path / "kept").write_text("longer")
    (tmp_path / "new").mkdir()
    (tmp_path / f".new{UNFINISHED}").write_text("half")
    assert changes(watcher, tmp_path) == [("kept", "changed"), ("new", "created"), ("old", "deleted")]
    assert changes(watcher, tmp_path) == []


def test_a_call_waits_until_something_happens(tmp_path: Path) -> None:
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        (tmp_path / "new").touch()

    watcher = PolledFolderWatcher(pause)
    watcher.changes("watch", str(tmp_path), 0)
    assert watcher.changes("watch", str(tmp_path), 60) == [{"name": "new", "change": "created"}]
    assert len(pauses) == 1


def test_a_folder_that_goes_says_so_and_is_watched_no_more(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    watcher = PolledFolderWatcher()
    changes(watcher, folder)
    folder.rmdir()
    assert changes(watcher, folder) == [("", "gone")]
    with pytest.raises(ActionFailed) as failed:
        changes(watcher, folder)
    assert failed.value.code == "cannot_watch"


def test_too_many_changes_are_told_as_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polled_folders, "MAX_CHANGES", 2)
    watcher = PolledFolderWatcher()
    changes(watcher, tmp_path)
    for name in "abc":
        (tmp_path / name).touch()
    assert changes(watcher, tmp_path) == [("", "more")]


def test_folders_are_bounded_and_free_again_when_their_watch_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(polled_folders, "MAX_FOLDERS", 1)
    watcher = PolledFolderWatcher()
    changes(watcher, tmp_path)
    with pytest.raises(ActionFailed) as failed:
        watcher.changes("other", str(tmp_path), 0)
    assert failed.value.code == "too_many"
    watcher.end("watch")
    assert watcher.changes("other", str(tmp_path), 0) == []
