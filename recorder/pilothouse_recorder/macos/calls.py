"""The calls to macOS. `system.MacSystem` implements them; tests answer with recorded values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ..layout import Monitor

Rectangle = tuple[float, float, float, float]
"""Left, top, width and height in points of the desktop."""


@dataclass(frozen=True)
class TapRecord:
    """An event of the tap. `timestamp` is the event's own, in units of mach_absolute_time or nanoseconds;
    `received_ns` is the recorder's time."""

    type: int
    timestamp: int
    received_ns: int
    flags: int
    x: float
    y: float
    button: int = 0
    lines: int = 0
    """Positive is up."""
    columns: int = 0
    """Positive is left."""
    keycode: int = 0
    text: str = ""
    target_pid: int = 0
    """The process that receives it; 0 if macOS does not report it."""


@dataclass(frozen=True)
class DisplayPicture:
    """The pixels of one display: rows of blue, green, red and a fourth byte, each row `stride` bytes long."""

    pixels: bytes
    width: int
    height: int
    stride: int


@dataclass(frozen=True)
class ElementRecord:
    """An element of Accessibility."""

    role: str
    subrole: str
    name: str
    rectangle: Rectangle


class MacCalls(Protocol):
    """One method per call."""

    def missing_permissions(self) -> Sequence[str]:
        """Permissions that the person has not granted yet: `input_monitoring`, `screen_recording`, `accessibility`.

        Requests them, which shows the system's own dialog once.
        """

    def start(self) -> None:
        """Start listening to events. Raises RecorderError with `no_input`."""

    def take_events(self) -> list[TapRecord]:
        """Events since the last call, in order."""

    def tap_alive(self) -> bool:
        """Whether the tap's thread runs."""

    def interruptions(self) -> int:
        """Number of times that macOS switched the tap off; each time it was switched on again."""

    def ticks_to_ns(self) -> tuple[int, int]:
        """Numerator and denominator from units of mach_absolute_time to nanoseconds."""

    def windows(self) -> bytes:
        """The windows on the screen, the topmost first: CGWindowListCopyWindowInfo as a property list."""

    def displays(self) -> Sequence[Monitor]:
        """The displays in points, with the pixels per point."""

    def capture(self, display: int) -> DisplayPicture | None:
        """The picture of a display, by its index in `displays`."""

    def secure_input(self) -> bool:
        """Whether a program has enabled secure input, as password fields do: no other program receives the keys."""

    def element_at(self, x: float, y: float) -> ElementRecord | None:
        """The element at a point. Answers within 50 ms. Call it from one thread only."""

    def focused_element(self) -> ElementRecord | None:
        """The focused element. Call it from the same thread as `element_at`."""

    def suspended_ns(self) -> int:
        """Time that this computer slept since it started."""

    def close(self) -> None:
        """Close the tap."""
