"""Chooses the adapter of the system that the recorder runs on."""

import sys

from .desktop import Desktop
from .errors import RecorderError


def open_desktop() -> Desktop:
    """The desktop of this session. Raises RecorderError with a code of what is missing: `no_display`, `wayland`,
    `permission_missing`, `unknown_system` and more; docs/guides/annotator/recorder.md lists them."""
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
