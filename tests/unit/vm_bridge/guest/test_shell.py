"""Commands and files, run here as they run inside a sandbox."""

import os
import signal
import time
from pathlib import Path

import pytest

from vm_bridge.guest import shell
from vm_bridge.guest.digest import tree_digest


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def command(line: str, timeout: float = 20) -> dict[str, object]:
    return {"command": line, "timeout": timeout}


def test_output_of_both_streams_and_the_status() -> None:
    assert shell.run_command(command("echo out; echo err >&2")) == "out\nerr\n"
    assert shell.run_command(command("echo half; exit 3")) == "half\n\n[exit status 3]"
    assert shell.run_command(command("exit 4")) == "[exit status 4]"


def test_it_runs_at_home(home: Path) -> None:
    assert shell.run_command(command("pwd")).strip() == str(home)


def test_output_is_bounded() -> None:
    text = shell.run_command(command("head -c 1000000 /dev/zero | tr '\\0' x"))
    assert text.startswith("x" * shell.MAX_OUTPUT)
    assert len(text) < shell.MAX_OUTPUT + 100
    assert "cut" in text


def test_a_command_out_of_time_is_killed_with_its_children(home: Path) -> None:
    with pytest.raises(shell.ActFailed) as failed:
        shell.run_command(command("echo begun; (sleep 60; touch late) & echo $! > pid; wait", timeout=0.5))
    assert failed.value.code == "timed_out"
    assert failed.value.text == "begun\n"
    status = Path("/proc", (home / "pid").read_text().strip(), "stat")
    ends = time.monotonic() + 10
    while status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < ends


def test_what_is_left_in_the_background_keeps_nobody_waiting(home: Path) -> None:
    assert shell.run_command(command("sleep 60 & echo $! > pid; echo here")) == "here\n"
    os.kill(int((home / "pid").read_text()), signal.SIGTERM)


def test_input_that_nobody_reads_keeps_nobody_waiting() -> None:
    much = b"x" * 1_000_000
    assert shell.run(["cat"], timeout=20, stdin=b"given") == (b"given", 0)
    assert shell.run(["true"], timeout=20, stdin=much) == (b"", 0)
    assert shell.run(["sleep", "60"], timeout=0.2, stdin=much) == (b"", None)


def test_what_cannot_be_started_fails_the_act(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(home / "gone"))
    with pytest.raises(shell.ActFailed) as failed:
        shell.run_command(command("true"))
    assert failed.value.code == "cannot_run"


def test_only_files_with_an_end_are_read(home: Path) -> None:
    os.mkfifo(home / "pipe")
    for path in ("pipe", "/dev/zero"):
        for act in (shell.read_file, shell.edit_file):
            with pytest.raises(shell.ActFailed, match="not a regular file") as failed:
                act({"path": path, "old": "a", "new": "b"})
            assert failed.value.code == "cannot_read"


def test_a_file_too_long_to_edit_stays_as_it_is(home: Path) -> None:
    long = home / "long"
    long.write_bytes(b"a" + b"x" * shell.MAX_EDITED)
    with pytest.raises(shell.ActFailed) as failed:
        shell.edit_file({"path": "long", "old": "a", "new": "b"})
    assert failed.value.code == "too_long"
    assert long.stat().st_size == shell.MAX_EDITED + 1


def test_nothing_is_written_through_what_lies_in_the_way(home: Path) -> None:
    (home / "other").write_text("kept")
    (home / ".note.writing").symlink_to("other")
    shell.write_file({"path": "note", "text": "new"})
    assert [(home / name).read_text() for name in ("note", "other")] == ["new", "kept"]


def test_files_are_written_read_and_edited(home: Path) -> None:
    shell.write_file({"path": "folder/note.txt", "text": "one\r\ntwo ż"})
    assert (home / "folder" / "note.txt").read_bytes() == "one\r\ntwo ż".encode()
    shell.edit_file({"path": "~/folder/note.txt", "old": "two", "new": "three"})
    assert shell.read_file({"path": str(home / "folder" / "note.txt")}) == "one\r\nthree ż"
    assert [path.name for path in (home / "folder").iterdir()] == ["note.txt"]


def test_a_rewritten_file_keeps_its_permissions(home: Path) -> None:
    script = home / "run.sh"
    script.write_text("old")
    script.chmod(0o755)
    shell.write_file({"path": "run.sh", "text": "new"})
    assert script.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(("old", "code"), [("missing", "no_single_match"), ("twice", "no_single_match")])
def test_an_edit_must_match_once(home: Path, old: str, code: str) -> None:
    (home / "note.txt").write_text("twice twice")
    with pytest.raises(shell.ActFailed) as failed:
        shell.edit_file({"path": "note.txt", "old": old, "new": "x"})
    assert failed.value.code == code
    assert (home / "note.txt").read_text() == "twice twice"


def test_failures_have_stable_codes(home: Path) -> None:
    (home / "binary").write_bytes(b"\xff\xfe\x00")
    for act, given, code in (
        (shell.read_file, {"path": "missing"}, "cannot_read"),
        (shell.read_file, {"path": "."}, "cannot_read"),
        (shell.write_file, {"path": "binary/below", "text": ""}, "cannot_write"),
        (shell.write_file, {"path": "/", "text": ""}, "cannot_write"),
        (shell.read_file, {"path": "~nosuchuser/x"}, "no_such_user"),
        (shell.write_file, {"path": "~nosuchuser/x", "text": ""}, "no_such_user"),
        (shell.edit_file, {"path": "~nosuchuser/x", "old": "a", "new": "b"}, "no_such_user"),
        (shell.edit_file, {"path": "binary", "old": "a", "new": "b"}, "not_text"),
        (shell.open_app, {"name": "no such program"}, "no_such_app"),
    ):
        with pytest.raises(shell.ActFailed) as failed:
            act(given)
        assert failed.value.code == code


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
