"""The secrets that MCP servers of unattended episodes ask for, from the environment of their process."""

import os
from collections.abc import Iterable, Mapping

from protocol.trajectory.mcp_servers import VALUE_VARIABLE, fill_server_secrets
from protocol.trajectory.tasks import Task
from vm_bridge.errors import InvalidAction


class SecretMissing(InvalidAction):
    """An MCP server of a task asks for a secret whose value this process was not given."""

    code = "secret_missing"


def fill_task_secrets(task: Task, environment: Mapping[str, str] = os.environ) -> Task:
    """The task with the values of `secret:NAME` in the environments and headers of its MCP servers.

    Raises:
        SecretMissing: where `PILOTHOUSE_POOL_SECRET_NAME` is not set.
    """

    def value_of(name: str, host: str) -> str:
        variable = f"{VALUE_VARIABLE}{name}"
        if not (value := environment.get(variable)):
            raise SecretMissing(f"an MCP server of the task {task.id} asks for secret:{name}; set {variable}")
        return value

    return fill_server_secrets(task, value_of)


def check_task_secrets(tasks: Iterable[Task]) -> None:
    """Raises SecretMissing for the first of the tasks that cannot be filled, before any is attempted."""
    for task in tasks:
        fill_task_secrets(task)
