"""Words the engine and its users share."""

from enum import StrEnum


class Clock(StrEnum):
    """Who makes a session's time; what it really was is recorded."""

    EXACT = "exact"
    """The browser's own virtual time and its frames: CSS animations and workers included."""
    SCRIPT = "script"
    """A script put before those of the page; CSS animations, media and the browser's own loading go on in real time."""
    REAL = "real"
    """Nobody: time runs."""
