"""Pilothouse machines as an environment of TRL: desktops, browsers, phones and terminals with verified tasks."""

from pilothouse_trl.environment import PilothouseEnvironment, ServerError, environment_factory, task_rows

__all__ = ["PilothouseEnvironment", "ServerError", "environment_factory", "task_rows"]
