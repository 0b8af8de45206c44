"""Machines of every driver, for the tests that hold them to one contract.

One machine of each driver serves the whole module. What a test needs of it decides how it is put back: a `sandbox` is
in the state that earlier tests left, a `fresh_sandbox` is reset as at a lease's end, a `new_sandbox` was just created.
Tokens only rise, as the leases of one machine do.
"""

import itertools
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
from tests.integration.kubernetes.machines import MARKS as PODS
from tests.integration.kubernetes.machines import POD, pod_host, running_cluster
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
from vm_bridge.simulators.kubernetes.cluster import Cluster
from vm_bridge.simulators.osworld.process import REVERT, simulated_guest

tokens = itertools.count(1)

IMAGES = {
    "fake": "desktop",
    "computer": "desktop",
    "qemu": "desktop-vm",
    "docker": CONTAINER,
    "pods": POD,
    "placed": "desktop",
}
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


@pytest.fixture(scope="session")
def pod_cluster(data: Path) -> Iterator[Cluster]:
    """A simulated cluster whose node runs pods on this machine."""
    with running_cluster(data) as cluster:
        yield cluster


DRIVERS = (
    *("fake", "computer", "phone", "browser", "osworld", "docker"),
    pytest.param("pods", marks=PODS),
    pytest.param("qemu", marks=VIRTUAL),
    pytest.param("placed", marks=MARKS),
    pytest.param("windows", marks=WINE),
)


LACKS = {
    "sandbox": ("placed",),
    "snapshots": ("phone", "osworld", "windows"),
    "clipboard": ("phone", "browser"),
}
"""Drivers that leave out a part of the contract. Of a machine that Ray placed, tests have a lease and no more."""


def has(part: str, driver: str) -> bool:
    """Whether a driver keeps this part of the contract."""
    return driver not in LACKS[part]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test runs on the drivers that keep the parts which `needs` and `lacks` name; others have no such case."""
    if "driver" not in metafunc.fixturenames:
        return
    needed = {part for marker in metafunc.definition.iter_markers("needs") for part in marker.args}
    lacking = {part for marker in metafunc.definition.iter_markers("lacks") for part in marker.args}
    drivers = [
        one
        for one in DRIVERS
        if all(has(part, _name(one)) for part in needed) and not any(has(part, _name(one)) for part in lacking)
    ]
    metafunc.parametrize("driver", drivers, indirect=True, scope="module")


def _name(driver: object) -> str:
    return str(getattr(driver, "values", (driver,))[0])


@pytest.fixture(scope="module")
def driver(request: pytest.FixtureRequest) -> str:
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


class SharedMachine:
    """The one machine of a driver, made when it is first needed."""

    def __init__(self, host: Host, image: str, *, leased: bool) -> None:
        """`leased` where tests have no more than a lease of it, which the host ends."""
        self._host, self._image, self._leased = host, image, leased
        self._sandbox: Sandbox | None = None

    async def any(self) -> Sandbox:
        """As the tests before left it."""
        return self._sandbox or await self.new()

    async def fresh(self) -> Sandbox:
        """In the image's first state."""
        if self._sandbox is None or self._leased:
            return await self.new()
        await self._sandbox.reset()
        return self._sandbox

    async def new(self) -> Sandbox:
        """One that has never been leased."""
        await self.destroy()
        self._sandbox = await self._host.create(self._image)
        return self._sandbox

    async def destroy(self) -> None:
        """The next test gets another."""
        if self._sandbox is not None:
            sandbox, self._sandbox = self._sandbox, None
            if not self._leased:
                await sandbox.destroy()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
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
        case "pods":
            host = pod_host(data, request.getfixturevalue("pod_cluster"))
        case _:
            host = PhoneHost(LocalHost(data), data)
    yield host
    await host.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(host: Host, driver: str) -> SharedMachine:
    return SharedMachine(host, IMAGES.get(driver, driver), leased=not has("sandbox", driver))


@pytest_asyncio.fixture(loop_scope="module")
async def sandbox(shared: SharedMachine) -> Sandbox:
    """As the tests before left it."""
    return await shared.any()


@pytest_asyncio.fixture(loop_scope="module")
async def fresh_sandbox(shared: SharedMachine) -> Sandbox:
    """In the image's first state."""
    return await shared.fresh()


@pytest_asyncio.fixture(loop_scope="module")
async def new_sandbox(shared: SharedMachine) -> AsyncIterator[Sandbox]:
    """Just made, and of this test alone."""
    yield await shared.new()
    await shared.destroy()


@pytest.fixture
def machine(sandbox: Sandbox) -> Machine:
    """Leased anew; as the tests before left it."""
    return sandbox.bind(next(tokens))


@pytest.fixture
def fresh_machine(fresh_sandbox: Sandbox) -> Machine:
    """Leased anew, in the image's first state."""
    return fresh_sandbox.bind(next(tokens))
