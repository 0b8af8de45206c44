"""Exact times of English words with known text: forced alignment by PocketSphinx.

An engine's own word times are off by tenths of a second; a forced alignment is off by hundredths.
"""

import importlib.util
import re
from dataclasses import replace
from typing import Any, Protocol

from .words import SpokenWord

FRAMES_PER_SECOND = 100
NUMBERS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
TOKEN = re.compile(r"[a-z']+|\d+")


class WordTimer(Protocol):
    """Improves the times of words."""

    def time_words(self, samples: bytes, words: list[SpokenWord]) -> list[SpokenWord] | None:
        """The same words with times, or None if this piece cannot be timed."""


class SphinxTimer:
    """Aligns with PocketSphinx's English model and its dictionary."""

    def __init__(self) -> None:
        from pocketsphinx import Decoder

        self._decoder: Any = Decoder(samprate=16_000, bestpath=False, loglevel="FATAL")

    def time_words(self, samples: bytes, words: list[SpokenWord]) -> list[SpokenWord] | None:
        """Returns None if a word is not in the dictionary, or the words do not fit the sound."""
        spoken = [spell_word(word.text) for word in words]
        tokens = [token for one in spoken for token in one]
        if not tokens or any(self._decoder.lookup_word(token) is None for token in tokens):
            return None
        self._decoder.set_align_text(" ".join(tokens))
        self._decoder.start_utt()
        self._decoder.process_raw(samples, full_utt=True)
        self._decoder.end_utt()
        found = [one for one in self._decoder.seg() or () if one.word[0] not in "<["]
        if len(found) != len(tokens):
            return None
        timed: list[SpokenWord] = []
        for word, part in zip(words, spoken, strict=True):
            own, found = found[: len(part)], found[len(part) :]
            if own:
                begin, end = own[0].start_frame, own[-1].end_frame + 1
                timed.append(replace(word, begin_s=begin / FRAMES_PER_SECOND, end_s=end / FRAMES_PER_SECOND))
            else:
                moment = timed[-1].end_s if timed else 0.0
                timed.append(replace(word, begin_s=moment, end_s=moment))
        return timed


def find_timer(language: str) -> WordTimer | None:
    """The timer for a language, or None if no installed timer supports it."""
    if language != "en" or importlib.util.find_spec("pocketsphinx") is None:
        return None
    return SphinxTimer()


def spell_word(text: str) -> list[str]:
    """A written word as spoken words: `42,` is `forty two`."""
    return [said for token in TOKEN.findall(text.lower().replace("’", "'")) for said in _spell(token)]


def _spell(token: str) -> list[str]:
    if not token.isdigit():
        return [token.strip("'")] if token.strip("'") else []
    number = int(token)
    if number < len(NUMBERS):
        return [NUMBERS[number]]
    if number < 100:
        tens, ones = divmod(number, 10)
        return [TENS[tens - 2], *([NUMBERS[ones]] if ones else [])]
    return [NUMBERS[int(digit)] for digit in token]
