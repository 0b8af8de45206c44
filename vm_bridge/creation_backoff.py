"""Backoff after failed machine creation, by image."""

import time
from collections import defaultdict

from vm_bridge.errors import BridgeError, SandboxUnavailable

RETRY_AFTER_SECONDS = 5.0
"""Pause after a failed creation, unless a request waits (seconds)."""
MAX_FAILURES = 3
"""Consecutive failures after which waiting requests fail."""


class CreationBackoff:
    """Counts consecutive failures. One failed start rejects no claim; an image that cannot be created does."""

    def __init__(self) -> None:
        self._failures: defaultdict[str, int] = defaultdict(int)
        self._retry_at: dict[str, float] = {}

    def resting(self, image: str) -> bool:
        """Whether machines of an image are created only for waiting requests."""
        return time.monotonic() < self._retry_at.get(image, 0)

    def failed(self, image: str, error: BridgeError | OSError) -> bool:
        """Record a failure. Returns whether waiting requests fail, because another try would fail too."""
        self._failures[image] += 1
        self._retry_at[image] = time.monotonic() + RETRY_AFTER_SECONDS
        return isinstance(error, SandboxUnavailable) or self._failures[image] >= MAX_FAILURES

    def succeeded(self, image: str) -> None:
        """Record a created machine."""
        self._failures.pop(image, None)
