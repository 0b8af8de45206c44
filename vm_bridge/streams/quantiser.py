"""How coarsely a picture may be drawn so that it fits what may be sent: a pure model of the encoder, and a bucket."""

import numpy as np
import numpy.typing as npt

FINEST, COARSEST, OVERDRAWN = 20, 51, 63
"""Finer than the first nobody sees; the second is the coarsest there is. Beyond it x264 leaves details out as well:
that is for pictures after others that were too large."""
SHARP_LIMIT = 26
"""Text drawn coarser than this looks soft."""
FLAT_BITS, BITS_OF_DETAIL = 0.06, 0.155
"""Of a pixel that changed, at BEST: without any detail, and for each grey level from one pixel to the next. Measured of
text, windows, gradients, photographs and noise, where the model is right within a fifth and rather high."""
NO_BITS = 54
"""Bits go down to nearly none in a straight line to this quantiser."""
DETAIL_ROW_STEP = 16
"""Detail is measured in every so many rows."""
REFINE_STEP = 3
"""Steps by which what was drawn coarsely is drawn again."""
MIN_CORRECTION, MAX_CORRECTION = 0.35, 1.5
"""Between what shares of the model real sizes are believed to stay: below the first a cut would burst."""

Luma = npt.NDArray[np.uint8]


def measure_detail(luma: Luma) -> float:
    """Mean difference of neighbouring pixels in a row (grey levels)."""
    rows = luma[::DETAIL_ROW_STEP].astype(np.int16)
    return float(np.abs(rows[:, 1:] - rows[:, :-1]).mean()) if rows.shape[1] > 1 else 0.0


def estimate_bytes(pixels: int, detailed: float, quantiser: int) -> float:
    """The size of a picture in which so many pixels changed."""
    fineness = max(0.0, NO_BITS - quantiser) / (NO_BITS - FINEST)
    return pixels * (FLAT_BITS + BITS_OF_DETAIL * detailed * fineness) / 8


def finest_quantiser(pixels: int, detailed: float, most: float) -> int:
    """The finest with which they take at most so many bytes."""
    return next((q for q in range(FINEST, COARSEST) if estimate_bytes(pixels, detailed, q) <= most), COARSEST)


class TokenBucket:
    """What may be sent at once: fills with time, up to what the rate gives in so many seconds (bytes)."""

    def __init__(self, seconds: float) -> None:
        self.burst = self.level = 0.0
        self._seconds = seconds
        self._at: float | None = None

    def fill(self, at: float, rate: float) -> None:
        """Until a moment (seconds), at so many bytes a second."""
        self.burst = rate * self._seconds
        gained = self.burst if self._at is None else max(0.0, at - self._at) * rate
        self.level, self._at = min(self.burst, self.level + gained), at

    def take(self, size: int) -> None:
        """What was sent; more than there was is owed."""
        self.level -= size


class Quantiser:
    """Chooses a picture's quantiser, and learns from what became of it."""

    def __init__(self, seconds: float) -> None:
        """What may be sent at once is what may be sent in so many seconds."""
        self.bucket = TokenBucket(seconds)
        self.last = FINEST
        self._correction = 1.0
        """By how much real sizes differ from the model of late: what moves is cheaper than what is new."""
        self._expected = 0.0

    def choose(self, changed: Luma, at: float, rate: float) -> int:
        """For a picture of which that part changed, at a moment (seconds) and a rate (bytes a second)."""
        self.bucket.fill(at, rate)
        most = max(self.bucket.level, self.bucket.burst / 16)
        pixels = changed.size
        if estimate_bytes(pixels, 64.0, FINEST) <= most:
            detailed, fitting = 64.0, FINEST
        else:
            detailed = measure_detail(changed)
            fitting = finest_quantiser(pixels, detailed, most / self._correction)
            if fitting == COARSEST and self.bucket.level < 0:
                fitting = OVERDRAWN
        # The rest of a picture that was drawn coarsely becomes finer with it, so that goes by steps.
        ready = REFINE_STEP if self.bucket.level > self.bucket.burst / 2 else 0
        self.last = max(fitting, self.last - ready)
        self._expected = estimate_bytes(pixels, detailed, self.last) if fitting > FINEST else 0.0
        return self.last

    def record_size(self, size: int) -> None:
        """The picture has so many bytes."""
        self.bucket.take(size)
        if self._expected:
            share = size / self._expected
            self._correction = min(MAX_CORRECTION, max(MIN_CORRECTION, (self._correction + share) / 2))
