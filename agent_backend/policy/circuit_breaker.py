"""A circuit breaker: an endpoint that keeps failing gets no requests for a while."""

import time
from collections.abc import Callable

from agent_backend.errors import PolicyUnavailable


class CircuitBreaker:
    """Opens after `failures` in a row for `cool` seconds, twice as long after each failed trial, up to `longest`.

    While it is open, `admit` raises at once. Afterwards it admits one trial request at a time.
    """

    def __init__(
        self,
        *,
        failures: int = 3,
        cool: float = 2.0,
        longest: float = 20.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._allowed = failures
        self._cool = cool
        self._longest = longest
        self._clock = clock
        self._failed = 0
        self._open_until = 0.0

    def admit(self) -> None:
        """Raises PolicyUnavailable while the circuit is open."""
        wait = self._open_until - self._clock()
        if wait > 0:
            raise PolicyUnavailable(
                f"the model server keeps failing; the next request follows in {wait:.0f} s", retry_after=wait
            )
        if self._failed >= self._allowed:
            self._open_until = self._clock() + self._pause()  # until this trial has its result

    def succeed(self) -> None:
        """The server answered."""
        self._failed, self._open_until = 0, 0.0

    @property
    def failing(self) -> bool:
        """Whether the last request failed."""
        return self._failed > 0

    def fail(self, retry_after: float | None = None) -> None:
        """The server did not answer, or asked for a pause of so many seconds."""
        self._failed += 1
        pause = self._pause() if self._failed >= self._allowed else 0.0
        self._open_until = max(self._open_until, self._clock() + max(pause, retry_after or 0.0))

    def _pause(self) -> float:
        return min(self._longest, self._cool * 2.0 ** (self._failed - self._allowed))
