"""What a pool knows of machines that it could not make, by image."""

import time
from collections import defaultdict

from vm_bridge.errors import BridgeError, SandboxUnavailable

RETRY_AFTER_SECONDS = 5.0
"""Pause after a machine could not be made, unless somebody waits for one (seconds)."""
MAX_FAILURES = 3
"""So many failures in a row before somebody who waits is told."""


class CreationBackoff:
    """Counts failures in a row. One machine that fails to start refuses no claim; an image that cannot be made does."""

    def __init__(self) -> None:
        self._failures: defaultdict[str, int] = defaultdict(int)
        self._retry_at: dict[str, float] = {}

    def resting(self, image: str) -> bool:
        """Whether machines of an image are made only for somebody who waits."""
        return time.monotonic() < self._retry_at.get(image, 0)

    def failed(self, image: str, error: BridgeError | OSError) -> bool:
        """Note a failure. Returns whether somebody who waits is told, as another try would fail, too."""
        self._failures[image] += 1
        self._retry_at[image] = time.monotonic() + RETRY_AFTER_SECONDS
        return isinstance(error, SandboxUnavailable) or self._failures[image] >= MAX_FAILURES

    def succeeded(self, image: str) -> None:
        """Note that a machine was made."""
        self._failures.pop(image, None)
