"""Programs in a sandbox reach few parts of the kernel: found out by calling them."""

import itertools
import json

import pyseccomp

from protocol.actions.types import RunCommand
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.isolation.seccomp import DENIED_SYSCALLS
from vm_bridge.machine import Machine

numbers = itertools.count()
TRY = """
import ctypes, errno, json, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
found = {}
for name, number in json.loads(sys.argv[1]).items():
    ctypes.set_errno(0)
    result = libc.syscall(number, 0, 0, 0, 0, 0, 0)
    found[name] = errno.errorcode.get(ctypes.get_errno(), "done") if result < 0 else "done"
for name, number in json.loads(sys.argv[2]).items():
    try:
        socket.socket(number[0], number[1], number[2]).close()
        found[name] = "done"
    except OSError as error:
        found[name] = errno.errorcode[error.errno]
link = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
try:
    link.setsockopt(0, 64, b"x" * 96)
    found["firewall"] = "done"
except OSError as error:
    found["firewall"] = errno.errorcode[error.errno]
import fcntl, os, pty, termios
master, slave = pty.openpty()
try:
    fcntl.ioctl(slave, termios.TIOCSTI, b"x")
    found["typing into a terminal"] = "done"
except OSError as error:
    found["typing into a terminal"] = errno.errorcode[error.errno]
print(json.dumps(found))
"""
NETLINK, PACKET, VSOCK, ALGORITHMS, XDP, KEYS = 16, 17, 40, 38, 44, 15
SOCKETS = {
    "netlink of the firewall": (NETLINK, 3, 12),
    "netlink of IPsec": (NETLINK, 3, 6),
    "netlink of audits": (NETLINK, 3, 9),
    "packets": (PACKET, 3, 0),
    "virtual machines": (VSOCK, 1, 0),
    "algorithms": (ALGORITHMS, 5, 0),
    "express data path": (XDP, 3, 0),
    "IPsec keys": (KEYS, 3, 2),
    "a family of tomorrow": (46, 1, 0),
}
NESTED = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
print("done" if libc.unshare(0x10000000) == 0 else errno.errorcode[ctypes.get_errno()])
"""
THREADS = """
import subprocess, threading
threads = [threading.Thread(target=lambda: None) for _ in range(20)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(subprocess.run(["echo", "fine"], capture_output=True, text=True).stdout.strip())
"""


def numbers_of(names: tuple[str, ...]) -> dict[str, int]:
    """The system calls that this machine's architecture has."""
    found = {}
    for name in names:
        try:
            number = pyseccomp.resolve_syscall(pyseccomp.system_arch(), name)
        except (ValueError, OSError, RuntimeError):
            continue
        if number >= 0:
            found[name] = number
    return found


async def run(machine: Machine, program: str, *arguments: str) -> str:
    quoted = " ".join(f"'{argument}'" for argument in arguments)
    command = f"python3 - {quoted} <<'END'\n{program}\nEND"
    done = await machine.perform(f"try-{next(numbers):04}", RunCommand(command=command, timeout=30), settle=False)
    return (done.after.text or "").strip()


async def test_parts_of_the_kernel_that_no_program_needs_are_refused(machine: Machine) -> None:
    calls = numbers_of(DENIED_SYSCALLS)
    assert len(calls) >= 40
    told = json.loads(await run(machine, TRY, json.dumps(calls), json.dumps(SOCKETS)))
    assert len(told) == len(calls) + len(SOCKETS) + 2
    assert {name: said for name, said in told.items() if said not in ("EPERM", "ENOSYS")} == {}


async def test_every_process_is_filtered(machine: Machine) -> None:
    told = await run(machine, "print([l.split()[1] for l in open('/proc/self/status') if l.startswith('Seccomp:')])")
    assert told == "['2']"


async def test_a_machine_without_a_browser_makes_no_user_namespaces(host: LocalHost) -> None:
    sandbox = await host.create("terminal")
    terminal = sandbox.bind(1)
    assert await run(terminal, NESTED) == "EPERM"
    assert await run(terminal, THREADS) == "fine"
