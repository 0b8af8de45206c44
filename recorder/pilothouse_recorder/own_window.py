"""The process of the recorder's own window, for systems whose windows have no identifying class."""

import os

WINDOW_PID = "PILOTHOUSE_RECORDER_WINDOW_PID"
"""The window sets it for the recorder that it starts."""


def own_window_pid() -> int:
    """The process of the window that started this recorder; 0 if no window did."""
    value = os.environ.get(WINDOW_PID, "")
    return int(value) if value.isdigit() else 0
