"""The calls to Windows. `system.WindowsSystem` implements them; tests answer with recorded structures."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

Rectangle = tuple[int, int, int, int]
"""Left, top, right and bottom in physical pixels of the desktop; left and top may be negative."""
OBJECT_SHOW = 0x8002
"""The event of a window that is shown (EVENT_OBJECT_SHOW)."""


@dataclass(frozen=True)
class HookRecord:
    """One call of a low-level hook: the message, and the bytes of its structure (KBDLLHOOKSTRUCT or MSLLHOOKSTRUCT of
    64-bit Windows).
    """

    message: int
    structure: bytes
    received_ns: int
    """The recorder's time when the hook was called. The input happened before."""
    foreground: int = 0
    """For keys: the handle of the foreground window at that time."""


@dataclass(frozen=True)
class WindowRecord:
    """A top-level window. `program` is the file name of its process."""

    handle: int
    pid: int
    program: str
    class_name: str
    title: str
    visible: bool
    """Visible, and neither minimized nor cloaked (on another virtual desktop)."""
    rectangle: Rectangle


@dataclass(frozen=True)
class ElementRecord:
    """An element of UI Automation."""

    control_type: int
    name: str
    is_password: bool
    rectangle: Rectangle


class WindowsCalls(Protocol):
    """One method per call."""

    def take_hook_records(self) -> list[HookRecord]:
        """Input since the last call, in order."""

    def hooks_alive(self) -> bool:
        """Whether the hooks' thread runs."""

    def take_window_events(self) -> list[tuple[int, int]]:
        """Events of top-level windows since the last call: the event's number and the window's handle."""

    def tick_count(self) -> int:
        """GetTickCount: milliseconds in 32 bits, the clock of the hooks' records."""

    def toggled(self, key: int) -> bool:
        """Whether a lock key is on."""

    def key_text(self, key: int, scan: int, state: bytes) -> tuple[str, bool]:
        """ToUnicodeEx with the layout of the window in front: the text, and whether it is a dead key's.

        Args:
            key: The virtual-key code.
            scan: The scan code.
            state: One byte for each of 256 keys: 0x80 is held, 0x01 is on.
        """

    def screen(self) -> Rectangle:
        """The rectangle around all monitors."""

    def windows(self) -> Sequence[WindowRecord]:
        """Top-level windows, the topmost first."""

    def foreground(self) -> int:
        """The handle of the foreground window; 0 if there is none."""

    def copy_screen(self, screen: Rectangle) -> memoryview | None:
        """The pixels as blue, green, red and one unused byte. Returns None if the screen cannot be read now, for
        example during a User Account Control prompt.
        """

    def suspended_ns(self) -> int:
        """Time that this computer slept since it started."""

    def element_at(self, x: int, y: int) -> ElementRecord | None:
        """The element at a point. Call it from one thread only."""

    def focused_element(self) -> ElementRecord | None:
        """The focused element. Call it from the same thread as `element_at`."""

    def close(self) -> None:
        """Remove the hooks."""
