"""Real desktops on this machine, one a test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.hosts.local.sandbox import LocalSandbox
from vm_bridge.hosts.process_sandbox import PreparedImage
from vm_bridge.machine import Machine


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where images are prepared, once for all tests."""
    return tmp_path_factory.mktemp("data")


@pytest_asyncio.fixture
async def host(data: Path) -> AsyncIterator[LocalHost]:
    host = LocalHost(data)
    yield host
    await host.close()


@pytest_asyncio.fixture
async def desktop(host: LocalHost) -> LocalSandbox:
    sandbox = await host.create("desktop")
    assert isinstance(sandbox, LocalSandbox)
    await sandbox.bind(1).observe(settle=True)
    return sandbox


@pytest.fixture
def machine(desktop: LocalSandbox) -> Machine:
    return desktop.bind(1)


@pytest_asyncio.fixture
async def image(host: LocalHost) -> PreparedImage:
    return await host._image("desktop")


@pytest_asyncio.fixture
async def folder(host: LocalHost) -> Path:
    """Where a tree is to be made, which users of sandboxes can enter."""
    return (await host._opened()).runtime.sandboxes / "desktop-attempt"
