"""For how long this process has run: soon after the start, parts that report now and then have not reported yet."""

import time

STARTED_AT = time.monotonic()


def uptime_seconds() -> float:
    """Seconds since this process was begun, or since the process that it was forked from was."""
    return time.monotonic() - STARTED_AT
