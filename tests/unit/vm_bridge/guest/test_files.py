"""Files and folders, used here as they are inside a sandbox."""

import os
from pathlib import Path

import pytest

from vm_bridge.guest.common import files
from vm_bridge.guest.common.actions import ActionFailed
from vm_bridge.guest.common.machine_io import tree_digest
from vm_bridge.guest.linux.folder_watcher import FolderWatcher


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_only_files_with_an_end_are_read(home: Path) -> None:
    os.mkfifo(home / "pipe")
    for path in ("pipe", "/dev/zero"):
        for act in (files.read_file, files.edit_file):
            with pytest.raises(ActionFailed, match="not a regular file") as failed:
                act({"path": path, "old": "a", "new": "b"}, files)
            assert failed.value.code == "cannot_read"


def test_a_file_too_long_to_edit_stays_as_it_is(home: Path) -> None:
    long = home / "long"
    long.write_bytes(b"a" + b"x" * files.MAX_EDITED)
    with pytest.raises(ActionFailed) as failed:
        files.edit_file({"path": "long", "old": "a", "new": "b"}, files)
    assert failed.value.code == "too_long"
    assert long.stat().st_size == files.MAX_EDITED + 1


def test_nothing_is_written_through_what_lies_in_the_way(home: Path) -> None:
    (home / "other").write_text("kept")
    (home / ".note.writing").symlink_to("other")
    files.write_file({"path": "note", "text": "new"}, files)
    assert [(home / name).read_text() for name in ("note", "other")] == ["new", "kept"]


def test_files_are_written_read_and_edited(home: Path) -> None:
    files.write_file({"path": "folder/note.txt", "text": "one\r\ntwo ż"}, files)
    assert (home / "folder" / "note.txt").read_bytes() == "one\r\ntwo ż".encode()
    files.edit_file({"path": "~/folder/note.txt", "old": "two", "new": "three"}, files)
    assert files.read_file({"path": str(home / "folder" / "note.txt")}, files).text == "one\r\nthree ż"
    assert [path.name for path in (home / "folder").iterdir()] == ["note.txt"]


def test_a_rewritten_file_keeps_its_permissions(home: Path) -> None:
    script = home / "run.sh"
    script.write_text("old")
    script.chmod(0o755)
    files.write_file({"path": "run.sh", "text": "new"}, files)
    assert script.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(("old", "code"), [("missing", "no_single_match"), ("twice", "no_single_match")])
def test_an_edit_must_match_once(home: Path, old: str, code: str) -> None:
    (home / "note.txt").write_text("twice twice")
    with pytest.raises(ActionFailed) as failed:
        files.edit_file({"path": "note.txt", "old": old, "new": "x"}, files)
    assert failed.value.code == code
    assert (home / "note.txt").read_text() == "twice twice"


def test_failures_have_stable_codes(home: Path) -> None:
    (home / "binary").write_bytes(b"\xff\xfe\x00")
    for act, given, code in (
        (files.read_file, {"path": "missing"}, "cannot_read"),
        (files.read_file, {"path": "."}, "cannot_read"),
        (files.write_file, {"path": "binary/below", "text": ""}, "cannot_write"),
        (files.write_file, {"path": "/", "text": ""}, "cannot_write"),
        (files.read_file, {"path": "~nosuchuser/x"}, "no_such_user"),
        (files.write_file, {"path": "~nosuchuser/x", "text": ""}, "no_such_user"),
        (files.edit_file, {"path": "~nosuchuser/x", "old": "a", "new": "b"}, "no_such_user"),
        (files.edit_file, {"path": "binary", "old": "a", "new": "b"}, "not_text"),
    ):
        with pytest.raises(ActionFailed) as failed:
            act(given, files)
        assert failed.value.code == code


def test_a_folder_is_listed_by_name(home: Path) -> None:
    (home / "b.txt").write_text("12345")
    (home / "a folder").mkdir()
    (home / "c").symlink_to("nowhere")
    os.mkfifo(home / "d")
    os.utime(home / "b.txt", (0, 86_400))
    lines = (files.list_files({"path": "."}, files).text or "").split("\n")
    assert [line.split("\t")[:2] for line in lines] == [
        ["a folder", "folder"],
        ["b.txt", "file"],
        ["c", "link"],
        ["d", "other"],
    ]
    assert lines[1] == "b.txt\tfile\t5\t1970-01-02 00:00:00+00:00"


def test_names_made_to_deceive_stay_on_their_line(home: Path) -> None:
    (home / "a\nb\tfile\t9").write_text("")
    (home / os.fsdecode(b"\xff")).write_text("")
    assert (files.list_files({"path": "."}, files).text or "").count("\n") == 1


def test_an_empty_folder_says_so_and_a_large_one_is_cut(home: Path) -> None:
    assert files.list_files({"path": "."}, files).text == "[empty]"
    for number in range(files.MAX_ENTRIES + 5):
        (home / f"{number:05}").touch()
    assert (files.list_files({"path": "."}, files).text or "").endswith(f"[cut after {files.MAX_ENTRIES} entries]")


def test_a_file_is_brought_out_whole(home: Path) -> None:
    data = bytes(range(256)) * 500
    files.write_bytes("a.bin", data)
    given = files.download_file({"path": "a.bin"}, files).attachment
    assert given is not None
    assert (given.data, given.media_type) == (data, "application/octet-stream")
    files.write_bytes("picture", b"\x89PNG\r\n\x1a\nrest")
    picture = files.download_file({"path": "picture"}, files).attachment
    assert picture is not None
    assert picture.media_type == "image/png"
    with (home / "large").open("wb") as large:
        large.truncate(files.MAX_FILE + 1)
    with pytest.raises(ActionFailed) as failed:
        files.download_file({"path": "large"}, files)
    assert failed.value.code == "too_long"


def test_parts_of_a_file_are_read(home: Path) -> None:
    (home / "a").write_bytes(b"0123456789")
    assert [files.read_bytes("a", 4, offset) for offset in (0, 4, 8, 10)] == [b"0123", b"4567", b"89", b""]


def test_what_is_deleted_is_what_was_named(home: Path) -> None:
    (home / "full").mkdir()
    (home / "full" / "a").write_text("")
    (home / "link").symlink_to("full")
    files.delete("link", recursive=True)
    assert (home / "full" / "a").exists()
    with pytest.raises(ActionFailed) as failed:
        files.delete("full", recursive=False)
    assert failed.value.code == "cannot_delete"
    files.delete("full", recursive=True)
    assert list(home.iterdir()) == []


def test_changes_of_a_watched_folder_are_told(home: Path) -> None:
    watches = FolderWatcher()
    assert watches.changes("w", ".", 0) == []
    files.write_bytes("a", b"1")
    (home / "a").write_text("2")
    (home / "a").unlink()
    told = [(change["name"], change["change"]) for change in watches.changes("w", ".", 10)]
    assert told == [("a", "created"), ("a", "changed"), ("a", "deleted")], "unfinished files are nobody's business"
    assert watches.changes("w", ".", 0) == []
    watches.end("w")
    watches.end("w")


def test_what_cannot_be_watched_is_said(home: Path) -> None:
    (home / "file").write_text("")
    for path in ("missing", "file"):
        with pytest.raises(ActionFailed) as failed:
            FolderWatcher().changes("w", path, 0)
        assert failed.value.code == "cannot_watch"


def test_a_folder_that_went_is_told(home: Path) -> None:
    (home / "a").mkdir()
    watches = FolderWatcher()
    watches.changes("w", "a", 0)
    (home / "a").rmdir()
    assert {"name": "", "change": "gone"} in watches.changes("w", "a", 10)
    watches.end("w")


def test_a_digest_tells_every_difference(home: Path) -> None:
    (home / "a").write_text("x")
    digests = [tree_digest(home)]
    for change in (
        lambda: (home / "a").write_text("y"),
        lambda: (home / "a").chmod(0o600),
        lambda: (home / "a").rename(home / "b"),
        lambda: (home / "c").symlink_to("b"),
        lambda: (home / "d").mkdir(),
    ):
        change()
        digests.append(tree_digest(home))
    assert len(set(digests)) == 6
    assert tree_digest(home) == digests[-1]
