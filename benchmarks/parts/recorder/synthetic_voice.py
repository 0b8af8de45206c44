"""A synthetic voice whose words have known times: flite says when each phone ends."""

import shutil
import subprocess
import tempfile
import wave
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PAUSE = "pau"


@dataclass(frozen=True)
class SpokenText:
    """Samples (16 kHz, 16 bits, one channel), and each word with the seconds at which it begins and ends."""

    samples: bytes
    words: tuple[tuple[str, float, float], ...]


@cache
def speak(text: str, voice: str) -> SpokenText:
    """Say a text of plain lower-case words and commas."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "speech.wav"
        timed = _flite("-voice", voice, "-psdur", "-t", text, "-o", str(path)).split()
        with wave.open(str(path)) as file:
            samples = file.readframes(file.getnframes())
    ends = [(name, float(end)) for name, _, end in (one.rpartition(":") for one in timed)]
    phones = [(name, begin, end) for (name, end), begin in zip(ends, [0.0, *(end for _, end in ends)], strict=False)]
    spoken = [one for one in phones if one[0] != PAUSE]
    words = text.replace(",", " ").replace(".", " ").split()
    counts = [_phone_count(word, voice) for word in words]
    _fit(counts, words, [name for name, _, _ in spoken], voice)
    timed_words, place = [], 0
    for word, count in zip(words, counts, strict=True):
        timed_words.append((word, spoken[place][1], spoken[place + count - 1][2]))
        place += count
    return SpokenText(samples, tuple(timed_words))


def has_flite() -> bool:
    """Whether flite is installed."""
    return shutil.which("flite") is not None


def _fit(counts: list[int], words: list[str], names: list[str], voice: str) -> None:
    """Within a sentence a voice may say a word with another number of phones. Where the sum differs, the text is of no
    use: nobody knows which word it was. Raises ValueError."""
    if sum(counts) != len(names):
        raise ValueError(f"{voice} says {' '.join(words)!r} in {len(names)} phones, its words in {sum(counts)}")


@cache
def _phone_count(word: str, voice: str) -> int:
    return sum(name != PAUSE for name in _flite("-voice", voice, "-ps", "-t", word, "-o", "none").split())


def _flite(*arguments: str) -> str:
    return subprocess.run(["flite", *arguments], capture_output=True, text=True, check=True).stdout
