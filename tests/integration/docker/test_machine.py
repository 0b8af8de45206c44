"""What a desktop in a container is beyond the contract that it shares with every machine."""

import asyncio
import itertools
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from protocol.actions.types import OpenApp, ReadFile, RunCommand, WriteFile
from protocol.trajectory.tasks import Task
from tests.integration.docker.machines import CONTAINER, docker_host, need_engine
from tests.waiting import eventually
from vm_bridge.errors import MachineGone, NoMachine, StaleLease
from vm_bridge.hosts.docker.container import PREFIX, Container
from vm_bridge.hosts.docker.engine import ContainerEngine
from vm_bridge.hosts.docker.host import DockerHost
from vm_bridge.hosts.local.sandbox import LocalSandbox

MEMORY_HOG = "held = [bytearray(8 * 2**20) for _ in range(500)]; print('all of it')"
FORKS = """
import os, time
for count in range(3000):
    try:
        child = os.fork()
    except OSError:
        print(count)
        break
    if child == 0:
        os.close(1), os.close(2), time.sleep(60), os._exit(0)
"""
CONNECT = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
BRIDGE = """
import asyncio, sys
from pathlib import Path
from tests.integration.docker.machines import CONTAINER, docker_host
from protocol.actions.types import WriteFile

async def main():
    sandbox = await docker_host(Path(sys.argv[1])).create(CONTAINER)
    await sandbox.bind(7).perform("adopted-0001", WriteFile(path="note.txt", text="before"))
    print(sandbox.id, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""
commands = (f"command-{number:04}" for number in itertools.count())


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where images are prepared, once for all tests."""
    return tmp_path_factory.mktemp("data")


@pytest_asyncio.fixture
async def host(data: Path) -> AsyncIterator[DockerHost]:
    need_engine()
    host = docker_host(data)
    yield host
    await host.close()


@pytest_asyncio.fixture
async def desktop(host: DockerHost) -> LocalSandbox:
    sandbox = await host.create(CONTAINER)
    assert isinstance(sandbox, LocalSandbox)
    return sandbox


@pytest.fixture
def engine() -> ContainerEngine:
    return ContainerEngine()


def container(sandbox: LocalSandbox) -> Container:
    assert isinstance(sandbox.tree, Container)
    return sandbox.tree


async def ran(sandbox: LocalSandbox, command: str, *, fence: int = 1) -> str:
    done = await sandbox.bind(fence).perform(next(commands), RunCommand(command=command), settle=False)
    return done.after.text or ""


def container_state(engine: ContainerEngine, name: str) -> str:
    """The state of a container as the engine tells it; empty when there is none."""
    status, said = engine.ask("GET", f"/containers/{name}/json", expected={404})
    return "" if status == 404 else str(said["State"]["Status"])


async def test_nothing_of_the_network_is_there(desktop: LocalSandbox) -> None:
    interfaces = re.findall(r"^ *(\w+):", await ran(desktop, "cat /proc/net/dev"), re.MULTILINE)
    assert interfaces == ["lo"]


async def test_rights_stay_away_and_the_system_is_read_only(desktop: LocalSandbox) -> None:
    status = await ran(desktop, "grep -E 'Cap|NoNewPrivs|Seccomp:' /proc/self/status")
    assert set(re.findall(r"Cap\w+:\s+(\w+)", status)) == {"0" * 16}
    assert re.search(r"NoNewPrivs:\s+1", status)
    assert re.search(r"Seccomp:\s+2", status)
    assert int(await ran(desktop, "id -u")) >= 0x6F000000 or os.geteuid() != 0
    assert (await ran(desktop, "id -un")).strip() == "user"
    for folder in ("/usr/bin", "/etc", "/image", "/", "/var"):
        assert "Read-only" in await ran(desktop, f"touch {folder}/x 2>&1")


async def test_the_guest_can_be_neither_called_nor_looked_into(desktop: LocalSandbox) -> None:
    for name in ("guest.sock", "tunnel.sock", "start/start.sock"):
        refused = await desktop.environment(1).run(["python3", "-c", CONNECT, str(desktop.tree.folder / name)])
        assert "No such file" in refused.output
    assert "sock" not in await ran(desktop, "ls -A /run/host 2>&1")
    guests = "for each in $(grep -la vm_bridge.guest.linux.container_init /proc/[0-9]*/cmdline | cut -d/ -f3)"
    looked = await ran(desktop, f"{guests}; do ls /proc/$each/fd; head -c 1 /proc/$each/mem; done 2>&1")
    assert looked.count("Permission denied") >= 4
    assert "sock" not in looked


async def test_a_memory_hog_is_ended_alone(desktop: LocalSandbox) -> None:
    if "memory" in desktop.capabilities.unbounded:
        pytest.skip("this engine bounds no memory")
    assert (await ran(desktop, f'python3 -c "{MEMORY_HOG}" 2>&1; echo $?')).endswith("137\n")  # killed
    assert await desktop.healthy()


async def test_a_fork_bomb_stays_inside_and_a_reset_ends_it(desktop: LocalSandbox) -> None:
    if "pids" in desktop.capabilities.unbounded:
        pytest.skip("this engine bounds no processes")
    bomb = await desktop.environment(1).run(["python3", "-c", FORKS])
    assert 100 < int(bomb.output) < 800
    assert await desktop.healthy()
    await desktop.reset()
    assert (await desktop.usage()).processes < 20


async def test_a_reset_is_another_container_and_leaves_nothing(desktop: LocalSandbox, engine: ContainerEngine) -> None:
    old, user = container(desktop).name, await ran(desktop, "id -u; echo left > ~/left; (setsid sleep 1000 &)")
    await desktop.reset()
    assert container(desktop).name != old
    assert container_state(engine, old) == ""
    text = await ran(desktop, "id -u; ls ~; cat /proc/[0-9]*/cmdline | tr '\\0' ' '", fence=2)
    assert "left" not in text
    assert "sleep 1000" not in text
    assert os.geteuid() != 0 or text.splitlines()[0] != user.splitlines()[0]


async def test_what_it_costs_is_told(desktop: LocalSandbox) -> None:
    usage = await desktop.usage()
    assert 10 * 2**20 < usage.pss < 600 * 2**20
    assert 3 < usage.processes < 20


async def test_a_killed_container_is_found_and_replaced(desktop: LocalSandbox, engine: ContainerEngine) -> None:
    name = container(desktop).name
    await asyncio.to_thread(engine.ask, "POST", f"/containers/{name}/kill")
    await asyncio.wait_for(desktop.tree.link.ended(), 20)
    assert not await desktop.healthy()
    with pytest.raises(MachineGone):
        await desktop.bind(1).observe()
    await desktop.reset()
    assert await desktop.healthy()
    await eventually(lambda: container_state(engine, name) == "")


async def test_an_image_that_is_not_there_is_named(data: Path) -> None:
    need_engine()
    host = DockerHost(data, system="pilothouse-no-such-image")
    with pytest.raises(NoMachine, match="docker build -t pilothouse-no-such-image docker/sandbox"):
        await host.create(CONTAINER)
    await host.close()


async def test_one_that_nobody_wants_any_more_leaves_nothing(host: DockerHost, engine: ContainerEngine) -> None:
    """As when its bridge is told to leave while the engine starts it."""
    image, folder = (
        await host._image(CONTAINER),
        (await host._opened()).runtime.sandboxes / "desktop-container-unwanted",
    )
    coming = asyncio.create_task(host._sandbox_factory.spawn(image, folder))
    await eventually((folder / "start" / "start.sock").exists)
    coming.cancel()
    with pytest.raises(asyncio.CancelledError):
        await coming
    assert container_state(engine, PREFIX + folder.name) == ""
    assert folder not in folder.parent.iterdir()


def killed_bridge(data: Path) -> str:
    """Runs a bridge until its machine is in use, and kills it; the machine's id."""
    bridge = subprocess.Popen([sys.executable, "-c", BRIDGE, str(data)], stdout=subprocess.PIPE, text=True)
    assert bridge.stdout is not None
    with bridge, bridge.stdout:
        name = bridge.stdout.readline().strip()
        os.kill(bridge.pid, signal.SIGKILL)
    return name


@pytest.fixture
def private_data(tmp_path: Path, data: Path) -> Path:
    """A data folder nobody else uses, with the images that are prepared already."""
    need_engine()
    (data / "images").mkdir(exist_ok=True)
    (tmp_path / "images").symlink_to(data / "images")
    return tmp_path


async def test_a_machine_goes_on_with_the_next_bridge(private_data: Path) -> None:
    name = await asyncio.to_thread(killed_bridge, private_data)
    host = docker_host(private_data)
    try:
        (sandbox,) = await host.adopt([name])
        with pytest.raises(StaleLease):
            await sandbox.bind(6).observe()
        machine = sandbox.bind(7)
        assert (await machine.perform("adopted-0002", ReadFile(path="note.txt"))).after.text == "before"
        await machine.prepare(Task(id="task-1", instruction="Do something."))
        await machine.perform("adopted-0003", OpenApp(name="terminal"))
        await sandbox.reset()
    finally:
        await host.close()


async def test_a_machine_goes_on_though_the_engine_does_not_answer(
    private_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As while an engine that keeps containers alive is restarted, and the bridge with it."""
    name = await asyncio.to_thread(killed_bridge, private_data)
    there = ContainerEngine()
    monkeypatch.setenv("DOCKER_HOST", f"unix://{private_data}/nobody.sock")
    host = docker_host(private_data)
    try:
        (sandbox,) = await host.adopt([name])
        assert isinstance(sandbox, LocalSandbox)
        found = await sandbox.bind(7).perform("adopted-0002", ReadFile(path="note.txt"))
        assert found.after.text == "before"
        ended = container(sandbox).name
    finally:
        await host.close()
    await eventually(lambda: container_state(there, ended) == "")


async def test_a_killed_bridge_leaves_nothing_to_the_next(private_data: Path, engine: ContainerEngine) -> None:
    name = await asyncio.to_thread(killed_bridge, private_data)
    host = docker_host(private_data)
    try:
        assert await host.adopt([]) == []
        again = await host.create(CONTAINER)
        assert isinstance(again, LocalSandbox)
        folder = again.tree.folder.parent.parent
        assert name not in {path.name for path in again.folder.parent.iterdir()}
        kept = set(await asyncio.to_thread(engine.names, str(folder)))
        assert container(again).name in kept
        assert len(kept) <= 2  # the machine, and one that stands ready
    finally:
        await host.close()
    assert await asyncio.to_thread(engine.names, str(folder)) == []


async def test_containers_end_by_themselves_when_no_bridge_comes(
    private_data: Path, engine: ContainerEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vm_bridge.hosts.docker.container.ORPHAN_TIMEOUT_SECONDS", 1)
    host = docker_host(private_data)
    try:
        sandbox = await host.create(CONTAINER)
        assert isinstance(sandbox, LocalSandbox)
        await sandbox.bind(1).perform("leash-0001", WriteFile(path="note.txt", text="x"))
        name = container(sandbox).name
        sandbox.tree.link.close()
        await eventually(lambda: container_state(engine, name) == "")
    finally:
        await host.close()
