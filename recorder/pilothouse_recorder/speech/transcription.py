"""Transcribes a session and stores the words beside its sound. Each transcription has its own file; none is
overwritten.
"""

import json
from collections.abc import Iterator
from typing import Any

from ..audio.assembly import Chunk
from ..errors import RecorderError
from ..sessions import Session, content_path, is_said_within, speech_paths, write_whole
from .activity import Detector, Piece, find_speech, join_chunks
from .word_times import WordTimer
from .words import SpeechEngine, SpokenWord, clean_words


def transcribe_session(
    session: Session, engine: SpeechEngine, language: str, *, detector: Detector, timer: WordTimer | None
) -> dict[str, Any]:
    """Transcribe a session's voice and store the words. Returns the number of pieces and words. Hold the session's
    lock.

    Words whose sound was removed meanwhile are not stored. Raises RecorderError with `no_voice`, and the engine's
    errors.
    """
    chunks = list(_chunks(session))
    if not chunks:
        raise RecorderError("no_voice", f"Session {session.id} holds no voice.")
    pieces = [piece for stretch in join_chunks(chunks) for piece in find_speech(stretch, detector)]
    words: list[dict[str, Any]] = []
    timed = 0
    for piece in pieces:
        found = clean_words(engine.transcribe(piece.samples, language))
        exact = timer.time_words(piece.samples, found) if timer is not None and found else None
        timed += exact is not None
        source = "alignment" if exact is not None else "engine"
        words += [_entry(piece, word, source) for word in exact or found]
    words = _words_with_sound(session, words)
    transcript = {"engine": engine.name, "language": language, "words": sorted(words, key=lambda one: int(one["t_ns"]))}
    paths = speech_paths(session.folder)
    path = session.folder / f"speech-{len(paths) + 1:05}.json"
    write_whole(path, json.dumps(transcript, ensure_ascii=False).encode())
    return {
        "session": session.id,
        "engine": engine.name,
        "pieces": len(pieces),
        "pieces_aligned": timed,
        "words": len(words),
    }


def _words_with_sound(session: Session, words: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The words, without those whose chunks were removed since the session was read."""
    removed = [
        (event["t_ns"], event["t_ns"] + event["duration_ns"])
        for event in session.events
        if (path := content_path(session.folder, event)) and event["kind"] == "audio.chunk" and not path.exists()
    ]
    return [word for word in words if not any(is_said_within(word, begin_ns, end_ns) for begin_ns, end_ns in removed)]


def _chunks(session: Session) -> Iterator[Chunk]:
    for event in session.events:
        if event["kind"] == "audio.chunk":
            path = content_path(session.folder, event)
            assert path is not None, "a chunk has its samples"
            yield Chunk(path.read_bytes(), event["t_ns"], event["t_error_ns"])


def _entry(piece: Piece, word: SpokenWord, timed_by: str) -> dict[str, Any]:
    begin_s = piece.clamp(word.begin_s)
    end_s = max(begin_s, piece.clamp(word.end_s))
    entry = {"t_ns": piece.time_at(begin_s), "end_ns": piece.time_at(end_s), "text": word.text, "timed_by": timed_by}
    if word.is_spread and timed_by == "engine":
        whole = piece.stretch.time_at(piece.begin), piece.stretch.time_at(piece.end)
        entry |= {"timed_by": "spread", "piece_ns": list(whole)}
    return entry if word.score is None else {**entry, "score": round(word.score, 3)}
