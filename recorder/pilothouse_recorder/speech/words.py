"""Words, and the interface of speech engines."""

import io
import re
import wave
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from ..audio.assembly import RATE, SAMPLE_BYTES

MAX_WORD_CHARACTERS = 200
CJK = r"\u3040-\u30ff\u3400-\u9fff"
MARKS = re.compile(r"[,.;:!?…，。；：！？、]+(?![^\W_])|[，。；：！？、…]+")
"""Punctuation that ends a word, as opposed to punctuation inside a number or a name."""
MAX_SKIPPED = 40
"""Maximum characters between two words in the text. A match farther away is a different place."""
CJK_WORD = re.compile(rf"[{CJK}][^{CJK}\w]*|[^{CJK}]+")


@dataclass(frozen=True)
class SpokenWord:
    """One word of a piece of sound: seconds from the start of the piece, and a score of 0 to 1 if the engine gives
    one."""

    begin_s: float
    end_s: float
    text: str
    score: float | None = None
    is_spread: bool = False
    """Whether the times are a guess within the piece."""


class SpeechEngine(Protocol):
    """Transcribes a piece of sound of at most half a minute."""

    name: str
    """Name of the engine and its model, stored beside the words."""

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


def split_words(text: str) -> list[str]:
    """The words of a text. Chinese and Japanese have no spaces: each character is a word, with the punctuation after
    it.
    """
    return [word for part in text.split() for word in CJK_WORD.findall(part)]


def punctuate_words(words: Iterable[SpokenWord], text: str) -> list[SpokenWord]:
    """Add the punctuation that follows each word in the text.

    Servers leave punctuation out of words, so sentences would not end. Words that are not in the text in this order
    stay unchanged.
    """
    place, punctuated = 0, []
    for word in words:
        found = text.find(word.text, place)
        if 0 <= found - place <= MAX_SKIPPED:
            place = found + len(word.text)
            marks = MARKS.match(text, place)
            if marks is not None and word.text[-1:].isalnum():
                word, place = replace(word, text=word.text + marks[0]), marks.end()
        punctuated.append(word)
    return punctuated


def clean_words(words: Iterable[SpokenWord]) -> list[SpokenWord]:
    """The words without empty ones. Words are truncated to the platform's limit."""
    return [replace(one, text=one.text.strip()[:MAX_WORD_CHARACTERS]) for one in words if one.text.strip()]


def spread_words(text: str, begin_s: float, end_s: float) -> list[SpokenWord]:
    """Distribute words without known times over a stretch by their length."""
    words = split_words(text)
    total = sum(len(word) + 1 for word in words)
    spread: list[SpokenWord] = []
    for word in words:
        ends_s = begin_s + (end_s - begin_s) * (len(word) + 1) / total if total else end_s
        spread.append(SpokenWord(begin_s, ends_s, word, is_spread=True))
        begin_s, total = ends_s, total - len(word) - 1
    return spread
