"""A private adb server, and simulated phones in their sandboxes."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from vm_bridge.drivers.phone.adb import AdbServer
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.hosts.phone.simulated import PhoneHost, PhoneSandbox
from vm_bridge.machine import Machine


@pytest.fixture(scope="session", autouse=True)
def _adb() -> None:
    if shutil.which("adb") is None:
        pytest.skip("needs adb, the Debian package of that name")


@pytest_asyncio.fixture
async def adb(tmp_path: Path) -> AsyncIterator[AdbServer]:
    server = AdbServer(tmp_path / "adb")
    await server.start()
    yield server
    await server.close()


@pytest.fixture(scope="package")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the image is prepared, once."""
    return tmp_path_factory.mktemp("data")


@pytest_asyncio.fixture
async def host(data: Path) -> AsyncIterator[PhoneHost]:
    host = PhoneHost(LocalHost(data), data)
    yield host
    await host.close()


@pytest_asyncio.fixture
async def phone(host: PhoneHost) -> PhoneSandbox:
    sandbox = await host.create("phone")
    assert isinstance(sandbox, PhoneSandbox)
    await sandbox.bind(1).observe(settle=True)
    return sandbox


@pytest.fixture
def machine(phone: PhoneSandbox) -> Machine:
    return phone.bind(1)
