"""Real sandboxes with all their tools, one for each module: without a screen, and a desktop."""

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
import pytest_asyncio

from protocol.actions.types import Action
from protocol.trajectory.observations import Transition
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.hosts.local.sandbox import LocalSandbox
from vm_bridge.machine import Machine

Do = Callable[[Action], Awaitable[Transition]]
commands = (f"command-{number:04}" for number in itertools.count())


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LocalSandbox]:
    """A machine without a screen."""
    host = LocalHost(tmp_path_factory.mktemp("data"))
    sandbox = await host.create("terminal")
    assert isinstance(sandbox, LocalSandbox)
    yield sandbox
    await host.close()


@pytest.fixture
def machine(sandbox: LocalSandbox) -> Machine:
    return sandbox.bind(1)


@pytest.fixture
def do(machine: Machine) -> Do:
    """One act."""

    async def do(action: Action) -> Transition:
        return await machine.perform(next(commands), action)

    return do
