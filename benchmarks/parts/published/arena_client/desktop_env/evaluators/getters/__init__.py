"""Where values come from."""

from typing import Any


def get_rule(env: Any, config: dict[str, Any]) -> Any:
    """The value in the task file itself."""
    return config["rules"]


def get_vm_command_line(env: Any, config: dict[str, Any]) -> str:
    """What a command prints in the guest."""
    return str(env.controller.execute(config["command"], shell=config.get("shell", False))["output"])


def get_accessibility_tree(env: Any, config: dict[str, Any]) -> str:
    """The simulated guest has none. Raises RuntimeError."""
    raise RuntimeError("there is no accessibility tree")
