"""A machine of the image `task-container` from end to end, with an engine that is not there."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from benchmarks.parts.tasks.bad_folders import GOOD
from protocol.actions.types import RunCommand, TypeTerminal, WriteFile
from protocol.harbor.dockerfile import CONTAINER_IMAGE
from protocol.harbor.task_folders import parse_folder
from protocol.trajectory.tasks import Task
from tests.processes import first_process
from tests.unit.vm_bridge.hosts.container_engine import FakeContainerEngine
from tests.waiting import LIMIT, eventually
from vm_bridge.errors import MachineGone, UnsupportedAction, UnsupportedTask, VerifierFailed
from vm_bridge.hosts.docker import task_machine
from vm_bridge.hosts.docker.host import DockerHost
from vm_bridge.hosts.docker.task_io import TASK_KINDS
from vm_bridge.hosts.local.sandbox import LocalSandbox
from vm_bridge.machine import Machine

TASK = parse_folder({**GOOD, "environment/Dockerfile": b"FROM alpine:3.20\nUSER nobody\n"}, containers=True)
commands = (f"command-{number:04}" for number in itertools.count())


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeContainerEngine]:
    (tmp_path / "work").mkdir()
    fake = FakeContainerEngine(tmp_path / "work", tmp_path / "engine.sock", state="missing")
    monkeypatch.setenv("DOCKER_HOST", fake.address)
    with fake.serving():
        yield fake


@pytest_asyncio.fixture
async def host(fake: FakeContainerEngine, tmp_path: Path) -> AsyncIterator[DockerHost]:
    host = DockerHost(tmp_path / "data")
    yield host
    await host.close()


@pytest_asyncio.fixture
async def sandbox(host: DockerHost) -> LocalSandbox:
    sandbox = await host.create(CONTAINER_IMAGE)
    assert isinstance(sandbox, LocalSandbox)
    return sandbox


async def shows(machine: Machine, text: str) -> None:
    """Return once the terminal shows a text: a busy machine may rest before it prints."""
    async with asyncio.timeout(LIMIT):
        while text not in ((await machine.observe()).text or ""):
            pass


async def test_a_machine_gets_its_inside_with_a_task(sandbox: LocalSandbox, fake: FakeContainerEngine) -> None:
    machine = sandbox.bind(1)
    assert (machine.capabilities.kinds, machine.capabilities.streams) == (TASK_KINDS, ("terminal",))
    await shows(machine, "no task has been prepared")
    assert fake.paths("PUT") == []
    await machine.prepare(TASK)
    done = await machine.perform(next(commands), RunCommand(command="echo 3 > out.txt; pwd"))
    assert done.after.text == f"{fake.folder}\n"
    await machine.perform(next(commands), WriteFile(path="more.txt", text="more"))
    await machine.perform(next(commands), TypeTerminal(text="cat more.txt out.txt\n"))
    await shows(machine, "more3")
    with pytest.raises(VerifierFailed, match="wrote no reward"):
        await machine.evaluate()
    assert fake.paths("POST").count("/build") == 1


@pytest.mark.parametrize(("config", "restarts"), [(b"", 1), (b"[metadata]\nkeep_processes = true\n", 0)])
async def test_what_an_attempt_left_running_ends_with_a_restart_before_the_tests(
    sandbox: LocalSandbox, fake: FakeContainerEngine, config: bytes, restarts: int
) -> None:
    dockerfile = b"FROM alpine:3.20\nUSER nobody\n"
    task = parse_folder({**GOOD, "task.toml": config, "environment/Dockerfile": dockerfile}, containers=True)
    await sandbox.bind(1).prepare(task)
    with pytest.raises(VerifierFailed, match="wrote no reward"):
        await sandbox.bind(1).evaluate()
    assert sum(path.endswith("/restart") for path in fake.paths("POST")) == restarts


async def test_it_ends_with_the_attempt_and_the_image_serves_the_next(
    sandbox: LocalSandbox, fake: FakeContainerEngine
) -> None:
    await sandbox.bind(1).prepare(TASK)
    name = sandbox.tree.folder.name
    await sandbox.bind(1).prepare(TASK)
    assert f"/containers/pilothouse-{name}" in fake.paths("DELETE")
    assert fake.paths("POST").count("/build") == 1
    await sandbox.reset()
    assert fake.state == "missing"
    with pytest.raises(UnsupportedAction):
        await sandbox.bind(2).snapshot()


async def test_tasks_that_no_engine_makes_are_refused_and_the_machine_goes_on(
    sandbox: LocalSandbox, fake: FakeContainerEngine
) -> None:
    machine = sandbox.bind(1)
    for task in (Task(id="task-1", instruction="Do.", platform="terminal"), parse_folder(GOOD)):
        with pytest.raises(UnsupportedTask):
            await machine.prepare(task)
    assert "/build" not in fake.paths("POST")
    fake.build = [{"error": "exit code 127"}]
    with pytest.raises(UnsupportedTask, match="harbor_build: exit code 127"):
        await machine.prepare(TASK)
    fake.build = []
    await machine.prepare(TASK)


async def test_a_reset_cancels_a_build(sandbox: LocalSandbox, fake: FakeContainerEngine) -> None:
    fake.build_ends = False
    preparing = asyncio.create_task(sandbox.bind(1).prepare(TASK))
    await eventually(lambda: "/build" in fake.paths("POST"))
    await sandbox.reset()
    with pytest.raises(MachineGone):
        await preparing
    await eventually(fake.cancelled.is_set)


async def test_what_it_costs_is_the_containers_and_one_that_fills_the_disk_ends(
    sandbox: LocalSandbox, fake: FakeContainerEngine
) -> None:
    fake.stats = {
        "memory_stats": {"usage": 100, "stats": {"inactive_file": 30}},
        "cpu_stats": {"cpu_usage": {"total_usage": 2_500_000_000}},
        "pids_stats": {"current": 4},
    }
    await sandbox.bind(1).prepare(TASK)
    usage = await sandbox.usage()
    assert (usage.pss, usage.cpu_seconds, usage.processes) == (70, 2.5, 4)
    assert await sandbox.healthy()
    fake.written = task_machine.MAX_WRITTEN_BYTES + 1
    await sandbox.usage()
    assert fake.state == "missing"
    assert not await sandbox.healthy()


async def test_nothing_is_left_when_the_host_closes(
    host: DockerHost, sandbox: LocalSandbox, fake: FakeContainerEngine
) -> None:
    await sandbox.bind(1).prepare(TASK)
    assert len(fake.images) == 1
    await host.close()
    assert (fake.state, fake.images) == ("missing", {})


async def test_a_process_beside_the_container_is_given_no_secrets(
    host: DockerHost, fake: FakeContainerEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PILOTHOUSE_BRIDGE_KEYS", "host=very-secret")
    sandbox = await host.create(CONTAINER_IMAGE)
    assert isinstance(sandbox, LocalSandbox)
    environment = _environment_of(first_process(sandbox).pid)
    assert b"DOCKER_HOST" in environment
    assert b"very-secret" not in environment


def _environment_of(pid: int) -> bytes:
    return Path(f"/proc/{pid}/environ").read_bytes()
