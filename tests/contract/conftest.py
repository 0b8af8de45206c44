"""Machines of every driver, for the tests that hold them to one contract."""

import inspect
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import cast

import pytest
import pytest_asyncio

from tests.contract.notes import AddressNotes, FileNotes, Notes
from tests.integration.cluster.cluster_helpers import MARKS
from tests.integration.cluster.cluster_helpers import placed as placed
from tests.integration.cluster.host_helpers import LeasingHost
from tests.integration.docker.machines import CONTAINER, docker_host, need_engine
from tests.integration.qemu.machines import VIRTUAL, need_virtual, virtual_host
from tests.integration.windows.wine import MARKS as WINE
from tests.integration.windows.wine import SECRET, Provided, wine_machine, wine_need
from vm_bridge.hosts.browser.host import BrowserHost
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.hosts.osworld.host import GuestHost
from vm_bridge.hosts.phone.simulated import PhoneHost
from vm_bridge.hosts.windows import WindowsHost
from vm_bridge.machine import Machine
from vm_bridge.sandbox import Host, Sandbox
from vm_bridge.simulators.fake.sandbox import FakeHost
from vm_bridge.simulators.osworld.process import REVERT, simulated_guest

IMAGES = {"fake": "desktop", "computer": "desktop", "qemu": "desktop-vm", "docker": CONTAINER, "placed": "desktop"}
"""Images that are called otherwise than the driver."""


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="session")
def guest(data: Path) -> Iterator[str]:
    """The address of a guest; whoever makes a machine of it puts it back first."""
    with simulated_guest(data / "guest") as address:
        yield address


@pytest.fixture(scope="session")
def provided(data: Path) -> Iterator[Provided]:
    """A machine of Windows; whoever makes one of it puts it back first."""
    with wine_machine(data / "provided") as provided:
        yield provided


DRIVERS = (
    *("fake", "computer", "phone", "browser", "osworld", "docker"),
    pytest.param("qemu", marks=VIRTUAL),
    pytest.param("placed", marks=MARKS),
    pytest.param("windows", marks=WINE),
)


@pytest.fixture(params=DRIVERS)
def driver(request: pytest.FixtureRequest) -> str:
    if request.param == "placed" and "sandbox" in inspect.signature(request.function).parameters:
        pytest.skip("of a machine that Ray placed one has a lease and no more")
    if request.param == "qemu":
        need_virtual()
    if request.param == "docker":
        need_engine()
    if request.param == "windows":
        wine_need()
    needed = {"phone": "adb", "browser": "chromium-headless-shell", "osworld": "Xtigervnc"}.get(request.param)
    if needed and shutil.which(needed) is None:
        pytest.skip(f"needs {needed}")
    return str(request.param)


@pytest.fixture
def notes(driver: str) -> Notes:
    return AddressNotes() if driver == "browser" else FileNotes()


@pytest_asyncio.fixture
async def host(request: pytest.FixtureRequest, driver: str, data: Path) -> AsyncIterator[Host]:
    host: Host
    match driver:
        case "fake":
            host = FakeHost()
        case "browser":
            host = BrowserHost(data / "browsers")
        case "osworld":
            host = GuestHost(data, [request.getfixturevalue("guest")], REVERT)
        case "placed":
            fleet = request.getfixturevalue("placed").fleet
            host = cast(Host, LeasingHost(fleet.url, fleet.secret))
        case "qemu":
            host = virtual_host(data)
        case "windows":
            provided = request.getfixturevalue("provided")
            host = WindowsHost(data, [provided.address], SECRET, provided.revert)
        case "docker":
            host = docker_host(data)
        case _:
            host = PhoneHost(LocalHost(data), data)
    yield host
    await host.close()


@pytest_asyncio.fixture
async def sandbox(host: Host, driver: str) -> Sandbox:
    return await host.create(IMAGES.get(driver, driver))


@pytest.fixture
def machine(sandbox: Sandbox) -> Machine:
    return sandbox.bind(7)
