"""One sandbox cannot take what the others need: tried with programs that do."""

import dataclasses
import itertools
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.waiting import eventually
from vm_bridge.errors import MachineGone
from vm_bridge.hosts.firstprocess import FirstProcess
from vm_bridge.hosts.local import LocalHost
from vm_bridge.hosts.localsandbox import LocalSandbox
from vocabulary.actions import RunCommand

MIB = 1024 * 1024
MEMORY_HOG = "held = [bytearray(8 * 2**20) for _ in range(200)]; print('all of it')"
PROCESSOR_HOG = "setsid -f python3 -c 'while True: pass' > /dev/null 2>&1"
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
    first = desktop.tree.first.pid
    guest = FirstProcess(children(first)[0])
    os.kill(guest.pid, signal.SIGSTOP)
    assert not await desktop.healthy()
    await desktop.reset()
    assert await desktop.healthy()
    with pytest.raises(MachineGone):
        FirstProcess(guest.pid, guest.began)
    guest.close()
