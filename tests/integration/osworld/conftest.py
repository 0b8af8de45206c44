"""A simulated guest whose task files OSWorld's own package sets up and judges."""

import shutil
import socket
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

import pytest
import pytest_asyncio

from tests.integration.osworld.evaluator_settings import means_ensured
from tests.integration.osworld.task_files import ACCOUNT, MAKING, PASSWORD, Web
from vm_bridge.hosts.osworld.host import GuestHost, GuestSandbox
from vm_bridge.network.egress_proxy import EgressProxy
from vm_bridge.simulators.osworld.process import REVERT, simulated_guest


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    folder = tmp_path_factory.mktemp("web")
    subprocess.run([means_ensured().python, "-c", MAKING, folder], check=True, timeout=120)
    web = Web(folder)
    thread = threading.Thread(target=web.server.serve_forever)
    thread.start()
    yield web
    web.server.shutdown()
    thread.join()
    web.server.server_close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """With ports of its own for Chrome and VLC."""
    with simulated_guest(tmp_path_factory.mktemp("guest")) as address, ExitStack() as held:
        free = [held.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1] for _ in range(2)]
        held.close()
        yield f"{address}:{free[0]}:0:{free[1]}"


@pytest.fixture
def files() -> Iterator[Path]:
    """What an operator gives: a file, and an account that nobody else may read."""
    folder = Path(mkdtemp())  # below the tests' own folder no other user finds it
    folder.chmod(0o755)
    (folder / "one.txt").write_text("one")
    account = folder / ACCOUNT
    account.parent.mkdir(parents=True)
    account.write_text('{"email": "a@example.org", "password": "word"}')
    account.chmod(0o600)
    yield folder
    shutil.rmtree(folder)


@pytest_asyncio.fixture
async def guest(address: str, web: Web, files: Path, tmp_path: Path) -> AsyncIterator[GuestSandbox]:
    """Its files come from a host that is taken to be out in the public network."""

    async def resolved(host: str, port: int) -> tuple[str, ...]:
        return ("127.0.0.1",)

    make_egress = partial(EgressProxy, resolver=resolved, public=lambda address: True)
    settings = means_ensured(hosts=(web.host,), password=PASSWORD, files=files, make_egress=make_egress)
    host = GuestHost(tmp_path, [address], REVERT, settings=settings)
    sandbox = await host.create("osworld")
    assert isinstance(sandbox, GuestSandbox)
    yield sandbox
    await host.close()
