"""One machine of Windows for all tests of this folder."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.integration.windows.wine import SECRET, Provided, wine_machine, wine_need
from vm_bridge.hosts.windows import IMAGE, WindowsHost, WindowsSandbox
from vm_bridge.machine import Machine


@pytest.fixture(scope="session")
def provided(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provided]:
    wine_need()
    with wine_machine(tmp_path_factory.mktemp("windows") / "machine") as provided:
        yield provided


@pytest_asyncio.fixture
async def sandbox(provided: Provided, tmp_path: Path) -> AsyncIterator[WindowsSandbox]:
    """As it is when a lease begins."""
    host = WindowsHost(tmp_path, [provided.address], SECRET, provided.revert)
    made = await host.create(IMAGE)
    assert isinstance(made, WindowsSandbox)
    yield made
    await host.close()


@pytest.fixture
def machine(sandbox: WindowsSandbox) -> Machine:
    return sandbox.bind(7)
