"""The secrets that MCP servers of unattended episodes ask for, from the environment of their process."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from protocol.actions.types import Action
from protocol.trajectory.mcp_servers import VALUE_VARIABLE, environment_secrets, fill_server_secrets
from protocol.trajectory.observations import MachineSnapshot, Observation, Transition, Verdict
from protocol.trajectory.secret_masks import mask_error, mask_secrets, mask_text
from protocol.trajectory.tasks import Task
from vm_bridge.errors import InvalidAction
from vm_bridge.machine import Machine


class SecretMissing(InvalidAction):
    """An MCP server of a task asks for a secret whose value this process was not given."""

    code = "secret_missing"


def fill_task_secrets(task: Task, environment: Mapping[str, str] = os.environ) -> Task:
    """The task with the values of `secret:NAME` in the environments and headers of its MCP servers.

    Raises:
        SecretMissing: where `PILOTHOUSE_POOL_SECRET_NAME` is not set.
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
    """Raises SecretMissing for the first of the tasks that cannot be filled, before any is attempted."""
    for task in tasks:
        fill_task_secrets(task)


def without_secrets(machine: Machine, environment: Mapping[str, str] = os.environ) -> Machine:
    """The machine, whose answers in words have the names of secrets in place of their values."""
    secrets = environment_secrets(environment)
    masked: Any = _MaskedMachine(machine, secrets) if secrets else machine
    return masked  # type: ignore[no-any-return]


class _MaskedMachine:
    """A machine without the values of secrets in what it answers; all else is the machine's own."""

    def __init__(self, machine: Machine, secrets: Mapping[str, str]) -> None:
        self._machine, self._secrets = machine, secrets

    def __getattr__(self, name: str) -> Any:
        return getattr(self._machine, name)

    async def prepare(self, task: Task) -> Observation:
        return mask_secrets(await self._machine.prepare(task), self._secrets)

    async def observe(self, *, settle: bool = False) -> Observation:
        return mask_secrets(await self._machine.observe(settle=settle), self._secrets)

    async def restore(self, snapshot: MachineSnapshot) -> Observation:
        return mask_secrets(await self._machine.restore(snapshot), self._secrets)

    async def evaluate(self, *, answer: str = "") -> Verdict:
        verdict = await self._machine.evaluate(answer=answer)
        return verdict.model_copy(update={"reason": mask_text(verdict.reason, self._secrets)})

    async def perform(
        self, command_id: str, action: Action, *, settle: bool = True, snapshot: bool = False
    ) -> Transition:
        done = await self._machine.perform(command_id, action, settle=settle, snapshot=snapshot)
        before, after = mask_secrets(done.before, self._secrets), mask_secrets(done.after, self._secrets)
        return done.model_copy(
            update={"before": before, "after": after, "error": mask_error(done.error, self._secrets)}
        )
