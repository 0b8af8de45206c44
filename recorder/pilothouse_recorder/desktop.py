"""What the recorder needs of a desktop. The packages `x11`, `win32` and `macos` have it, each for its own system."""

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
    """One input: the event that it is, if it is one, and the recorder's own command that it gives."""

    event: Event | None
    hotkey: Hotkey | None = None
    own: bool = False
    """A key that went to the recorder's own window: it had the focus at that moment, which may have moved since."""


@dataclass(frozen=True)
class Picture:
    """The whole screen, every monitor on it: rows of blue, green, red and one unused byte. The next picture may
    replace the pixels."""

    pixels: memoryview
    width: int
    height: int


class DesktopGone(Exception):
    """The desktop ended: nothing of it can be asked any more."""


class Desktop(Protocol):
    """A desktop. Points are pixels of its picture. Every call may raise DesktopGone."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the whole screen as of the last `sync`."""

    @property
    def windows(self) -> Sequence[WindowInfo]:
        """The windows as of the last `sync`, on every monitor, with the focus or without it."""

    @property
    def changes(self) -> int:
        """How often windows came, went or moved, as of the last `sync`."""

    @property
    def flashes(self) -> int:
        """How often windows came and went again between two calls of `sync`. What they showed is not known."""

    @property
    def application(self) -> str:
        """What the window with the focus belongs to, in lower case; empty where it does not tell."""

    @property
    def time_error_ns(self) -> int:
        """How far the time of an input may be from the true one."""

    def sync(self) -> None:
        """Take note of the windows. Everything that was drawn before it is known then."""

    def take_inputs(self) -> list[Input]:
        """What was pressed, moved and turned since the last call, in order. Raises RecorderError with `no_input` where
        the system reports none any more."""

    def take_damage(self) -> bool:
        """Whether something may have been drawn since the last call."""

    def grab(self) -> Picture | None:
        """A picture; None where there is none right now, as while the screen is resized."""

    def is_own_at(self, x: int, y: int) -> bool:
        """Whether the recorder's own window covers this point."""

    def asks_for_password(self) -> bool:
        """Whether what is typed now is a password."""

    def describe_element(self, event: Event) -> None:
        """Add the element under the pointer to a press, as `element`, as soon as it is known. Does not wait."""

    def sample_clock(self) -> None:
        """Compare the clock of inputs with the recorder's."""

    def suspended_ns(self) -> int:
        """How long this computer slept since it started."""

    def wait(self, control: int, seconds: float) -> None:
        """Wait until something may be to be done, a command on the descriptor `control` included."""

    def close(self) -> None:
        """End what was opened."""
