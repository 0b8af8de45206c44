"""Reads secrets for the MCP servers of unattended episodes from this process's environment."""

import os
from collections.abc import Iterable, Mapping

from agent_backend.episode.masked_machine import MaskedMachine
from protocol.trajectory.mcp_servers import VALUE_VARIABLE, environment_secrets, fill_server_secrets
from protocol.trajectory.tasks import Task
from vm_bridge.errors import InvalidAction
from vm_bridge.machine import Machine


class SecretMissing(InvalidAction):
    """An MCP server of a task needs a secret that is not in this process's environment."""

    code = "secret_missing"


def fill_task_secrets(task: Task, environment: Mapping[str, str] = os.environ) -> Task:
    """The task with the values of `secret:NAME` in the environments and headers of its MCP servers.

    Raises:
        SecretMissing: if `PILOTHOUSE_POOL_SECRET_NAME` is not set.
    """
    secrets = environment_secrets(environment)

    def value_of(name: str, host: str) -> str:
        if name not in secrets:
            raise SecretMissing(
                f"an MCP server of the task {task.id} asks for secret:{name}; set {VALUE_VARIABLE}{name}"
            )
        return secrets[name]

    return fill_server_secrets(task, value_of)


def check_task_secrets(tasks: Iterable[Task]) -> None:
    """Raises SecretMissing for the first task that needs a secret that is not set."""
    for task in tasks:
        fill_task_secrets(task)


def without_secrets(machine: Machine, environment: Mapping[str, str] = os.environ) -> Machine:
    """The machine, with the values of secrets in its answers replaced by their names."""
    secrets = environment_secrets(environment)
    return MaskedMachine(machine, lambda: secrets) if secrets else machine
