"""From inside a sandbox nothing of the host can be reached: found out by trying."""

import itertools
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.parts.safety.escapes import OPEN, HostFacts, try_to_escape
from protocol.actions.types import RunCommand
from tests.processes import first_process
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.hosts.local.sandbox import LocalSandbox
from vm_bridge.machine import Machine

numbers = itertools.count()
REPOSITORY = Path(__file__).parents[3]
SECRET = "what only the host may read"
CONNECT = """
import socket, sys
link = socket.socket(getattr(socket, sys.argv[1]))
link.settimeout(2)
try:
    link.connect((sys.argv[2], int(sys.argv[3])) if len(sys.argv) > 3 else sys.argv[2].replace("@", chr(0)))
except OSError as error:
    print("refused", error)
else:
    print("connected")
"""
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


async def run(machine: Machine, command: str, *, timeout: float = 20) -> str:
    done = await machine.perform(
        f"escape-{next(numbers):04}", RunCommand(command=command, timeout=timeout), settle=False
    )
    return done.after.text or ""


async def connect(machine: Machine, desktop: LocalSandbox, *address: str) -> str:
    ran = await desktop.environment(1).run(["python3", "-c", CONNECT, *address])
    return ran.output


@pytest.fixture
def listener() -> Iterator[int]:
    """A service of the host on its loopback interface, as PostgreSQL, Redis and the bridge are."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("image", ["desktop", "terminal"])
async def test_every_try_to_escape_fails(host: LocalHost, listener: int, tmp_path: Path, image: str) -> None:
    secret, path, abstract = tmp_path / "secret.txt", tmp_path / "service.sock", f"@pilothouse-test-{os.getpid()}"
    secret.write_text(SECRET)
    sandbox = await host.create(image)
    with socket.socket(socket.AF_UNIX) as on_disk, socket.socket(socket.AF_UNIX) as in_memory:
        for service, name in ((on_disk, str(path)), (in_memory, abstract.replace("@", "\0"))):
            service.bind(name)
            service.listen()
        facts = HostFacts(
            files=(str(secret), str(REPOSITORY / "README.md")), ports=(listener,), sockets=(str(path), abstract),
            pids=(os.getpid(),), user_namespaces=image == "desktop",
        )  # fmt: skip
        found = await try_to_escape(sandbox.bind(1), facts)
    assert len(found) > 150
    assert {name: said for name, said in found.items() if said.startswith(OPEN)} == {}
    assert len([said for name, said in found.items() if name.startswith("system call")]) >= 40
    await sandbox.destroy()


async def test_neighbours_are_out_of_sight(host: LocalHost, desktop: LocalSandbox, machine: Machine) -> None:
    other = await host.create("desktop")
    await run(other.bind(1), "echo neighbour > /tmp/mark; (sleep 300 &) ")
    assert "neighbour" not in await run(machine, "cat /tmp/mark 2>&1; true")
    assert "sleep 300" not in await run(machine, "cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
    assert other.vnc_socket is not None
    assert "refused" in await connect(machine, desktop, "AF_UNIX", str(other.vnc_socket))


async def test_the_guest_takes_no_calls_from_inside(machine: Machine, desktop: LocalSandbox) -> None:
    for name in ("guest.sock", "tunnel.sock"):
        socket_of_guest = desktop.tree.folder / name
        assert socket_of_guest.is_socket()
        assert "refused" in await connect(machine, desktop, "AF_UNIX", str(socket_of_guest))
    assert "socket" not in await run(machine, "readlink /proc/self/fd/* 2>&1")
    assert "Permission denied" in await run(machine, "ls -l /proc/2/fd 2>&1")


async def test_a_fork_bomb_stays_inside(desktop: LocalSandbox, machine: Machine) -> None:
    ran = await desktop.environment(1).run(["python3", "-c", FORKS])
    assert 100 < int(ran.output) < 900
    assert (await desktop.usage()).processes < 1000
    assert await desktop.healthy()
    await desktop.reset()
    assert (await desktop.usage()).processes < 20


async def test_a_full_disk_stays_inside(machine: Machine) -> None:
    for folder in ("~", "/tmp", "/var/tmp", "/run", "/dev/shm"):
        told = await run(machine, f"head -c 600M /dev/zero 2>&1 > {folder}/big; rm -f {folder}/big")
        assert "No space left" in told


async def test_a_reset_leaves_nothing(desktop: LocalSandbox, machine: Machine) -> None:
    await run(machine, "echo left > ~/left; echo left > /tmp/left; (setsid sleep 1000 &)")
    await desktop.reset()
    machine = desktop.bind(2)
    assert "left" not in (await run(machine, "ls ~ /tmp; cat /proc/[0-9]*/cmdline | tr '\\0' ' '")).split()
    assert "sleep" not in await run(machine, "cat /proc/[0-9]*/comm")


async def test_sandboxes_end_with_the_bridge(data: Path) -> None:
    host = LocalHost(data)
    sandbox = await host.create("desktop")
    assert isinstance(sandbox, LocalSandbox)
    pid = first_process(sandbox).pid
    await host.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
