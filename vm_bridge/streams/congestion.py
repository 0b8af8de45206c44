"""How much a viewer's link takes, judged by what its browser reports."""

import time
from collections import deque

MIN_RATE = 500_000
"""Less no screen is worth watching at (bits per second); who cannot have it drops pictures instead."""
LOW_LOSS, HIGH_LOSS = 0.02, 0.1
"""Shares of lost packets between which nothing is changed, as in Google's congestion control."""
INCREASE_PER_SECOND = 0.15
"""How much more is tried in a second without losses (share of the rate)."""
MAX_REPORT_INTERVAL_SECONDS = 1.0
"""Reports come several times a second; a longer silence says nothing of the time between (seconds)."""
OVERRUN_FACTOR = 0.7
"""What is left after the viewer's queue ran over."""
MIN_UTILIZATION = 0.5
"""A rate less than half used was not tried, and says nothing of a higher one."""
ESTIMATE_DROP_FACTOR = 0.97
"""An estimate that moves by less has not moved."""
WINDOW_SECONDS = 1.0
"""Over how long the rate sent is measured (seconds)."""


class RateController:
    """The rate one viewer may be sent: between FLOOR and `ceiling` (bits per second).

    A browser's own estimate (REMB) follows what it is sent, which on a screen that rests is nothing. So only an
    estimate that fell, below what really came, is heeded: that is how a browser says that its link's queue grows.
    """

    def __init__(self, ceiling: int) -> None:
        self._ceiling = ceiling
        self._estimate = 0
        self._reported_at = 0.0
        self.rate = ceiling

    def on_loss_report(self, *, lost: float, sent: float, at: float) -> None:
        """A receiver report: the share of packets lost since the last one, the rate sent meanwhile, and when it came
        (seconds)."""
        passed, self._reported_at = min(at - self._reported_at, MAX_REPORT_INTERVAL_SECONDS), at
        if lost > HIGH_LOSS:
            self._set(self.rate * (1 - lost / 2))
        elif lost < LOW_LOSS and sent > MIN_UTILIZATION * self.rate:
            self._set(self.rate * (1 + INCREASE_PER_SECOND * passed))

    def on_bandwidth_estimate(self, estimate: int, *, sent: float) -> None:
        """What the browser believes its link takes, while so much comes."""
        if estimate < min(self._estimate * ESTIMATE_DROP_FACTOR, sent, self.rate):
            self._set(estimate)
        self._estimate = estimate

    def on_overrun(self) -> None:
        """The viewer's queue ran over."""
        self._set(self.rate * OVERRUN_FACTOR)

    def _set(self, rate: float) -> None:
        self.rate = int(min(max(rate, MIN_RATE), self._ceiling))


class RateMeter:
    """The rate of the last WINDOW (bits per second)."""

    def __init__(self) -> None:
        self._sizes: deque[tuple[float, int]] = deque()

    def add(self, size: int) -> None:
        """So many bytes went out now."""
        self._sizes.append((time.monotonic(), size))
        self._forget()

    @property
    def rate(self) -> float:
        self._forget()
        return sum(size for _, size in self._sizes) * 8 / WINDOW_SECONDS

    def _forget(self) -> None:
        oldest = time.monotonic() - WINDOW_SECONDS
        while self._sizes and self._sizes[0][0] < oldest:
            self._sizes.popleft()
