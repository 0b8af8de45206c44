"""Stores sessions on disk: append-only segments of events, frames by digest, and a manifest.

A session can be opened after a crash at any moment. Opening it completes an interrupted removal.
"""

import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from .clocks import MS, SECOND
from .errors import RecorderError
from .events import STRUCTURE_KINDS, Event, GapReason, gap_events
from .file_locks import OPEN_FLAGS, sync_data, try_lock, write_bytes

SESSION_FORMAT = "pilothouse-session-1"
MANIFEST, REMOVAL, FRAMES, AUDIO = "manifest.json", "removal.json", "frames", "audio"
LOCK = "lock"
SEGMENT_NS = 60 * SECOND
SHORTEST_WORD_NS = 30 * MS
"""Minimum duration of a word, whatever the engine reports: one frame of the voice activity detector."""
TEMPORARY_SUFFIX = ".tmp"
State = Literal["recording", "finished", "crashed"]


@dataclass(frozen=True)
class Removal:
    """A stretch to remove from the disk: from `begin_ns` up to `end_ns`."""

    begin_ns: int
    end_ns: int
    reason: GapReason


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically."""
    aside = path.with_name(path.name + TEMPORARY_SUFFIX)
    with aside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)


class SessionWriter:
    """Appends to one session. Every call reaches the operating system immediately; `sync` reaches the disk."""

    def __init__(self, folder: Path, manifest: dict[str, Any]) -> None:
        folder.mkdir(parents=True, mode=0o700)
        for name in (FRAMES, AUDIO):
            (folder / name).mkdir(mode=0o700)
        self.folder = folder
        self._manifest = {"format": SESSION_FORMAT, **manifest, "state": "recording"}
        self._save_manifest()
        self._count = 0
        self._segment: int | None = None
        self._segment_ends_ns = 0

    def append(self, event: Event, content: bytes = b"") -> None:
        """Store one event; `content` is a frame's picture or a chunk's samples."""
        if content:
            path = content_path(self.folder, {"kind": event.kind, "t_ns": event.t_ns, **event.data})
            assert path is not None, f"an event {event.kind} has no content"
            if not path.exists():
                aside = path.with_name(path.name + TEMPORARY_SUFFIX)
                aside.write_bytes(content)
                aside.replace(path)
        if self._segment is None or event.t_ns >= self._segment_ends_ns:
            self._open_segment(event.t_ns)
        assert self._segment is not None, "a segment is open"
        self._count += 1
        write_bytes(self._segment, _line({"seq": self._count, **event.to_json()}))

    def sync(self) -> None:
        """Flush everything to the disk."""
        if self._segment is not None:
            sync_data(self._segment)

    def forget(self, begin_ns: int, end_ns: int) -> None:
        """Remove a stretch from the disk and store a gap in its place."""
        self._close_segment()
        remove_stretch(self.folder, Removal(begin_ns, end_ns, "forgotten"))

    def finish(self, outcome: str | None) -> None:
        """End the session."""
        self.sync()
        self._close_segment()
        self._manifest |= {"state": "finished", "outcome": outcome}
        self._save_manifest()

    def _open_segment(self, t_ns: int) -> None:
        self.sync()
        self._close_segment()
        path = _segment_path(self.folder, len(_segments(self.folder)) + 1)
        self._segment = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | OPEN_FLAGS, 0o600)
        self._segment_ends_ns = t_ns + SEGMENT_NS

    def _close_segment(self) -> None:
        if self._segment is not None:
            os.close(self._segment)
            self._segment = None

    def _save_manifest(self) -> None:
        write_whole(self.folder / MANIFEST, json.dumps(self._manifest, ensure_ascii=False, indent=1).encode())


@dataclass(frozen=True)
class Session:
    """A loaded session."""

    folder: Path
    manifest: dict[str, Any]
    events: tuple[dict[str, Any], ...]
    """In the order of time."""
    speech: dict[str, Any] | None = None
    """The last transcription: `engine`, `language` and `words`."""

    @property
    def id(self) -> str:
        """Its UUID."""
        return str(self.manifest["id"])


@contextmanager
def lock_session(folder: Path) -> Iterator[None]:
    """Let one command at a time transcribe, cut, upload or delete a session.

    Raises RecorderError with `no_session`, or `session_busy` if another command works on it.
    """
    _read_manifest(folder)
    try:
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | OPEN_FLAGS, 0o600)
    except FileNotFoundError:
        raise RecorderError("no_session", f"There is no session {folder.name}.") from None
    try:
        if not try_lock(descriptor):
            raise RecorderError("session_busy", "Another command works on this session. Try again after it.")
        yield
    finally:
        os.close(descriptor)
        if not (folder / MANIFEST).exists():  # it was deleted; Windows keeps an open file
            shutil.rmtree(folder, ignore_errors=True)


def view_session(folder: Path) -> Session:
    """Load a session for display. Unlike `open_session` it waits for no command and changes nothing while one runs.

    Raises RecorderError with `no_session` or `session_damaged`.
    """
    try:
        with lock_session(folder):
            return open_session(folder)
    except RecorderError as error:
        if error.code != "session_busy":
            raise
    return _read_session(folder, _read_manifest(folder))


def open_session(folder: Path) -> Session:
    """Load a session that is not being recorded. An interrupted session is repaired and marked `crashed`. Hold its lock
    (`lock_session`) if other commands may run.

    Raises RecorderError with `no_session` or `session_damaged`.
    """
    manifest = _read_manifest(folder)
    for path in folder.rglob(f"*{TEMPORARY_SUFFIX}"):
        path.unlink()
    if (folder / REMOVAL).exists():
        removal = json.loads((folder / REMOVAL).read_text())
        remove_stretch(folder, Removal(**removal))
    if manifest["state"] == "recording":
        manifest |= {"state": "crashed", "outcome": None}
        write_whole(folder / MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=1).encode())
    return _read_session(folder, manifest)


def _read_session(folder: Path, manifest: dict[str, Any]) -> Session:
    transcripts = speech_paths(folder)
    speech = json.loads(transcripts[-1].read_bytes()) if transcripts else None
    return Session(folder, manifest, tuple(_read_events(folder)), speech)


def remove_stretch(folder: Path, removal: Removal) -> None:
    """Remove the events and frames of a stretch. After a crash on the way, `open_session` completes the removal."""
    write_whole(folder / REMOVAL, json.dumps(vars(removal)).encode())
    kept_files: set[Path | None] = set()
    for path in _segments(folder):
        events = list(_segment_events(path))
        kept = [one for one in events if not _is_removed(one, removal)]
        kept_files |= {content_path(folder, one) for one in kept}
        if len(kept) != len(events):
            write_whole(path, b"".join(map(_line, kept)))
    for file in _content_files(folder):
        if file not in kept_files:
            file.unlink()
    for path in speech_paths(folder):
        _remove_words(path, removal)
    gap = [{"seq": 0, **one.to_json()} for one in gap_events(removal.begin_ns, removal.end_ns, removal.reason)]
    if not any(one == gap[0] for path in _segments(folder) for one in _segment_events(path)):
        write_whole(_segment_path(folder, len(_segments(folder)) + 1), b"".join(map(_line, gap)))
    (folder / REMOVAL).unlink()


def delete_session(folder: Path) -> None:
    """Delete a session and all its files. Raises RecorderError with `no_session`."""
    _read_manifest(folder)
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name not in (LOCK, MANIFEST):
            path.unlink()
    (folder / MANIFEST).unlink()  # last, so that an interrupted deletion can be repeated
    shutil.rmtree(folder, ignore_errors=sys.platform == "win32")  # a locked file goes when the lock is released


def content_path(folder: Path, event: Mapping[str, Any]) -> Path | None:
    """The file that belongs to an event: a frame's picture or a chunk's samples."""
    match event["kind"]:
        case "screen.frame":
            return folder / FRAMES / f"{event['sha256']}.jpg"
        case "audio.chunk":
            return folder / AUDIO / f"{event['t_ns']}.pcm"
    return None


def speech_paths(folder: Path) -> list[Path]:
    """The transcriptions of a session, the last one at the end."""
    return sorted(folder.glob("speech-*.json"))


def word_span(word: Mapping[str, Any]) -> tuple[int, int]:
    """When a word of a transcript was spoken: the whole piece if its time within the piece is unknown."""
    begin_ns, end_ns = word.get("piece_ns") or (word["t_ns"], word["end_ns"])
    return begin_ns, max(end_ns, begin_ns + SHORTEST_WORD_NS)


def is_said_within(word: Mapping[str, Any], begin_ns: int, end_ns: int) -> bool:
    """Whether part of the word may have been spoken in this stretch."""
    word_begin_ns, word_end_ns = word_span(word)
    return begin_ns < word_end_ns and word_begin_ns < end_ns


def _remove_words(path: Path, removal: Removal) -> None:
    transcript = json.loads(path.read_bytes())
    words = [one for one in transcript["words"] if not is_said_within(one, removal.begin_ns, removal.end_ns)]
    if len(words) != len(transcript["words"]):
        write_whole(path, json.dumps({**transcript, "words": words}, ensure_ascii=False).encode())


def _content_files(folder: Path) -> Iterator[Path]:
    for name in (FRAMES, AUDIO):
        if (folder / name).exists():
            yield from (folder / name).iterdir()


def _is_removed(event: dict[str, Any], removal: Removal) -> bool:
    if event["kind"] in STRUCTURE_KINDS:
        return False
    end_ns = event["t_ns"] + max(1, event.get("duration_ns", 0))
    return bool(removal.begin_ns < end_ns and event["t_ns"] < removal.end_ns)


def _read_manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise RecorderError("no_session", f"There is no session {folder.name}.") from None
    except ValueError:
        manifest = None
    if not isinstance(manifest, dict) or manifest.get("format") != SESSION_FORMAT:
        raise RecorderError("session_damaged", f"The manifest of session {folder.name} cannot be read.")
    return manifest


def _read_events(folder: Path) -> list[dict[str, Any]]:
    events = [event for path in _segments(folder) for event in _segment_events(path)]
    present = {None, *_content_files(folder)}
    whole = [one for one in events if content_path(folder, one) in present]
    return sorted(whole, key=lambda event: int(event["t_ns"]))


def _segment_events(path: Path) -> Iterator[dict[str, Any]]:
    """The events of a segment, without a last line that a crash truncated."""
    for line in path.read_bytes().split(b"\n"):
        if line:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict):
                yield event


def _segments(folder: Path) -> list[Path]:
    return sorted(folder.glob("events-*.jsonl"))


def _segment_path(folder: Path, number: int) -> Path:
    return folder / f"events-{number:05}.jsonl"


def _line(event: dict[str, Any]) -> bytes:
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
