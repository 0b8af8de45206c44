"""The interface to a desktop. The packages `x11`, `win32` and `macos` implement it, each for its own system."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from .events import Event
from .exclusions import WindowInfo

Hotkey = Literal["forget", "pause", "mark", "help"]
HOTKEYS: dict[str, Hotkey] = {"f": "forget", "p": "pause", "m": "mark", "h": "help"}
"""With Ctrl, Shift and Super held; Super is the Windows key there, and Command on macOS."""
OWN_CLASS = "pilothouse-recorder"
"""The class of the recorder's own window, in lower case."""


@dataclass(frozen=True)
class Input:
    """One input: its event, if any, and the recorder's hotkey that it triggers, if any."""

    event: Event | None
    hotkey: Hotkey | None = None
    own: bool = False
    """The key went to the recorder's own window. That window had the focus at that moment, which may have moved since.
    """


@dataclass(frozen=True)
class Picture:
    """The whole screen with every monitor: rows of blue, green, red and one unused byte. The next picture may overwrite
    the pixels.
    """

    pixels: memoryview
    width: int
    height: int


class DesktopGone(Exception):
    """The desktop ended and answers no more calls."""


class Desktop(Protocol):
    """A desktop. Points are pixels of its picture. Every call may raise DesktopGone."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the whole screen as of the last `sync`."""

    @property
    def windows(self) -> Sequence[WindowInfo]:
        """The windows as of the last `sync`, on every monitor, focused or not."""

    @property
    def changes(self) -> int:
        """Number of times that windows appeared, disappeared or moved, as of the last `sync`."""

    @property
    def flashes(self) -> int:
        """Number of times that windows appeared and disappeared between two calls of `sync`. What they showed is
        unknown.
        """

    @property
    def application(self) -> str:
        """The application of the focused window, in lower case; empty if it does not report one."""

    @property
    def time_error_ns(self) -> int:
        """Largest error of an input's time."""

    def sync(self) -> None:
        """Update the windows. Afterwards everything drawn before the call is known."""

    def take_inputs(self) -> list[Input]:
        """Key presses, moves and scrolls since the last call, in order. Raises RecorderError with `no_input` if the
        system stops reporting input.
        """

    def take_damage(self) -> bool:
        """Whether something may have been drawn since the last call."""

    def grab(self) -> Picture | None:
        """A picture, or None if there is none right now, for example while the screen is resized."""

    def is_own_at(self, x: int, y: int) -> bool:
        """Whether the recorder's own window covers this point."""

    def asks_for_password(self) -> bool:
        """Whether the person types a password now."""

    def describe_element(self, event: Event) -> None:
        """Add the element under the pointer to a press, as `element`, once it is known. Does not wait."""

    def sample_clock(self) -> None:
        """Compare the clock of inputs with the recorder's."""

    def suspended_ns(self) -> int:
        """Time that this computer slept since it started."""

    def wait(self, control: int, seconds: float) -> None:
        """Wait until there may be work, which includes a command on the descriptor `control`."""

    def close(self) -> None:
        """Close all open resources."""
