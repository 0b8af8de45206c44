"""AppKit: an item in the menu bar, through Objective-C."""

import ctypes
import sys
from collections.abc import Callable

from .foundation import framework, make_text, release
from .objective_c import find_class, make_target, selector, send

assert sys.platform == "darwin"

ACCESSORY = 1
"""Activation policy of a program without a Dock icon."""
FITS_ITS_TITLE = -1.0
ANY_EVENT = 2**64 - 1
CHOOSE = "choose:"


class AppKitMenuBar:
    """Implements `tray_icon.MenuBar`. Only one thread, the first of the process, may create and use it."""

    def __init__(self, choose: Callable[[int], None]) -> None:
        framework("AppKit")
        self._application = send(find_class("NSApplication"), "sharedApplication")
        send(self._application, "setActivationPolicy:", ACCESSORY, types=(ctypes.c_long,), result=ctypes.c_bool)
        send(self._application, "finishLaunching", result=None)
        self._bar = send(find_class("NSStatusBar"), "systemStatusBar")
        self._item = send(self._bar, "statusItemWithLength:", FITS_ITS_TITLE, types=(ctypes.c_double,)) or 0
        send(self._item, "retain")
        self._target, self._kept = make_target(
            "PilothouseRecorderMenu", CHOOSE, lambda sender: choose(send(sender, "tag", result=ctypes.c_long))
        )
        self.is_there = bool(self._item)

    def set_title(self, title: str, help_text: str) -> None:
        """Set the text in the menu bar and the tooltip."""
        button = send(self._item, "button")
        self._send_text(button, "setTitle:", title)
        self._send_text(button, "setToolTip:", help_text)

    def make_menu(self) -> int:
        """An empty menu whose items decide whether they are enabled."""
        menu = int(send(send(find_class("NSMenu"), "alloc"), "init"))
        send(menu, "setAutoenablesItems:", False, types=(ctypes.c_bool,), result=None)
        return menu

    def add_separator(self, menu: int) -> None:
        """Add a separator line."""
        send(menu, "addItem:", send(find_class("NSMenuItem"), "separatorItem"), result=None)

    def add_item(self, menu: int, label: str, number: int, *, enabled: bool, below: int = 0) -> None:
        """Add an item with its number, and its submenu, if any."""
        title, key = make_text(label), make_text("")
        item = send(
            send(find_class("NSMenuItem"), "alloc"), "initWithTitle:action:keyEquivalent:", title, selector(CHOOSE), key
        )
        release(title)
        release(key)
        send(item, "setTarget:", self._target, result=None)
        send(item, "setTag:", number, types=(ctypes.c_long,), result=None)
        send(item, "setEnabled:", enabled, types=(ctypes.c_bool,), result=None)
        if below:
            send(item, "setSubmenu:", below, result=None)
            send(below, "release", result=None)
        send(menu, "addItem:", item, result=None)
        send(item, "release", result=None)

    def set_menu(self, menu: int) -> None:
        """Set the menu that opens from now on."""
        send(self._item, "setMenu:", menu, result=None)
        send(menu, "release", result=None)

    def process(self, seconds: float) -> None:
        """Handle system events for at most this time, or for as long as the menu is open."""
        pool = send(send(find_class("NSAutoreleasePool"), "alloc"), "init")
        until = send(find_class("NSDate"), "dateWithTimeIntervalSinceNow:", seconds, types=(ctypes.c_double,))
        mode = make_text("kCFRunLoopDefaultMode")
        kinds = (ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_bool)
        name = "nextEventMatchingMask:untilDate:inMode:dequeue:"
        while event := send(self._application, name, ANY_EVENT, until, mode, True, types=kinds):
            send(self._application, "sendEvent:", event, result=None)
        release(mode)
        send(pool, "drain", result=None)

    def close(self) -> None:
        """Remove the item."""
        send(self._bar, "removeStatusItem:", self._item, result=None)
        send(self._item, "release", result=None)

    @staticmethod
    def _send_text(receiver: int, name: str, text: str) -> None:
        made = make_text(text)
        send(receiver, name, made, result=None)
        release(made)
