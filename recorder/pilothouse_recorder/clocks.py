"""One timeline: nanoseconds of a monotonic clock, and a server's milliseconds mapped onto it with a stated error."""

import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

MS = 1_000_000
"""Nanoseconds in a millisecond."""
SECOND = 1_000_000_000
WRAP = 1 << 32
"""The X server and Windows count milliseconds in 32 bits: 49.7 days."""
MAX_BACK_NS = 100 * MS
"""Largest backward correction by a new sample. A larger step means that a clock was set."""
SAMPLES_USED = 30
"""Samples that bound the offset together. The clocks may drift apart over a longer time."""

now_ns = time.perf_counter_ns if sys.platform == "win32" else time.monotonic_ns
"""The recorder's time. Windows' other monotonic clock steps by 16 ms in Python before 3.13."""


@dataclass(frozen=True)
class ClockSample:
    """The server's clock read `server_ms` at some time from `before_ns` to `after_ns` (monotonic)."""

    before_ns: int
    server_ms: int
    after_ns: int


@dataclass(frozen=True)
class Instant:
    """A monotonic time. The true time is at most `error_ns` away."""

    t_ns: int
    error_ns: int


class ServerClock:
    """Maps a server's times. Every sample bounds the offset between the clocks; all bounds hold together.

    Args:
        sample: The first sample.
        step_ns: Step of the server's clock: a millisecond on X11, 16 on Windows.
    """

    def __init__(self, sample: ClockSample, step_ns: int = MS) -> None:
        self._step_ns = step_ns
        self._reference_ms = sample.server_ms
        self._latest_ns = 0
        self._bounds: deque[tuple[int, int]] = deque(maxlen=SAMPLES_USED)
        self.add(sample)

    def add(self, sample: ClockSample) -> bool:
        """Add a sample. Returns False if it contradicts earlier samples: one of the clocks was set, and the mapping
        restarts from this sample.
        """
        server_ns = self._server_ns(sample.server_ms)
        self._bounds.append((sample.before_ns - server_ns - self._step_ns, sample.after_ns - server_ns))
        if self._low <= self._high:
            return True
        newest = self._bounds[-1]
        self._bounds.clear()
        self._bounds.append(newest)
        return False

    def at(self, server_ms: int) -> Instant:
        """The monotonic time of an event that the X server stamped with `server_ms`.

        Callers pass events in order, and results keep that order. If a new sample moves the mapping back, the time
        stays and its error grows.
        """
        t_ns = self._server_ns(server_ms) + self._low + self.error_ns
        back_ns = self._latest_ns - t_ns
        if not 0 < back_ns <= MAX_BACK_NS:
            back_ns = 0
        self._latest_ns = t_ns + back_ns
        return Instant(t_ns + back_ns, self.error_ns + back_ns)

    def add_until(self, take_sample: Callable[[], ClockSample], error_ns: int, limit: int) -> None:
        """Add samples until the error is small enough, at most `limit` of them.

        A single sample may be poor: on a busy machine its round trip can take a tenth of a second.
        """
        for _ in range(limit):
            if self.error_ns <= error_ns:
                return
            self.add(take_sample())

    @property
    def error_ns(self) -> int:
        """Largest error of a mapped time: half of the range that the bounds leave, plus half a step."""
        return (self._high - self._low + self._step_ns + 1) // 2

    @property
    def _low(self) -> int:
        return max(low for low, _ in self._bounds)

    @property
    def _high(self) -> int:
        return min(high for _, high in self._bounds)

    def _server_ns(self, server_ms: int) -> int:
        """Nanoseconds of the server's clock without its wrap: at most 24.8 days away from the first sample."""
        away = (server_ms - self._reference_ms + WRAP // 2) % WRAP - WRAP // 2
        return (self._reference_ms + away) * MS
