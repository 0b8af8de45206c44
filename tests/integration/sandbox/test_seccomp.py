"""Programs in a sandbox reach few parts of the kernel: found out by calling them."""

import itertools

from protocol.actions.types import RunCommand
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.machine import Machine

numbers = itertools.count()
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


async def run(machine: Machine, program: str, *arguments: str) -> str:
    quoted = " ".join(f"'{argument}'" for argument in arguments)
    command = f"python3 - {quoted} <<'END'\n{program}\nEND"
    done = await machine.perform(f"try-{next(numbers):04}", RunCommand(command=command, timeout=30), settle=False)
    return (done.after.text or "").strip()


async def test_a_machine_without_a_browser_makes_no_user_namespaces(host: LocalHost) -> None:
    sandbox = await host.create("terminal")
    terminal = sandbox.bind(1)
    assert await run(terminal, NESTED) == "EPERM"
    assert await run(terminal, THREADS) == "fine"
