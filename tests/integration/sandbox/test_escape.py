"""From inside a sandbox nothing of the host can be reached: found out by trying."""

import itertools
import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from protocol.actions.types import RunCommand
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


async def test_host_files_are_not_there(machine: Machine, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET)
    for path in (secret, REPOSITORY / "README.md", Path("/etc/shadow"), Path("/etc/ssh"), Path("/root"), Path("/sys")):
        assert "No such file" in await run(machine, f"cat '{path}' 2>&1 || ls '{path}' 2>&1")
    assert SECRET not in await run(machine, f"grep -rs '{SECRET[:12]}' / --include=secret.txt 2>/dev/null; true")


async def test_no_way_around_through_a_process(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text(SECRET)
    told = await run(machine, f"cat /proc/[0-9]*/root{tmp_path}/secret.txt /proc/[0-9]*/cwd{tmp_path}/secret.txt 2>&1")
    assert SECRET not in told


async def test_host_ports_do_not_answer(machine: Machine, desktop: LocalSandbox, listener: int) -> None:
    assert "refused" in await connect(machine, desktop, "AF_INET", "127.0.0.1", str(listener))
    interfaces = re.findall(r"^ *(\w+):", await run(machine, "cat /proc/net/dev"), re.MULTILINE)
    assert interfaces == ["lo"]


async def test_host_sockets_do_not_answer(machine: Machine, desktop: LocalSandbox, tmp_path: Path) -> None:
    path, name = tmp_path / "service.sock", f"@pilothouse-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as on_disk, socket.socket(socket.AF_UNIX) as abstract:
        on_disk.bind(str(path))
        on_disk.listen()
        abstract.bind(name.replace("@", "\0"))
        abstract.listen()
        assert "refused" in await connect(machine, desktop, "AF_UNIX", str(path))
        assert "refused" in await connect(machine, desktop, "AF_UNIX", name)


async def test_neighbours_are_out_of_sight(host: LocalHost, desktop: LocalSandbox, machine: Machine) -> None:
    other = await host.create("desktop")
    await run(other.bind(1), "echo neighbour > /tmp/mark; (sleep 300 &) ")
    assert "neighbour" not in await run(machine, "cat /tmp/mark 2>&1; true")
    assert "sleep 300" not in await run(machine, "cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
    assert other.vnc_socket is not None
    assert "refused" in await connect(machine, desktop, "AF_UNIX", str(other.vnc_socket))


async def test_host_processes_cannot_be_signalled(machine: Machine) -> None:
    assert "No such process" in await run(machine, f"kill -0 {os.getpid()} 2>&1; kill -0 {2**22 - 2} 2>&1")
    count = int(await run(machine, "ls -d /proc/[0-9]* | wc -l"))
    assert count < 30


async def test_the_system_is_read_only_and_rights_stay_away(machine: Machine) -> None:
    for folder in ("/usr/bin", "/etc", "/image", "/", "/dev"):
        assert "Read-only" in await run(machine, f"touch {folder}/x 2>&1")
    status = await run(machine, "grep -E 'CapEff|CapPrm|CapAmb|NoNewPrivs' /proc/self/status")
    assert re.findall(r"Cap\w+:\s+(\w+)", status) == ["0" * 16] * 3
    assert re.search(r"NoNewPrivs:\s+1", status)
    assert "superuser" in await run(machine, "mount -t tmpfs none /tmp 2>&1")


async def test_the_guest_cannot_be_read_or_stopped_from_inside(machine: Machine) -> None:
    finder = "guest=$(grep -la vm_bridge.guest.linux.main /proc/[0-9]*/cmdline | cut -d/ -f3 | sort -n | sed -n 2p)"
    told = await run(
        machine, f"{finder}; head -c 10 /proc/$guest/mem /proc/$guest/environ 2>&1; ls /proc/$guest/cwd/ 2>&1"
    )
    assert told.count("Permission denied") == 3


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
    pid = sandbox.tree.first.pid
    await host.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
