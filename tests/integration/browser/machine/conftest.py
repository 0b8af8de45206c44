"""Browser machines over a suite of pages made for the purpose."""

import itertools
import shutil
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest
import pytest_asyncio

from protocol.actions.types import Action
from protocol.trajectory.observations import Transition
from tests.integration.browser.machine.pages import PagesSuite
from vm_bridge.hosts.browser.host import BrowserHost, BrowserSandbox
from vm_bridge.machine import Machine

Do = Callable[[Machine, Action], Coroutine[Any, Any, Transition]]


@pytest.fixture(scope="session", autouse=True)
def _shell() -> None:
    if shutil.which("chromium-headless-shell") is None:
        pytest.skip("needs chromium-headless-shell, the Debian package of that name")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def host(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[BrowserHost]:
    """One for a file: a browser takes a while to start."""
    host = BrowserHost(tmp_path_factory.mktemp("browsers"), {"pages": PagesSuite()})
    yield host
    await host.close()


@pytest_asyncio.fixture(loop_scope="module")
async def sandbox(host: BrowserHost) -> AsyncIterator[BrowserSandbox]:
    made = await host.create("browser")
    assert isinstance(made, BrowserSandbox)
    yield made
    await made.destroy()


@pytest.fixture
def machine(sandbox: BrowserSandbox) -> Machine:
    return sandbox.bind(7)


@pytest.fixture
def do() -> Do:
    """An act under a command of its own."""
    numbers = itertools.count()

    async def act(machine: Machine, action: Action) -> Transition:
        return await machine.perform(f"command-{next(numbers):04}", action)

    return act
