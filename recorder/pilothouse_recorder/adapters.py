"""Chooses the adapter for the operating system."""

import sys

from .desktop import Desktop
from .errors import RecorderError
from .tray_icon import Choose, Look, TrayIcon


def open_desktop() -> Desktop:
    """The desktop of this session.

    Raises RecorderError whose code says what is missing: `no_display`, `wayland`, `permission_missing`,
    `unknown_system` and more. docs/guides/annotator/recorder.md lists the codes.
    """
    if sys.platform == "win32":
        from .win32.desktop import WindowsDesktop
        from .win32.system import WindowsSystem

        return WindowsDesktop(WindowsSystem())
    if sys.platform == "darwin":
        from .macos.desktop import MacDesktop
        from .macos.system import MacSystem

        return MacDesktop(MacSystem())
    if sys.platform.startswith("linux"):
        from .x11.desktop import X11Desktop

        return X11Desktop()
    raise RecorderError("unknown_system", f"The recorder has no adapter for {sys.platform}.")


def open_tray_icon(title: str, look: Look, choose: Choose) -> TrayIcon:
    """An icon in the tray of this session. Raises RecorderError with `no_tray`."""
    if sys.platform == "win32":
        from .win32.tray_icon import WindowsTrayIcon

        return WindowsTrayIcon(title, look, choose)
    if sys.platform == "darwin":
        from .macos.menu_bar import AppKitMenuBar
        from .macos.tray_icon import MacTrayIcon

        return MacTrayIcon(title, look, choose, AppKitMenuBar)
    if sys.platform.startswith("linux"):
        from .dbus.status_item import open_status_item

        return open_status_item(title, look, choose)
    raise RecorderError("no_tray", f"The recorder has no tray icon on {sys.platform}.")
