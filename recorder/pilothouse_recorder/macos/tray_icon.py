"""An item in the macOS menu bar. `menu_bar.AppKitMenuBar` shows it; tests record the calls."""

from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Protocol

from ..errors import RecorderError
from ..tray_icon import Choose, IconState, Look, MenuEntry, number_entries

SIGNS: Mapping[IconState, str] = {"recording": "●", "paused": "❙❙", "idle": "○"}
"""The text in the menu bar."""


class MenuBar(Protocol):
    """The menu bar with one item. Menus are opaque numbers."""

    @property
    def is_there(self) -> bool:
        """Whether the system created the item."""

    def set_title(self, title: str, help_text: str) -> None:
        """Set the text in the menu bar and the tooltip."""

    def make_menu(self) -> int:
        """An empty menu."""

    def add_separator(self, menu: int) -> None:
        """Add a separator line."""

    def add_item(self, menu: int, label: str, number: int, *, enabled: bool, below: int = 0) -> None:
        """Add an item with its number, and its submenu, if any."""

    def set_menu(self, menu: int) -> None:
        """Set the menu that opens from now on."""

    def process(self, seconds: float) -> None:
        """Handle system events for at most this time."""

    def close(self) -> None:
        """Remove the item."""


class MacTrayIcon:
    """The item. The first thread of the process must create and use it. Raises RecorderError with `no_tray`.

    Args:
        open_bar: Opens the menu bar, which calls a function with the number of the chosen item.
    """

    def __init__(
        self, title: str, look: Look, choose: Choose, open_bar: Callable[[Callable[[int], None]], MenuBar]
    ) -> None:
        self._title, self._look, self._choose = title, look, choose
        self._bar = open_bar(self._note_choice)
        if not self._bar.is_there:
            raise RecorderError("no_tray", "macOS gave no place in the menu bar. Use `window` or the commands.")
        self._apply()

    def show(self, look: Look) -> None:
        """Change what the item shows."""
        if look != self._look:
            self._look = look
            self._apply()

    def process(self, seconds: float) -> None:
        """Handle system events for at most this time, or for as long as the person has the menu open."""
        self._bar.process(seconds)

    def close(self) -> None:
        """Remove the item."""
        self._bar.close()

    def _note_choice(self, number: int) -> None:
        entry = number_entries(self._look.entries).get(number)
        if entry is not None and entry.name:
            self._choose(entry.name)

    def _apply(self) -> None:
        self._bar.set_title(SIGNS[self._look.state], f"{self._title}: {self._look.text}")
        self._bar.set_menu(self._make_menu(self._look.entries, count(1)))

    def _make_menu(self, entries: tuple[MenuEntry, ...], numbers: Iterator[int]) -> int:
        """A menu whose items have the numbers of `number_entries`."""
        menu = self._bar.make_menu()
        for entry in entries:
            number = next(numbers)
            if not entry.label:
                self._bar.add_separator(menu)
                continue
            below = self._make_menu(entry.entries, numbers) if entry.entries else 0
            self._bar.add_item(menu, entry.label, number, enabled=bool(entry.name or entry.entries), below=below)
        return menu
