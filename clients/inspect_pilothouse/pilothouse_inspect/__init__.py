"""Pilothouse machines as a sandbox of Inspect: `sandbox="pilothouse"`."""

from pilothouse_inspect.sandbox import PilothouseSandbox, PilothouseSandboxConfig

__all__ = ["PilothouseSandbox", "PilothouseSandboxConfig"]
