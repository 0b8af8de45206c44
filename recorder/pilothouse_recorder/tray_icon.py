"""An icon in the tray with a menu: the packages `dbus`, `win32` and `macos` show it, each in its system's way."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

IconState = Literal["recording", "paused", "idle"]
Choose = Callable[[str], None]
"""Called with the name of the entry that was chosen."""


@dataclass(frozen=True)
class MenuEntry:
    """A line of the menu; without `name` it only says something. An empty label is a separator."""

    label: str
    name: str = ""
    entries: tuple["MenuEntry", ...] = ()


@dataclass(frozen=True)
class Look:
    """What the tray shows: what is recorded, a text for the pointer, and the menu."""

    state: IconState
    text: str
    entries: tuple[MenuEntry, ...]


class TrayIcon(Protocol):
    """An icon that is shown. Every call may raise RecorderError with `no_tray`, where the tray has gone."""

    def show(self, look: Look) -> None:
        """Show something else."""

    def process(self, seconds: float) -> None:
        """Answer what the tray asks for, for at most this time, or for as long as the person has the menu open."""

    def close(self) -> None:
        """Take the icon away."""


OpenIcon = Callable[[str, Look, Choose], TrayIcon]
"""Opens an icon with the program's name. Raises RecorderError with `no_tray`."""


def number_entries(entries: Sequence[MenuEntry]) -> dict[int, MenuEntry]:
    """Entries by their number; 0 is the menu itself, and what is below an entry follows it."""
    numbered = {0: MenuEntry("menu", entries=tuple(entries))}
    pending = list(entries)
    while pending:
        entry = pending.pop(0)
        numbered[len(numbered)] = entry
        pending = [*entry.entries, *pending]
    return numbered
