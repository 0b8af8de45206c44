"""Sessions on the disk: what a crash leaves, what is removed, what is packed."""

import json
import zipfile
from array import array
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from recorder.pilothouse_recorder import sessions, settings
from recorder.pilothouse_recorder.__main__ import main
from recorder.pilothouse_recorder.clocks import SECOND
from recorder.pilothouse_recorder.errors import RecorderError
from recorder.pilothouse_recorder.events import Event
from recorder.pilothouse_recorder.packing import pack_session
from recorder.pilothouse_recorder.review import cut, summarize
from recorder.pilothouse_recorder.sessions import SEGMENT_NS, SessionWriter, lock_session, open_session
from recorder.pilothouse_recorder.settings import load_settings, require_consent, set_consent
from recorder.pilothouse_recorder.uploads import IMPORTING, PACKED, Answer, Server, upload_session

ID = "6d3a1c52-7d0e-4c47-9f0f-4e3c0d7b6a11"
MANIFEST = {
    "id": ID,
    "annotator": "recorder-1",
    "instruction": "Fill in the form",
    "track": "expert",
    "screen": [8, 8],
    "clock": {"monotonic_ns": 0, "realtime_ns": 0},
}


def frame(t_ns: int, sha256: str) -> Event:
    return Event("screen.frame", t_ns, "capture", 0, {"sha256": sha256, "width": 8, "height": 8, "app": "form"})


def write_session(folder: Path, *, finished: bool = True) -> SessionWriter:
    """Three frames and a click over three minutes; the first and the last frame are the same picture."""
    writer = SessionWriter(folder, MANIFEST)
    writer.append(frame(SECOND, "a" * 64), b"first")
    writer.append(Event("pointer.move", SECOND + 1, "x_server", 0, {"x": 1, "y": 1}))
    writer.append(Event("pointer.down", SECOND + 2, "x_server", 0, {"x": 1, "y": 1, "button": 1}))
    writer.append(Event("pointer.move", SECOND + 3, "x_server", 0, {"x": 2, "y": 1}))
    writer.append(Event("pointer.up", SECOND + 4, "x_server", 0, {"x": 2, "y": 1, "button": 1}))
    writer.append(frame(SECOND + SEGMENT_NS, "b" * 64), b"second")
    writer.append(frame(SECOND + 2 * SEGMENT_NS, "a" * 64), b"first")
    if finished:
        writer.finish("success")
    return writer


def kinds(folder: Path) -> list[str]:
    return [one["kind"] for one in open_session(folder).events]


def test_events_are_read_back_in_order_over_segments(tmp_path: Path) -> None:
    write_session(tmp_path / ID)
    session = open_session(tmp_path / ID)
    assert [one["seq"] for one in session.events] == list(range(1, 8))
    assert (session.manifest["state"], session.manifest["outcome"]) == ("finished", "success")
    assert len(list((tmp_path / ID).glob("events-*"))) == 3


def test_a_session_opens_wherever_a_crash_cut_it_off(tmp_path: Path) -> None:
    write_session(tmp_path / ID, finished=False)
    segment = tmp_path / ID / "events-00001.jsonl"
    whole = segment.read_bytes()
    for size in range(0, len(whole), 11):
        segment.write_bytes(whole[:size])
        (tmp_path / ID / "frames" / "c.jpg.tmp").write_bytes(b"half a pict")
        session = open_session(tmp_path / ID)
        assert session.manifest["state"] == "crashed"
        assert len(session.events) == whole[:size].count(b"\n") + 2
        assert not list((tmp_path / ID).rglob("*.tmp"))


def test_forgetting_removes_events_and_frames_that_nothing_else_shows(tmp_path: Path) -> None:
    writer = write_session(tmp_path / ID, finished=False)
    writer.forget(SECOND + 3, 10 * SEGMENT_NS)
    writer.append(Event("key.down", 10 * SEGMENT_NS, "x_server", 0, {"key": "a", "text": "a"}))
    writer.finish(None)
    assert kinds(tmp_path / ID) == ["screen.frame", "pointer.move", "pointer.down", "gap.begin", "gap.end", "key.down"]
    assert [path.name for path in (tmp_path / ID / "frames").iterdir()] == ["a" * 64 + ".jpg"]


@pytest.mark.parametrize("calls", range(1, 7))
def test_a_crash_while_forgetting_is_made_up_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: int) -> None:
    writer = write_session(tmp_path / ID, finished=False)
    left = [calls]
    write_whole, unlink = sessions.write_whole, Path.unlink

    def crash_at_last() -> None:
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt

    def dying_write(path: Path, content: bytes) -> None:
        write_whole(path, content)
        crash_at_last()

    def dying_unlink(path: Path, missing_ok: bool = False) -> None:
        crash_at_last()
        unlink(path, missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(sessions, "write_whole", dying_write)
        patch.setattr(Path, "unlink", dying_unlink)
        with pytest.raises(KeyboardInterrupt):
            writer.forget(0, 10 * SEGMENT_NS)
    assert kinds(tmp_path / ID) == ["gap.begin", "gap.end"]
    assert not list((tmp_path / ID / "frames").iterdir())


def test_a_cut_takes_a_stretch_out_and_a_bad_one_changes_nothing(tmp_path: Path) -> None:
    write_session(tmp_path / ID)
    for wrong in ((5.0, 5.0), (-1.0, 5.0)):
        with pytest.raises(RecorderError) as caught:
            cut(open_session(tmp_path / ID), *wrong)
        assert caught.value.code == "bad_range"
    cut(open_session(tmp_path / ID), 50, 70)
    summary = summarize(open_session(tmp_path / ID))
    assert (summary.frames, summary.applications) == (2, {"form": 2})
    assert [(gap.begin, gap.end, gap.reason) for gap in summary.gaps] == [(50.0, 70.0, "cut")]


def test_packing_twice_gives_the_same_bytes_without_idle_moves(tmp_path: Path) -> None:
    write_session(tmp_path / ID)
    packed = [tmp_path / name for name in ("one.zip", "two.zip")]
    for path in packed:
        pack_session(open_session(tmp_path / ID), path)
    assert packed[0].read_bytes() == packed[1].read_bytes()
    with zipfile.ZipFile(packed[0]) as archive:
        row: dict[str, Any] = json.loads(archive.read("session.json"))
        assert len(archive.namelist()) == 3
    assert [one["seq"] for one in row["events"]] == [1, 3, 4, 5, 6, 7]
    assert row["format"] == "pilothouse-session-1"
    assert "levels" not in row, "no voice was recorded"


@pytest.mark.parametrize("version", ["2", "3"])
def test_a_session_with_voice_has_loudness_where_the_person_agreed_and_no_sound(tmp_path: Path, version: str) -> None:
    consent = {"version": version, "accepted_at": "2026-11-30T12:00:00Z"}
    writer = SessionWriter(tmp_path / ID, {**MANIFEST, "consent": consent})
    writer.append(frame(0, "a" * 64), b"a")
    loud, half = array("h", [32_767, -32_768] * 4_000), array("h", [1_036] * 8_000)
    for t_ns, samples in ((0, loud), (SECOND // 2, half), (3 * SECOND, array("h", [0] * 800))):
        data = {"duration_ns": len(samples) * SECOND // 16_000, "rate": 16_000}
        writer.append(Event("audio.chunk", t_ns, "capture", 0, data), samples.tobytes())
    writer.finish("success")
    pack_session(open_session(tmp_path / ID), tmp_path / "one.zip")
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        row = json.loads(archive.read("session.json"))
    if version == "2":
        assert "levels" not in row
        return
    levels = [(run["t_ns"], list(b64decode(run["values"]))) for run in row["levels"]["runs"]]
    assert levels == [(0, [255] * 10 + [127] * 10), (3 * SECOND, [0])]
    assert {one["kind"] for one in row["events"]} == {"screen.frame"}


def test_nothing_to_show_is_nothing_to_upload(tmp_path: Path) -> None:
    SessionWriter(tmp_path / ID, MANIFEST).finish(None)
    with pytest.raises(RecorderError) as caught:
        pack_session(open_session(tmp_path / ID), tmp_path / "one.zip")
    assert caught.value.code == "no_frames"


def test_settings_that_cannot_be_read_stop_the_recorder(tmp_path: Path) -> None:
    annotator = load_settings(tmp_path).annotator
    assert load_settings(tmp_path).annotator == annotator
    for content in ("{", "[]", '{"annotator": "a", "exclude_apps": "bank"}'):
        (tmp_path / "settings.json").write_text(content)
        with pytest.raises(RecorderError) as caught:
            load_settings(tmp_path)
        assert caught.value.code == "bad_settings"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["pause"], "not_recording"),
        (["review", "nobody"], "no_session"),
        (["review", "6d3a1c52-7d0e-4c47-9f0f-4e3c0d7b6a12", "--delete"], "no_session"),
        (["upload", ID], "no_token"),
        (["upload", ID, "--url", "ftp://example.org"], "bad_url"),
        (["record", "Fill in the form"], "wayland"),
    ],
)
def test_commands_that_cannot_be_done_say_a_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], code: str
) -> None:
    monkeypatch.setenv("PILOTHOUSE_RECORDER_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_SESSION_TYPE", "wayland")
    if code == "bad_url":
        monkeypatch.setenv("PILOTHOUSE_TOKEN", "secret")
    else:
        monkeypatch.delenv("PILOTHOUSE_TOKEN", raising=False)
        monkeypatch.delenv("PILOTHOUSE_TOKEN_FILE", raising=False)
    write_session(tmp_path / "sessions" / ID)
    if code == "wayland":
        set_consent(tmp_path, accepted=True)
    assert main(words) == 1
    assert capsys.readouterr().err.startswith(f"{code}: ")


@pytest.mark.parametrize("words", [["review", ID, "--delete"], ["review", ID, "--cut", "0", "1"], ["transcribe", ID]])
def test_one_command_at_a_time_works_on_a_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    monkeypatch.setenv("PILOTHOUSE_RECORDER_HOME", str(tmp_path))
    folder = tmp_path / "sessions" / ID
    write_session(folder)
    with lock_session(folder):
        (folder / "speech-00001.json.tmp").write_bytes(b"[")
        assert main(words) == 1
        assert capsys.readouterr().err.startswith("session_busy: ")
        assert main(["review", ID]) == 0
        assert (folder / "speech-00001.json.tmp").exists(), "it belongs to the other command"
    assert main(["review", ID]) == 0
    assert not list(folder.glob("*.tmp"))


class LostServer(Server):
    """A platform that takes an upload; then the connection is lost."""

    def __init__(self, lost: str) -> None:
        super().__init__("http://platform.test", "")
        self.lost, self.imports = lost, 0

    def call(self, method: str, path: str, headers: Any = (), body: bytes | None = None) -> Any:
        if self.lost == "status" and "/uploads" not in path:
            raise RecorderError("unreachable", "lost")
        listed = method == "GET" and path == self.uploads_path
        found: Any = [] if listed else {"id": "u", "offset": 0, "part_bytes": 2**22}
        if path == "/api/imports/i":
            found = {"status": "failed" if self.lost == "refused" else "done", "code": "id_taken", "error": ""}
        return Answer({"upload-offset": str(len(body or b""))}, json.dumps(found).encode())

    def post(self, path: str, body: Any) -> Any:
        self.imports += 1
        if self.lost == "answer":
            raise RecorderError("unreachable", "lost")
        return {"id": "i"}


@pytest.mark.parametrize("lost", ["answer", "status"])
def test_a_session_whose_import_may_run_cannot_be_changed(tmp_path: Path, lost: str) -> None:
    write_session(tmp_path / ID)
    session, server = open_session(tmp_path / ID), LostServer(lost)
    with pytest.raises(RecorderError, match="lost"):
        upload_session(server, session, "")
    with pytest.raises(RecorderError) as caught:
        cut(session, 0, 1)
    assert caught.value.code == "upload_unresolved"
    server.lost = ""
    assert upload_session(server, session, "")["status"] == "done"
    assert server.imports == (2 if lost == "answer" else 1)
    assert not [name for name in (IMPORTING, PACKED) if (session.folder / name).exists()]


def test_a_session_that_the_platform_refused_can_be_cut(tmp_path: Path) -> None:
    write_session(tmp_path / ID)
    session = open_session(tmp_path / ID)
    with pytest.raises(RecorderError, match="id_taken"):
        upload_session(LostServer("refused"), session, "")
    assert (session.folder / PACKED).exists()
    cut(session, 0, 1)
    assert not (session.folder / PACKED).exists()


def test_sessions_are_listed_and_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PILOTHOUSE_RECORDER_HOME", str(tmp_path))
    write_session(tmp_path / "sessions" / ID)
    assert main(["review"]) == 0
    assert [one["id"] for one in json.loads(capsys.readouterr().out)] == [ID]
    assert main(["review", ID, "--delete"]) == 0
    assert not list((tmp_path / "sessions").iterdir())


def test_recording_needs_consent_to_the_present_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PILOTHOUSE_RECORDER_HOME", str(tmp_path))
    with pytest.raises(RecorderError, match="consent"):
        require_consent(load_settings(tmp_path))
    assert main(["consent", "--accept"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["accepted"]["version"] == shown["version"]
    assert require_consent(load_settings(tmp_path)).version == shown["version"]
    assert "and into ssh sessions, tmux or screen, ARE stored" in shown["text"]
    with monkeypatch.context() as patch:
        patch.setattr(settings, "CONSENT_VERSION", "another")
        with pytest.raises(RecorderError, match="consent"):
            require_consent(load_settings(tmp_path))
    assert main(["consent", "--withdraw"]) == 0
    assert load_settings(tmp_path).consent is None
