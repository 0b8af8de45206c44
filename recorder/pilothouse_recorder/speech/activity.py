"""Voice activity: finds the stretches of a session with speech.

Engines hear only these, because they invent words in silence and lose their place after it.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..audio.assembly import RATE, SAMPLE_BYTES, SAMPLE_NS, Chunk
from ..errors import RecorderError

FRAME_BYTES = RATE * 30 // 1_000 * SAMPLE_BYTES
AGGRESSIVENESS = 2
PAUSE_FRAMES = 15
"""A pause of 0.45 s ends a piece."""
SHORTEST_FRAMES = 4
"""Speech shorter than 0.12 s counts as noise."""
MARGIN_FRAMES = 5
"""Up to 0.15 s of sound before and after the speech belong to a piece."""
LONG_FRAMES, LONGEST_FRAMES = 700, 900
"""After 21 s any short pause ends a piece; after 27 s it ends without one. Whisper hears 30 s."""
CONTIGUOUS_NS = 100_000_000
"""Times of adjacent chunks differ by less than this if no sound is missing."""

Detector = Callable[[bytes], bool]
"""Whether a 30 ms frame has speech in it."""


@dataclass(frozen=True)
class Stretch:
    """Sound without a gap, with the times of some of its samples."""

    samples: bytes
    marks: tuple[tuple[int, int], ...]
    """Pairs of sample index and monotonic nanoseconds, in order."""

    def time_at(self, sample: int) -> int:
        """The monotonic time of a sample."""
        known, t_ns = self.marks[max(0, bisect_right(self.marks, sample, key=lambda mark: mark[0]) - 1)]
        return t_ns + (sample - known) * SAMPLE_NS


@dataclass(frozen=True)
class Piece:
    """A piece of a stretch with speech and a short margin: its first and last sample, and where the speech begins and
    ends."""

    stretch: Stretch
    begin: int
    end: int
    voice_begin: int
    voice_end: int

    @property
    def samples(self) -> bytes:
        """The piece's samples."""
        return self.stretch.samples[self.begin * SAMPLE_BYTES : self.end * SAMPLE_BYTES]

    def time_at(self, seconds: float) -> int:
        """The monotonic time of a moment of the piece."""
        return self.stretch.time_at(self.begin + round(seconds * RATE))

    def clamp(self, seconds: float) -> float:
        """The moment, clamped to the speech."""
        begin_s, end_s = (self.voice_begin - self.begin) / RATE, (self.voice_end - self.begin) / RATE
        return min(max(seconds, begin_s), end_s)


def join_chunks(chunks: Iterable[Chunk]) -> Iterator[Stretch]:
    """Join chunks in order of time into stretches without gaps."""
    samples, marks, ends_ns = bytearray(), list[tuple[int, int]](), 0
    for chunk in chunks:
        if marks and abs(chunk.t_ns - ends_ns) > CONTIGUOUS_NS:
            yield Stretch(bytes(samples), tuple(marks))
            samples, marks = bytearray(), []
        marks.append((len(samples) // SAMPLE_BYTES, chunk.t_ns))
        samples += chunk.samples
        ends_ns = chunk.t_ns + chunk.duration_ns
    if marks:
        yield Stretch(bytes(samples), tuple(marks))


def find_detector() -> Detector:
    """The WebRTC voice activity detector. Raises RecorderError with `no_speech_engine` if it is not installed."""
    try:
        from webrtcvad import Vad
    except ModuleNotFoundError:
        raise RecorderError("no_speech_engine", "webrtcvad-wheels is not installed.") from None
    detector = Vad(AGGRESSIVENESS)
    return lambda frame: bool(detector.is_speech(frame, RATE))


def find_speech(stretch: Stretch, detector: Detector) -> Iterator[Piece]:
    """The pieces with speech, in order. Pieces never overlap: a word would be transcribed twice."""
    count = len(stretch.samples) // FRAME_BYTES
    voiced = [detector(stretch.samples[place * FRAME_BYTES : (place + 1) * FRAME_BYTES]) for place in range(count)]
    runs = list(find_runs(voiced))
    for place, (first, last) in enumerate(runs):
        previous = runs[place - 1][1] if place else -MARGIN_FRAMES
        following = runs[place + 1][0] if place + 1 < len(runs) else count + MARGIN_FRAMES
        before, after = min(MARGIN_FRAMES, (first - previous) // 2), min(MARGIN_FRAMES, (following - last) // 2)
        yield Piece(
            stretch,
            _sample(max(0, first - before)),
            _sample(min(count, last + after)),
            _sample(first),
            _sample(last),
        )


def find_runs(voiced: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Runs of voiced frames as half-open ranges. Short pauses do not end a run."""
    first = last = None
    for place, is_voiced in enumerate([*voiced, *[False] * PAUSE_FRAMES]):
        if is_voiced:
            first = place if first is None else first
            last = place + 1
        if first is None or last is None:
            continue
        pause, length = place + 1 - last, place + 1 - first
        if pause >= PAUSE_FRAMES or (length >= LONG_FRAMES and pause >= 2) or length >= LONGEST_FRAMES:
            if last - first >= SHORTEST_FRAMES:
                yield first, last
            first = last = None


def _sample(frame: int) -> int:
    return frame * FRAME_BYTES // SAMPLE_BYTES
