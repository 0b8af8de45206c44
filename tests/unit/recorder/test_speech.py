"""Voice becomes words: pieces with speech, a transcription server, words that keep their own file."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from recorder.pilothouse_recorder.audio.assembly import RATE, SAMPLE_BYTES, Chunk
from recorder.pilothouse_recorder.clocks import SECOND
from recorder.pilothouse_recorder.errors import RecorderError
from recorder.pilothouse_recorder.events import Event
from recorder.pilothouse_recorder.packing import needed_events
from recorder.pilothouse_recorder.review import cut, summarize
from recorder.pilothouse_recorder.sessions import Session, SessionWriter, open_session
from recorder.pilothouse_recorder.speech.activity import LONGEST_FRAMES, find_runs, find_speech, join_chunks
from recorder.pilothouse_recorder.speech.engines import (
    ServerEngine,
    SphinxEngine,
    WhisperEngine,
    find_engine,
    read_answer,
)
from recorder.pilothouse_recorder.speech.transcription import transcribe_session
from recorder.pilothouse_recorder.speech.word_times import spell_word
from recorder.pilothouse_recorder.speech.words import SpokenWord, spread_words

ID = "6d3a1c52-7d0e-4c47-9f0f-4e3c0d7b6a11"
HALF = RATE // 2
LOUD, QUIET = b"\0\x40", b"\0\0"


def is_loud(frame: bytes) -> bool:
    return any(frame)


def seconds(*parts: tuple[float, bytes]) -> bytes:
    return b"".join(sample * round(RATE * length) for length, sample in parts)


def chunks(samples: bytes, begin_ns: int = 0) -> list[Chunk]:
    size = HALF * SAMPLE_BYTES
    return [
        Chunk(samples[at : at + size], begin_ns + at // size * SECOND // 2, 0) for at in range(0, len(samples), size)
    ]


def test_pieces_have_speech_and_a_margin_and_their_own_time() -> None:
    samples = seconds((2, QUIET), (0.9, LOUD), (0.3, QUIET), (0.6, LOUD), (3, QUIET), (0.03, LOUD), (1.17, QUIET))
    (stretch,) = join_chunks(chunks(samples, 5 * SECOND))
    (piece,) = find_speech(stretch, is_loud)
    assert abs(piece.time_at(piece.clamp(0)) - 7 * SECOND) <= 0.03 * SECOND
    assert abs(piece.time_at(piece.clamp(99)) - 8.8 * SECOND) <= 0.06 * SECOND
    assert abs(len(piece.samples) / SAMPLE_BYTES / RATE - 2.1) <= 0.06


def test_a_gap_parts_stretches_and_drift_does_not() -> None:
    first, second = chunks(seconds((1, LOUD))), chunks(seconds((1, LOUD)), SECOND + SECOND // 1_000)
    (stretch,) = join_chunks([*first, *second])
    assert stretch.time_at(RATE) == SECOND + SECOND // 1_000
    assert len(list(join_chunks([*first, *chunks(seconds((1, LOUD)), 3 * SECOND)]))) == 2


def test_speech_without_a_pause_is_cut_before_it_is_too_long() -> None:
    assert [last - first for first, last in find_runs([True] * 2_000)] == [LONGEST_FRAMES, LONGEST_FRAMES, 200]
    with_breath = [True] * 750 + [False] * 3 + [True] * 100
    assert [last - first for first, last in find_runs(with_breath)] == [750, 100]


def test_pieces_of_speech_without_a_pause_do_not_overlap() -> None:
    (stretch,) = join_chunks(chunks(seconds((30, LOUD), (1, QUIET), (23, LOUD), (0.09, QUIET), (3, LOUD))))
    pieces = list(find_speech(stretch, is_loud))
    assert len(pieces) == 4
    assert all(one.end <= following.begin for one, following in pairwise(pieces))


def test_engines_that_know_english_only_refuse_other_languages() -> None:
    engine = WhisperEngine.__new__(WhisperEngine)
    engine.name, engine._model = "faster-whisper/tiny.en", SimpleNamespace(model=SimpleNamespace(is_multilingual=False))
    with pytest.raises(RecorderError) as caught:
        engine.transcribe(b"", "zh")
    assert caught.value.code == "language_unknown"


class Deaf:
    """A decoder that found no words."""

    def start_utt(self) -> None: ...
    def process_raw(self, samples: bytes, *, full_utt: bool) -> None: ...
    def end_utt(self) -> None: ...
    def seg(self) -> None: ...


def test_pocketsphinx_may_hear_nothing() -> None:
    engine = SphinxEngine.__new__(SphinxEngine)
    engine._decoder = Deaf()
    assert engine.transcribe(b"", "en") == []


class Transcriber(BaseHTTPRequestHandler):
    """An OpenAI-compatible transcription server."""

    answer: ClassVar[dict[str, Any]] = {}
    status: ClassVar[int] = 200
    requests: ClassVar[list[tuple[str, str, bytes]]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.requests.append((self.path, self.headers["Authorization"], body))
        content = json.dumps(self.answer).encode()
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Stay quiet."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(Transcriber, "requests", [])
    http = HTTPServer(("127.0.0.1", 0), Transcriber)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{http.server_port}/v1"
    http.shutdown()
    thread.join()
    http.server_close()


@pytest.fixture
def session(tmp_path: Path) -> Session:
    writer = SessionWriter(tmp_path / ID, {"id": ID, "instruction": "x", "clock": {"monotonic_ns": 0}})
    for one in chunks(seconds((1, QUIET), (1.2, LOUD), (1, QUIET), (0.9, LOUD), (0.9, QUIET))):
        data = {"duration_ns": one.duration_ns, "rate": RATE}
        writer.append(Event("audio.chunk", one.t_ns, "capture", 0, data), one.samples)
    writer.finish(None)
    return open_session(tmp_path / ID)


def test_a_server_transcribes_piece_by_piece(server: str, session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PILOTHOUSE_SPEECH_KEY", "sesame")
    words = [{"word": " 打开", "start": 0.2, "end": 0.5}, {"word": "菜单", "start": 0.5, "end": 44.0}]
    monkeypatch.setattr(Transcriber, "answer", {"text": "打开菜单", "words": words})
    engine = find_engine("auto", url=server, model="whisper-1", weights=None)
    counts = transcribe_session(session, engine, "zh", detector=is_loud, timer=None)
    assert (counts["pieces"], counts["words"], counts["engine"]) == (2, 4, "server/whisper-1")
    path, authorization, body = Transcriber.requests[0]
    assert (path, authorization) == ("/v1/audio/transcriptions", "Bearer sesame")
    for expected in (b"whisper-1", b"zh", b"verbose_json", b"RIFF"):
        assert expected in body
    speech = open_session(session.folder).speech
    assert speech is not None
    assert [word["text"] for word in speech["words"]] == ["打开", "菜单"] * 2
    assert all(1.0 <= word["t_ns"] / SECOND <= word["end_ns"] / SECOND <= 2.3 for word in speech["words"][:2])


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ({"text": "a bc"}, [("a", 0.0), ("bc", 0.8)]),
        ({"text": "x", "segments": [{"text": " a", "start": 1, "end": 1.5}]}, [("a", 1.0)]),
        ({"words": [], "text": ""}, []),
    ],
)
def test_answers_without_times_of_words_are_spread(answer: dict[str, Any], found: list[tuple[str, float]]) -> None:
    words = read_answer(json.dumps(answer).encode(), seconds((2, QUIET)))
    assert [(word.text, round(word.begin_s, 3)) for word in words] == found


@pytest.mark.parametrize(
    ("text", "heard", "words"),
    [
        (
            "打开菜单。然后点Save按钮，好吗？",
            "打开 菜单 然后 点 Save 按钮 好吗",
            "打开 菜单。 然后 点 Save 按钮， 好吗？",
        ),
        ("打开。打开！", "打 开 打 开", "打 开。 打 开！"),
        ("It costs 13.60, okay. Next", "It costs 13.60 okay Next", "It costs 13.60, okay. Next"),
        ("Dr. Who. Yes", "Dr. Who Yes", "Dr. Who. Yes"),
        ("something else", "打开", "打开"),
        ("", "打开 菜单", "打开 菜单"),
    ],
)
def test_words_get_the_punctuation_of_the_text(text: str, heard: str, words: str) -> None:
    said = [{"word": word, "start": place / 10, "end": place / 10 + 0.1} for place, word in enumerate(heard.split())]
    found = read_answer(json.dumps({"text": text, "words": said}).encode(), seconds((2, QUIET)))
    assert " ".join(one.text for one in found) == words
    assert [round(one.begin_s, 3) for one in found] == [one["start"] for one in said]


@pytest.mark.parametrize("answer", [b"", b"[]", b"{}", b'{"words": [{"word": "a", "start": NaN, "end": 1}]}'])
def test_an_answer_without_words_has_a_code(answer: bytes) -> None:
    with pytest.raises(RecorderError) as caught:
        read_answer(answer, b"\0\0")
    assert caught.value.code == "bad_answer"


def test_a_server_that_fails_stores_nothing(server: str, session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Transcriber, "status", 500)
    with pytest.raises(RecorderError) as caught:
        transcribe_session(session, ServerEngine(server, "m"), "en", detector=is_loud, timer=None)
    assert caught.value.code == "server_failed"
    assert open_session(session.folder).speech is None


class Fixed:
    """An engine that always hears the same."""

    def __init__(self, *texts: str) -> None:
        self.name, self.texts = "fixed", texts

    def transcribe(self, samples: bytes, language: str) -> list[SpokenWord]:
        return [SpokenWord(0.2 + place / 10, 0.3 + place / 10, text) for place, text in enumerate(self.texts)]


class Timer:
    """Knows when each word begins, where there are two."""

    def time_words(self, samples: bytes, words: list[SpokenWord]) -> list[SpokenWord] | None:
        return [SpokenWord(0.5, 0.6, one.text) for one in words] if len(words) == 2 else None


def test_a_transcription_overwrites_no_other_and_is_timed_where_it_can_be(session: Session) -> None:
    transcribe_session(session, Fixed("one"), "en", detector=is_loud, timer=Timer())
    transcribe_session(session, Fixed("two", "words"), "en", detector=is_loud, timer=Timer())
    first, second = (json.loads(path.read_text()) for path in sorted(session.folder.glob("speech-*")))
    assert [word["timed_by"] for word in first["words"]] == ["engine"] * 2
    assert [word["timed_by"] for word in second["words"]] == ["alignment"] * 4
    assert open_session(session.folder).speech == second


def test_a_cut_removes_the_words_that_were_said_then(session: Session) -> None:
    transcribe_session(session, Fixed("canary"), "en", detector=is_loud, timer=None)
    said = summarize(open_session(session.folder)).said
    assert [one.text for one in said] == ["canary", "canary"]
    cut(open_session(session.folder), said[0].begin, said[0].end)
    again = open_session(session.folder)
    assert again.speech is not None
    assert [word["t_ns"] // SECOND for word in again.speech["words"]] == [3]
    assert not [one for one in needed_events(again.events) if one["kind"] == "audio.chunk"], "sound is not uploaded"


def test_a_session_without_voice_has_no_words(tmp_path: Path) -> None:
    SessionWriter(tmp_path / ID, {"id": ID, "instruction": "x", "clock": {"monotonic_ns": 0}}).finish(None)
    with pytest.raises(RecorderError) as caught:
        transcribe_session(open_session(tmp_path / ID), Fixed(), "en", detector=is_loud, timer=None)
    assert caught.value.code == "no_voice"


def test_written_words_are_spelled_as_they_are_said() -> None:
    said = [spell_word(text) for text in ("Save,", "I’ll", "42.", "7", "305", "—")]
    assert said == [["save"], ["i'll"], ["forty", "two"], ["seven"], ["three", "zero", "five"], []]


def test_text_without_spaces_is_spread_by_character() -> None:
    assert [word.text for word in spread_words("打开 Save菜单，好。", 0.0, 1.0)] == [
        "打",
        "开",
        "Save",
        "菜",
        "单，",
        "好。",
    ]


def test_empty_and_long_words_do_not_reach_the_platform(session: Session) -> None:
    transcribe_session(session, Fixed("", " ", "x" * 900), "en", detector=is_loud, timer=None)
    speech = open_session(session.folder).speech
    assert speech is not None
    assert [word["text"] for word in speech["words"]] == ["x" * 200] * 2


class Instant:
    """An engine whose words have no length, as whole pieces or one by one."""

    name = "instant"

    def __init__(self, *, spread: bool) -> None:
        self._spread = spread

    def transcribe(self, samples: bytes, language: str) -> list[SpokenWord]:
        return [SpokenWord(0.6 + place / 9, 0.6 + place / 9, "canary", None, self._spread) for place in range(5)]


@pytest.mark.parametrize("spread", [False, True])
def test_a_cut_as_printed_leaves_no_word(session: Session, *, spread: bool) -> None:
    transcribe_session(session, Instant(spread=spread), "en", detector=is_loud, timer=None)
    while said := summarize(open_session(session.folder)).said:
        cut(open_session(session.folder), said[0].begin, said[0].end)
    speech = open_session(session.folder).speech
    assert speech is not None
    assert speech["words"] == []


def test_a_cut_in_words_without_times_removes_the_whole_piece(session: Session) -> None:
    transcribe_session(session, Instant(spread=True), "en", detector=is_loud, timer=None)
    cut(open_session(session.folder), 1.05, 1.06)
    speech = open_session(session.folder).speech
    assert speech is not None
    assert [word["t_ns"] // SECOND for word in speech["words"]] == [3, 3, 3, 3, 4]


def test_what_is_cut_while_it_is_transcribed_does_not_come_back(session: Session) -> None:
    class Cutting(Fixed):
        def transcribe(self, samples: bytes, language: str) -> list[SpokenWord]:
            if not summarize(open_session(session.folder)).gaps:
                cut(open_session(session.folder), 1.0, 2.3)
            return super().transcribe(samples, language)

    transcribe_session(session, Cutting("canary"), "en", detector=is_loud, timer=None)
    speech = open_session(session.folder).speech
    assert speech is not None
    assert [word["t_ns"] // SECOND for word in speech["words"]] == [3]


def test_words_are_spread_over_their_stretch_by_length() -> None:
    words = spread_words("a bcd", 1.0, 4.0)
    assert [(word.text, word.begin_s, word.end_s) for word in words] == [("a", 1.0, 2.0), ("bcd", 2.0, 4.0)]
