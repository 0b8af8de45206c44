"""Words, and the port behind which a speech engine stands."""

import io
import wave
from dataclasses import dataclass
from typing import Protocol

from ..audio.assembly import RATE, SAMPLE_BYTES


@dataclass(frozen=True)
class SpokenWord:
    """One word of a piece of sound: seconds from the piece's begin, and a score of 0 to 1 where the engine has one."""

    begin_s: float
    end_s: float
    text: str
    score: float | None = None


class SpeechEngine(Protocol):
    """Turns a piece of sound of at most half a minute into words."""

    name: str
    """Of the engine and its model; stored beside the words."""

    def transcribe(self, samples: bytes, language: str) -> list[SpokenWord]:
        """The words in order. `samples` are 16-bit, 16 kHz, one channel. Raises RecorderError."""


def to_wav(samples: bytes) -> bytes:
    """A WAV file of the samples."""
    output = io.BytesIO()
    with wave.open(output, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(SAMPLE_BYTES)
        file.setframerate(RATE)
        file.writeframes(samples)
    return output.getvalue()


def seconds_of(samples: bytes) -> float:
    """How long the samples last."""
    return len(samples) / (RATE * SAMPLE_BYTES)


def spread_words(text: str, begin_s: float, end_s: float) -> list[SpokenWord]:
    """Words whose times nobody knows, spread over a stretch by their length."""
    words = text.split()
    total = sum(len(word) + 1 for word in words)
    spread: list[SpokenWord] = []
    for word in words:
        ends_s = begin_s + (end_s - begin_s) * (len(word) + 1) / total if total else end_s
        spread.append(SpokenWord(begin_s, ends_s, word))
        begin_s, total = ends_s, total - len(word) - 1
    return spread
