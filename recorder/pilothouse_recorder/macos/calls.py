"""What the adapter asks macOS for. `system.MacSystem` asks it; tests answer with recorded values."""

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
    """Turned upwards."""
    columns: int = 0
    """Turned to the left."""
    keycode: int = 0
    text: str = ""
    target_pid: int = 0
    """The process that it goes to; 0 where macOS does not tell."""


@dataclass(frozen=True)
class DisplayPicture:
    """The pixels of one display: rows of blue, green, red and one more byte, each row `stride` bytes long."""

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
    """One method for each question."""

    def missing_permissions(self) -> Sequence[str]:
        """What the person has not allowed yet: `input_monitoring`, `screen_recording`, `accessibility`. Asks for it,
        which shows the system's own dialog once."""

    def start(self) -> None:
        """Begin to listen to events. Raises RecorderError with `no_input`."""

    def take_events(self) -> list[TapRecord]:
        """Events since the last call, in order."""

    def tap_alive(self) -> bool:
        """Whether the thread of the tap runs."""

    def interruptions(self) -> int:
        """How often macOS had switched the tap off; it was switched on again."""

    def ticks_to_ns(self) -> tuple[int, int]:
        """Numerator and denominator from units of mach_absolute_time to nanoseconds."""

    def windows(self) -> bytes:
        """The windows on the screen, the topmost first: CGWindowListCopyWindowInfo as a property list."""

    def displays(self) -> Sequence[Monitor]:
        """The displays in points, with the pixels of each point."""

    def capture(self, display: int) -> DisplayPicture | None:
        """The picture of a display, by its place in `displays`."""

    def secure_input(self) -> bool:
        """Whether a program has secure input on, as password fields do: keys reach nobody else."""

    def element_at(self, x: float, y: float) -> ElementRecord | None:
        """The element at a point; answers within 50 ms; only on one thread."""

    def focused_element(self) -> ElementRecord | None:
        """The element with the focus; only on the same thread."""

    def suspended_ns(self) -> int:
        """How long this computer slept since it started."""

    def close(self) -> None:
        """End the tap."""
