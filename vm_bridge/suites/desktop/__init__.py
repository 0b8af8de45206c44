"""The bundled desktop tasks: files, editor, terminal, calculator."""

from vm_bridge.suites.desktop.suite import DesktopSuite

__all__ = ["DesktopSuite"]
