"""Pilothouse machines as an environment of verifiers: desktops, browsers, phones and terminals with verified tasks."""

from pilothouse_gui.taskset import PilothouseEnv, PilothouseTaskset

__all__ = ["PilothouseEnv", "PilothouseTaskset"]
