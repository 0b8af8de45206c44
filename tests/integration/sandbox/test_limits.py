"""One sandbox cannot take what the others need: tried with programs that do."""

import dataclasses
import itertools
import json
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from protocol.actions.types import RunCommand
from tests.processes import first_process
from tests.waiting import eventually
from vm_bridge.errors import MachineGone
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.hosts.local.sandbox import LocalSandbox
from vm_bridge.isolation.init_process import InitProcess
from vm_bridge.isolation.users import user_free

MIB = 1024 * 1024
MEMORY_HOG = "held = [bytearray(8 * 2**20) for _ in range(200)]; print('all of it')"
PROCESSOR_HOG = "setsid -f python3 -c 'while True: pass' > /dev/null 2>&1"
TAKE_ALL = """
import ctypes, fcntl, json, os, resource, signal, sys, time
libc = ctypes.CDLL(None, use_errno=True)
limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

def taken(take, most):
    for count in range(most):
        if take(count) < 0:
            return count
    return most

def inotify(count):
    return libc.inotify_init()

def pipe(count, held=[]):
    held.append(os.pipe())
    try:
        fcntl.fcntl(held[-1][0], 1031, 2**20)
        return 0
    except PermissionError:
        return -1

def message_queue(count):
    return libc.mq_open(b"/%d-%d" % (os.getpid(), count), os.O_CREAT | os.O_RDWR, 0o600, None)

def pending_signal(count):
    if count == 0:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
    return libc.sigqueue(os.getpid(), signal.SIGRTMIN, ctypes.c_void_p(count))

most = int(sys.argv[1])
found = {each.__name__: taken(each, most) for each in (inotify, pipe, message_queue, pending_signal)}
print(json.dumps(found), flush=True)
if len(sys.argv) > 2:
    os.close(1)
    os.close(2)
    time.sleep(600)
"""
"""Takes what the kernel counts by user, as much as it gets; with a second argument it keeps that."""
SOME = 4
numbers = itertools.count()


@pytest_asyncio.fixture
async def small(data: Path) -> AsyncIterator[LocalSandbox]:
    """A desktop that may take a fifth of a core and 600 MiB."""
    host = LocalHost(data)
    image = await host._image("desktop")
    manifest = image.manifest.model_copy(update={"cores": 0.2, "memory": 600 * MIB})
    host._ready["desktop"] = dataclasses.replace(image, manifest=manifest)
    sandbox = await host.create("desktop")
    assert isinstance(sandbox, LocalSandbox)
    yield sandbox
    await host.close()


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


async def run(sandbox: LocalSandbox, command: str) -> str:
    done = await sandbox.bind(1).perform(f"limit-{next(numbers):04}", RunCommand(command=command), settle=False)
    return done.after.text or ""


def bounded(sandbox: LocalSandbox, controller: str) -> Path:
    """The control group that bounds a sandbox in something."""
    groups = sandbox.tree.groups
    if controller in groups.missing:
        pytest.skip(f"this machine lets nobody bound {controller}")
    return next((path for path in groups.paths if controller in path.parts), groups.paths[0])


async def test_a_memory_hog_is_ended_alone(small: LocalSandbox) -> None:
    bounded(small, "memory")
    told = await run(small, f'python3 -c "{MEMORY_HOG}" 2>&1; echo $?')
    assert told.endswith("137\n")  # killed
    assert await small.healthy()
    assert (await small.bind(1).observe(settle=True)).screenshot is not None


async def test_a_processor_hog_is_held_back(small: LocalSandbox) -> None:
    group = bounded(small, "cpu")
    await run(small, PROCESSOR_HOG)

    def held_back() -> bool:
        told = dict(line.split()[:2] for line in (group / "cpu.stat").read_text().splitlines())
        return int(told["nr_throttled"]) > 0

    await eventually(held_back)
    assert await small.healthy()


async def test_groups_go_with_the_sandbox(small: LocalSandbox) -> None:
    groups = small.tree.groups.paths
    await small.destroy()
    assert not any(path.exists() for path in groups)


async def test_a_guest_that_hangs_is_found_and_replaced(desktop: LocalSandbox) -> None:
    first = first_process(desktop).pid
    guest = InitProcess(children(first)[0])
    os.kill(guest.pid, signal.SIGSTOP)
    assert not await desktop.healthy()
    await desktop.reset()
    assert await desktop.healthy()
    with pytest.raises(MachineGone):
        InitProcess(guest.pid, guest.began)
    guest.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="sandboxes of a bridge that is not root are one user")
async def test_what_the_kernel_counts_by_user_is_each_sandbox_s_own(data: Path) -> None:
    """One takes all inotify instances, pages of pipes, message queues and pending signals; the next has its own."""
    host = LocalHost(data)
    try:
        greedy, other = await host.create("terminal"), await host.create("terminal")
        assert isinstance(greedy, LocalSandbox)
        assert isinstance(other, LocalSandbox)
        write, most = f"cat > /tmp/take.py <<'END'\n{TAKE_ALL}\nEND\n", 70_000
        taken = json.loads(await run(greedy, f"{write} setsid -f python3 /tmp/take.py {most} keep 2>&1 | head -1"))
        assert all(count < most for count in taken.values()), taken
        left = json.loads(await run(greedy, f"python3 /tmp/take.py {SOME}"))
        assert all(count <= 1 for count in left.values()), left
        assert json.loads(await run(other, f"{write} python3 /tmp/take.py {SOME}")) == dict.fromkeys(taken, SOME)
    finally:
        await host.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="sandboxes of a bridge that is not root are one user")
def test_users_are_not_given_twice() -> None:
    given = [user_free() for _ in range(300)]
    assert None not in given
    assert len(set(given)) == len(given)
