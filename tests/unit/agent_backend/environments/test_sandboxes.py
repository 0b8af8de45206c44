"""Requests of sandboxes that end while they run."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from agent_backend.environments.errors import EnvironmentRefusal
from agent_backend.environments.sandboxes import ExecuteRequest, SandboxRequest, SandboxSession
from vm_bridge.errors import StaleLease

LONG = {"size": 20_000}


class Files:
    async def write(self, path: str, data: bytes) -> None:
        """Takes anything."""

    async def read(self, path: str) -> bytes:
        raise StaleLease("the lease was given back")


class ClosingMachine:
    """Its sandbox ends while a command runs, whose output is too long for the reply."""

    files = Files()
    sandbox: SandboxSession

    async def perform(self, *_: Any, **__: Any) -> Any:
        await self.sandbox.close()
        reply = {"returncode": 0, "stdout": LONG, "stderr": LONG}
        return SimpleNamespace(error=None, after=SimpleNamespace(text=json.dumps(reply)))


def sandbox_of(bridge: Any) -> SandboxSession:
    return SandboxSession(bridge, "sandbox", "somebody", SandboxRequest(), machine_wait_seconds=1)


async def test_a_command_whose_sandbox_ends_meanwhile_is_refused() -> None:
    machine: Any = ClosingMachine()
    sandbox = machine.sandbox = sandbox_of(None)
    sandbox._machine = machine
    with pytest.raises(EnvironmentRefusal) as refused:
        await sandbox.execute(ExecuteRequest(argv=("true",)))
    assert refused.value.code == StaleLease.code


async def test_a_sandbox_that_has_ended_leases_no_machine() -> None:
    sandbox = sandbox_of(bridge=None)
    await sandbox.close()
    with pytest.raises(EnvironmentRefusal, match="session_closed"):
        await sandbox.open()
