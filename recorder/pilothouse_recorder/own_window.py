"""Which process has the recorder's own window, where windows have no class that tells."""

import os

WINDOW_PID = "PILOTHOUSE_RECORDER_WINDOW_PID"
"""Set by the window for the recorder that it starts."""


def own_window_pid() -> int:
    """The process of the window that started this recorder; 0: none did."""
    value = os.environ.get(WINDOW_PID, "")
    return int(value) if value.isdigit() else 0
