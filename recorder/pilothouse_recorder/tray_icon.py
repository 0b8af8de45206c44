"""An icon in the tray with a menu. The packages `dbus`, `win32` and `macos` implement it for their systems."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

IconState = Literal["recording", "paused", "idle"]
Choose = Callable[[str], None]
"""Called with the name of the chosen entry."""


@dataclass(frozen=True)
class MenuEntry:
    """A line of the menu. Without `name` it is only text. An empty label is a separator."""

    label: str
    name: str = ""
    entries: tuple["MenuEntry", ...] = ()


@dataclass(frozen=True)
class Look:
    """What the tray shows: the recording state, a tooltip, and the menu."""

    state: IconState
    text: str
    entries: tuple[MenuEntry, ...]


class TrayIcon(Protocol):
    """A visible icon. Every call may raise RecorderError with `no_tray` once the tray is gone."""

    def show(self, look: Look) -> None:
        """Change what the icon shows."""

    def process(self, seconds: float) -> None:
        """Answer the tray's requests for at most this time, or for as long as the person has the menu open."""

    def close(self) -> None:
        """Remove the icon."""


OpenIcon = Callable[[str, Look, Choose], TrayIcon]
"""Opens an icon with the program's name. Raises RecorderError with `no_tray`."""


def number_entries(entries: Sequence[MenuEntry]) -> dict[int, MenuEntry]:
    """Number the entries. 0 is the menu itself; a submenu's entries follow their parent."""
    numbered = {0: MenuEntry("menu", entries=tuple(entries))}
    pending = list(entries)
    while pending:
        entry = pending.pop(0)
        numbered[len(numbered)] = entry
        pending = [*entry.entries, *pending]
    return numbered
