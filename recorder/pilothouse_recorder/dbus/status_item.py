"""An icon in the tray with a menu: StatusNotifierItem and com.canonical.dbusmenu.

KDE, GNOME with its extension, and most panels support them.
"""

import os
from collections.abc import Mapping
from typing import Any

from ..errors import RecorderError
from ..tray_icon import Choose, IconState, Look, MenuEntry, number_entries
from .connection import BUS, BUS_PATH, Connection, DBusError, session_address
from .wire import Message, Variant

ITEM, ITEM_PATH = "org.kde.StatusNotifierItem", "/StatusNotifierItem"
MENU, MENU_PATH = "com.canonical.dbusmenu", "/MenuBar"
WATCHER, WATCHER_PATH = "org.kde.StatusNotifierWatcher", "/StatusNotifierWatcher"
PROPERTIES = "org.freedesktop.DBus.Properties"
WATCHER_RULE = f"type='signal',interface='{BUS}',member='NameOwnerChanged',arg0='{WATCHER}'"
MENU_VERSION = 3
ICONS: Mapping[IconState, str] = {
    "recording": "media-record", "paused": "media-playback-pause", "idle": "media-playback-stop"
}  # fmt: skip
"""Names in the desktop's theme."""
Answer = tuple[str, tuple[Any, ...]]


def open_status_item(title: str, look: Look, choose: Choose) -> "StatusItem":
    """Create the icon on the session bus. Raises RecorderError with `no_tray` if the desktop has none."""
    try:
        bus = Connection(session_address())
    except DBusError as error:
        raise _no_tray(error) from None
    try:
        return StatusItem(bus, title, look, choose)
    except RecorderError:
        bus.close()
        raise


def _no_tray(error: DBusError) -> RecorderError:
    return RecorderError("no_tray", f"{error} Use `window` or the commands.")


class StatusItem:
    """The icon. Raises RecorderError with `no_tray` if the desktop has no tray.

    Args:
        bus: The session bus. Only the item uses it, and the item closes it.
        title: The program's name.
        look: The initial look.
        choose: Called with the name of the entry that was chosen.
    """

    def __init__(self, bus: Connection, title: str, look: Look, choose: Choose) -> None:
        self._bus, self._title, self._look, self._choose = bus, title, look, choose
        self._revision = 1
        self._entries = number_entries(look.entries)
        self._name = f"{ITEM}-{os.getpid()}-1"
        bus.handler = self._answer
        try:
            bus.call(BUS, BUS_PATH, BUS, "RequestName", "su", self._name, 0)
            bus.call(BUS, BUS_PATH, BUS, "AddMatch", "s", WATCHER_RULE)
        except DBusError as error:
            raise _no_tray(error) from None
        self._register()

    def show(self, look: Look) -> None:
        """Change what the icon shows."""
        if look == self._look:
            return
        entries_changed = look.entries != self._look.entries
        self._look = look
        try:
            for signal in ("NewIcon", "NewToolTip", "NewTitle"):
                self._bus.emit(ITEM_PATH, ITEM, signal)
            if entries_changed:
                self._entries = number_entries(look.entries)
                self._revision += 1
                self._bus.emit(MENU_PATH, MENU, "LayoutUpdated", "ui", self._revision, 0)
        except DBusError as error:
            raise _no_tray(error) from None

    def process(self, seconds: float) -> None:
        """Answer the tray's requests for at most `seconds`. Raises RecorderError once the bus is gone."""
        try:
            for signal in self._bus.process(seconds):
                if signal.member == "NameOwnerChanged" and signal.body[:1] == (WATCHER,) and signal.body[2]:
                    self._register()  # the panel was started again
        except DBusError as error:
            raise _no_tray(error) from None

    def close(self) -> None:
        """End the connection, which takes the icon away."""
        self._bus.close()

    def _register(self) -> None:
        try:
            self._bus.call(WATCHER, WATCHER_PATH, WATCHER, "RegisterStatusNotifierItem", "s", self._name)
        except DBusError as error:
            raise _no_tray(DBusError(f"This desktop has no tray: {error}", error.name)) from None

    def _answer(self, message: Message) -> Answer | None:
        if message.interface == PROPERTIES:
            return self._answer_properties(message)
        if message.path == MENU_PATH:
            return self._answer_menu(message)
        if message.interface == ITEM and message.member in ("Activate", "SecondaryActivate", "ContextMenu", "Scroll"):
            return "", ()
        return None

    def _answer_properties(self, message: Message) -> Answer | None:
        properties = self._menu_properties if message.path == MENU_PATH else self._item_properties
        if message.member == "GetAll":
            return "a{sv}", (properties,)
        if message.member == "Get" and len(message.body) == 2 and message.body[1] in properties:
            return "v", (properties[message.body[1]],)
        return None

    @property
    def _item_properties(self) -> dict[str, Variant]:
        return {
            "Category": Variant("s", "ApplicationStatus"),
            "Id": Variant("s", "pilothouse-recorder"),
            "Title": Variant("s", self._title),
            "Status": Variant("s", "Active"),
            "WindowId": Variant("i", 0),
            "IconName": Variant("s", ICONS[self._look.state]),
            "IconPixmap": Variant("a(iiay)", []),
            "ToolTip": Variant("(sa(iiay)ss)", (ICONS[self._look.state], [], self._title, self._look.text)),
            "ItemIsMenu": Variant("b", True),
            "Menu": Variant("o", MENU_PATH),
        }

    @property
    def _menu_properties(self) -> dict[str, Variant]:
        return {
            "Version": Variant("u", MENU_VERSION),
            "TextDirection": Variant("s", "ltr"),
            "Status": Variant("s", "normal"),
            "IconThemePath": Variant("as", []),
        }

    def _answer_menu(self, message: Message) -> Answer | None:
        match message.member, message.body:
            case "GetLayout", (int(parent), int(depth), _):
                return "u(ia{sv}av)", (self._revision, self._layout(parent, depth))
            case "GetGroupProperties", (identifiers, _):
                wanted = identifiers or list(self._entries)
                found = [(one, _properties(self._entries[one])) for one in wanted if one in self._entries]
                return "a(ia{sv})", (found,)
            case "GetProperty", (int(identifier), str(name)) if identifier in self._entries:
                properties = _properties(self._entries[identifier])
                return ("v", (properties[name],)) if name in properties else None
            case "Event", (int(identifier), str(event), _, _):
                self._note_event(identifier, event)
                return "", ()
            case "EventGroup", (events,):
                for identifier, event, _, _ in events:
                    self._note_event(identifier, event)
                return "ai", ([],)
            case "AboutToShow", _:
                return "b", (False,)
            case "AboutToShowGroup", _:
                return "aiai", ([], [])
        return None

    def _note_event(self, identifier: int, event: str) -> None:
        entry = self._entries.get(identifier)
        if event == "clicked" and entry is not None and entry.name:
            self._choose(entry.name)

    def _layout(self, parent: int, depth: int) -> tuple[int, dict[str, Variant], list[Variant]]:
        """An entry with `depth` levels of entries below it; all levels if `depth` is negative."""
        entry = self._entries.get(parent, MenuEntry(""))
        below = [] if depth == 0 else _below(self._entries, parent)
        parts = [Variant("(ia{sv}av)", self._layout(one, depth - 1)) for one in below]
        properties = {"children-display": Variant("s", "submenu")} if parent == 0 else _properties(entry)
        return parent, properties, parts


def _below(numbered: Mapping[int, MenuEntry], parent: int) -> list[int]:
    """The numbers of the entries in a submenu."""
    found: list[int] = []
    number = parent + 1
    for entry in numbered[parent].entries if parent in numbered else ():
        found.append(number)
        number += _size(entry)
    return found


def _size(entry: MenuEntry) -> int:
    return 1 + sum(map(_size, entry.entries))


def _properties(entry: MenuEntry) -> dict[str, Variant]:
    if not entry.label:
        return {"type": Variant("s", "separator")}
    label = entry.label.replace("_", "__")  # a single one underlines the next character
    properties = {"label": Variant("s", label), "enabled": Variant("b", bool(entry.name or entry.entries))}
    return properties | ({"children-display": Variant("s", "submenu")} if entry.entries else {})
