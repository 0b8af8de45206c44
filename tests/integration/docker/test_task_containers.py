"""Tasks of Harbor in containers that a real engine makes of their own Dockerfiles."""

import asyncio
import itertools
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from protocol.actions.types import Action, EditFile, ListFiles, ReadFile, RunCommand, TypeTerminal, WriteFile
from protocol.harbor.dockerfile import CONTAINER_IMAGE
from protocol.harbor.task_folders import parse_folder
from protocol.trajectory.observations import Transition
from protocol.trajectory.tasks import Task
from tests.integration.docker.base_images import BUSYBOX, COREUTILS, base_image, has_busybox
from tests.waiting import eventually
from vm_bridge.errors import MachineGone, OutcomeUnknown, UnsupportedAction, UnsupportedTask, VerifierFailed
from vm_bridge.hosts.docker.container import PREFIX
from vm_bridge.hosts.docker.engine import ContainerEngine
from vm_bridge.hosts.docker.host import DockerHost
from vm_bridge.hosts.local.sandbox import LocalSandbox

TEST = b'#!/bin/sh\n[ "$(cat out.txt)" = "$WANTED" ]; echo $((1 - $?)) > /logs/verifier/reward.txt\n'
CONFIG = b'[task]\nname = "lab/sum"\n[verifier]\nenv = {WANTED = "3"}\n[environment]\nenv = {ADDED = "a b"}\n'
ORDINARY = b"RUN mkdir /work && chown app /work\nUSER app\nWORKDIR /work\nENV WORD=set\nCOPY tool /bin/tool\n"
ROOT = b"WORKDIR /srv/data\n"
BRIDGE = """
import asyncio, sys
from pathlib import Path
from protocol.trajectory.tasks import Task
from vm_bridge.hosts.docker.host import DockerHost

async def main():
    sandbox = await DockerHost(Path(sys.argv[1])).create("task-container")
    await sandbox.bind(7).prepare(Task.model_validate_json(sys.argv[2]))
    print(sandbox.id, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""
commands = (f"command-{number:04}" for number in itertools.count())


@pytest.fixture(scope="session")
def engine() -> Iterator[ContainerEngine]:
    engine = ContainerEngine()
    try:
        engine.missing()
    except MachineGone as gone:
        pytest.skip(f"needs a container engine: {gone}")
    yield engine
    for image in (COREUTILS, BUSYBOX):
        engine.remove_image(image)


@pytest.fixture(params=[COREUTILS, BUSYBOX])
def base(request: pytest.FixtureRequest, engine: ContainerEngine) -> str:
    if request.param == BUSYBOX and not has_busybox():
        pytest.skip("needs a busybox without libraries")
    return base_image(engine, request.param)


@pytest.fixture
def coreutils(engine: ContainerEngine) -> str:
    return base_image(engine, COREUTILS)


@pytest_asyncio.fixture
async def host(engine: ContainerEngine, tmp_path: Path) -> AsyncIterator[DockerHost]:
    host = DockerHost(tmp_path)
    yield host
    await host.close()


@pytest_asyncio.fixture
async def sandbox(host: DockerHost) -> LocalSandbox:
    sandbox = await host.create(CONTAINER_IMAGE)
    assert isinstance(sandbox, LocalSandbox)
    return sandbox


def task_of(base: str, lines: bytes = ORDINARY, config: bytes = CONFIG, test: bytes = TEST) -> Task:
    files = {
        "task.toml": config,
        "instruction.md": b"Write 3 into out.txt.",
        "environment/Dockerfile": f"FROM {base}\n".encode() + lines,
        "environment/tool": b"#!/bin/sh\necho $WORD/$ADDED/$(pwd)/$(id -un)\n",
        "tests/test.sh": test,
        "solution/solve.sh": b"echo $((1 + 2)) > out.txt\n",
    }
    return parse_folder(files, executable={"environment/tool"}, containers=True)


async def done(sandbox: LocalSandbox, action: Action) -> Transition:
    return await sandbox.bind(1).perform(next(commands), action, settle=False)


async def ran(sandbox: LocalSandbox, command: str) -> str:
    return (await done(sandbox, RunCommand(command=command))).after.text or ""


def left(engine: ContainerEngine, sandbox: LocalSandbox) -> list[str]:
    return engine.names(str(sandbox.tree.folder.parent.parent))


async def test_what_an_attempt_left_running_is_ended_before_the_tests(sandbox: LocalSandbox, coreutils: str) -> None:
    machine = sandbox.bind(1)
    await machine.prepare(task_of(coreutils, test=b"#!/bin/sh\nsleep 1; echo 0 > /logs/verifier/reward.txt; sleep 1\n"))
    cheat = "while :; do [ -e /logs/verifier/reward.txt ] && echo 1 > /logs/verifier/reward.txt; sleep 0.1; done"
    await ran(sandbox, f"echo stays > file; nohup sh -c '{cheat}' > /dev/null 2>&1 &")
    assert (await machine.evaluate()).score == 0
    assert (await ran(sandbox, "cat file")).strip() == "stays"


async def test_a_folder_is_built_solved_and_judged_by_what_it_brings(sandbox: LocalSandbox, base: str) -> None:
    machine = sandbox.bind(1)
    await machine.prepare(task_of(base))
    assert (await ran(sandbox, "tool")).strip() == "set/a b//work/app"
    before = await machine.evaluate()
    assert (before.success, before.score) == (False, 0), "nothing was done yet"
    solution = await machine.suggest_expert_action()
    assert solution is not None
    await done(sandbox, solution.action)
    end = await machine.suggest_expert_action()
    assert end is not None
    assert end.action.kind == "finish"
    after = await machine.evaluate(answer="three")
    assert (after.success, after.score, after.verifier) == (True, 1, before.verifier)
    assert await ran(sandbox, "cat /logs/agent/answer.txt") == "three"
    with pytest.raises(UnsupportedAction):
        await machine.snapshot()


async def test_files_and_terminals_are_the_containers(sandbox: LocalSandbox, base: str) -> None:
    machine = sandbox.bind(1)
    await machine.prepare(task_of(base))
    await done(sandbox, WriteFile(path="new/a.txt", text="hello"))
    await done(sandbox, EditFile(path="new/a.txt", old="hell", new="y"))
    assert (await done(sandbox, ReadFile(path="/work/new/a.txt"))).after.text == "yo"
    assert ((await done(sandbox, ListFiles(path="new"))).after.text or "").startswith("a.txt\tfile\t2\t")
    data = bytes(range(256)) * 40_000
    await machine.files.write("big", data)
    assert await machine.files.read("big") == data
    shown = (await done(sandbox, TypeTerminal(text="cat new/a.txt; id -un; stty size; echo end\n"))).after.text or ""
    if "end\n" not in shown:
        shown = (await done(sandbox, TypeTerminal(text=""))).after.text or ""
    assert "yoapp" in shown
    async with machine.terminals.watch() as frames:
        assert b"yoapp" in (await anext(frames)).data.replace(b"\r\n", b"")
    await machine.terminals.write("main", "sleep 1234\n")
    await eventually_running(sandbox, "sleep 1234")
    await machine.terminals.close("main")
    assert "sleep 1234" not in await ran(sandbox, "ps -ef 2> /dev/null || ps")


async def eventually_running(sandbox: LocalSandbox, words: str) -> None:
    for _ in range(100):
        if words in await ran(sandbox, "ps -ef 2> /dev/null || ps"):
            return
    raise AssertionError(f"{words} does not run")


async def test_root_inside_is_bounded_and_nothing_of_the_host_is_there(sandbox: LocalSandbox, base: str) -> None:
    await sandbox.bind(1).prepare(task_of(base, ROOT))
    status = await ran(sandbox, "id -u; pwd; cat /proc/self/status")
    assert status.startswith("0\n/srv/data\n")
    assert re.search(r"CapBnd:\s+00000000000000fb", status)
    assert re.search(r"NoNewPrivs:\s+1", status)
    assert re.search(r"Seccomp:\s+2", status)
    assert re.findall(r"^ *(\w+):", await ran(sandbox, "cat /proc/net/dev"), re.MULTILINE) == ["lo"]
    assert "pilothouse" not in await ran(sandbox, "cat /proc/mounts; ls -a / /run /tmp 2> /dev/null")
    assert "docker.sock" not in await ran(sandbox, "ls -a /var/run /run 2> /dev/null; cat /proc/mounts")
    assert await ran(sandbox, "touch /etc/x /usr-x && echo written") == "written\n"


async def test_a_command_that_takes_too_long_is_ended(sandbox: LocalSandbox, coreutils: str) -> None:
    await sandbox.bind(1).prepare(task_of(coreutils))
    late = await done(sandbox, RunCommand(command="echo begun; sleep 4321 & sleep 4321", timeout=1))
    assert late.error is not None
    assert late.error.code == "timed_out"
    assert "sleep 4321" not in await ran(sandbox, "ps -ef")


async def test_a_hog_and_a_fork_bomb_stay_inside(sandbox: LocalSandbox, coreutils: str) -> None:
    await sandbox.bind(1).prepare(task_of(coreutils, config=CONFIG + b"memory_mb = 64\n"))
    if "memory" not in sandbox.capabilities.unbounded:
        assert "[exit status 137]" in await ran(sandbox, "dd if=/dev/zero of=/dev/null bs=200M count=1")
    if "pids" not in sandbox.capabilities.unbounded:
        await done(sandbox, RunCommand(command="bomb() { bomb & bomb; }; bomb", timeout=2))
    assert await sandbox.healthy()
    await sandbox.reset()
    await sandbox.bind(2).prepare(task_of(coreutils))
    assert (await sandbox.usage()).processes < 10


async def test_one_build_serves_many_attempts_and_nothing_of_one_is_in_the_next(
    sandbox: LocalSandbox, engine: ContainerEngine, coreutils: str
) -> None:
    machine, task = sandbox.bind(1), task_of(coreutils)
    owner = str(sandbox.tree.folder.parent.parent)
    await machine.prepare(task)
    await ran(sandbox, "echo left > left.txt; echo left > /tests/left; echo left > /logs/agent/left")
    images = engine.images(owner)
    await machine.prepare(task)
    assert await ran(sandbox, "ls /work /tests /solution /logs/*") == (
        "/logs/agent:\n\n/logs/artifacts:\n\n/logs/verifier:\n\n/solution:\n\n/tests:\n\n/work:\n"
    )
    assert engine.images(owner) == images
    assert len(images) == 1


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (b"RUN no-such-program\n", "no-such-program"),
        (b"RUN cat /proc/net/dev && exit 9\n", "code: 9"),
        (b"COPY nothing /\n", "nothing"),
        (b"WHAT is this\n", "[Uu]nknown instruction"),
        (b"RUN sleep 600\n", "did not end in"),
        (b"RUN rm /bin/sh\n", '"sh": executable file not found'),
    ],
)
async def test_what_cannot_be_built_or_started_is_said_and_leaves_nothing(
    sandbox: LocalSandbox, engine: ContainerEngine, coreutils: str, lines: bytes, reason: str
) -> None:
    before = len(engine.ask("GET", "/images/json", query={"all": "true"})[1])
    task = task_of(coreutils, lines, CONFIG + b"build_timeout_sec = 5\n")
    with pytest.raises(UnsupportedTask, match=f"harbor_build: (?s:.)*{reason}"):
        await sandbox.bind(1).prepare(task)
    assert left(engine, sandbox) == []
    await eventually(lambda: lines.decode().split(maxsplit=1)[1].strip() not in _commands(engine))
    if "rm /bin/sh" not in lines.decode():
        await eventually(lambda: len(engine.ask("GET", "/images/json", query={"all": "true"})[1]) == before)
    await sandbox.bind(1).prepare(task_of(coreutils))
    assert await sandbox.healthy(), "the machine serves the next task"


async def test_other_tasks_are_refused(sandbox: LocalSandbox) -> None:
    with pytest.raises(UnsupportedTask, match="folders of Harbor only"):
        await sandbox.bind(1).prepare(Task(id="task-1", instruction="Do something.", platform="terminal"))
    files = await sandbox.bind(1).perform(next(commands), ListFiles(path="/"))
    assert files.error is not None
    assert files.error.code == "no_container"


async def test_tests_that_misbehave_give_no_reward(sandbox: LocalSandbox, coreutils: str) -> None:
    machine = sandbox.bind(1)
    for test, reason in (
        (b"#!/bin/sh\nsleep 600\n", "did not end"),
        (b"#!/bin/sh\nexit 0\n", "wrote no reward"),
        (b"#!/bin/sh\necho many > /logs/verifier/reward.txt\n", "cannot be read"),
        (b"#!/bin/nothing\n", "wrote no reward"),
    ):
        await machine.prepare(task_of(coreutils, config=CONFIG.replace(b"[env", b"timeout_sec = 2\n[env"), test=test))
        with pytest.raises(VerifierFailed, match=reason):
            await machine.evaluate()


async def test_a_reset_cancels_a_build(sandbox: LocalSandbox, engine: ContainerEngine, coreutils: str) -> None:
    preparing = asyncio.create_task(sandbox.bind(1).prepare(task_of(coreutils, b"RUN sleep 4444\n")))
    await eventually(lambda: "sleep 4444" in _commands(engine))
    await sandbox.reset()
    with pytest.raises(MachineGone):
        await preparing
    await eventually(lambda: "sleep 4444" not in _commands(engine))
    await sandbox.bind(2).prepare(task_of(coreutils))


async def test_a_container_that_ends_takes_its_machine_with_it(
    sandbox: LocalSandbox, engine: ContainerEngine, coreutils: str
) -> None:
    await sandbox.bind(1).prepare(task_of(coreutils))
    (name,) = left(engine, sandbox)
    await asyncio.to_thread(engine.ask, "POST", f"/containers/{name}/kill")
    with pytest.raises(OutcomeUnknown):
        await ran(sandbox, "true")
    assert not await sandbox.healthy()
    await sandbox.reset()
    assert left(engine, sandbox) == []
    assert await sandbox.healthy()


async def test_a_container_that_fills_the_disk_is_ended(
    sandbox: LocalSandbox, engine: ContainerEngine, coreutils: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await sandbox.bind(1).prepare(task_of(coreutils))
    monkeypatch.setattr("vm_bridge.hosts.docker.task_machine.MAX_WRITTEN_BYTES", 2**20)
    await sandbox.usage()
    assert await sandbox.healthy()
    await ran(sandbox, "head -c 5000000 /dev/zero > big")
    await sandbox.usage()
    assert not await sandbox.healthy()
    assert left(engine, sandbox) == []


async def test_the_network_is_only_what_the_operator_lends(sandbox: LocalSandbox, coreutils: str) -> None:
    with pytest.raises(UnsupportedTask, match="no network"):
        await sandbox.bind(1).prepare(task_of(coreutils, config=CONFIG + b'network_mode = "public"\n'))


async def test_nothing_is_left_when_a_host_closes(engine: ContainerEngine, coreutils: str, tmp_path: Path) -> None:
    host = DockerHost(tmp_path)
    sandbox = await host.create(CONTAINER_IMAGE)
    assert isinstance(sandbox, LocalSandbox)
    await sandbox.bind(1).prepare(task_of(coreutils))
    owner = str(sandbox.tree.folder.parent.parent)
    assert (len(engine.names(owner)), len(engine.images(owner))) == (1, 1)
    await host.close()
    assert (engine.names(owner), engine.images(owner)) == ([], [])


def killed_bridge(data: Path, task: Task) -> str:
    """Runs a bridge until its machine has a task, and kills it; the machine's id."""
    command = [sys.executable, "-c", BRIDGE, str(data), task.model_dump_json()]
    bridge = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert bridge.stdout is not None
    with bridge, bridge.stdout:
        name = bridge.stdout.readline().strip()
        os.kill(bridge.pid, signal.SIGKILL)
    return name


async def test_a_machine_goes_on_with_the_next_bridge(coreutils: str, tmp_path: Path) -> None:
    name = await asyncio.to_thread(killed_bridge, tmp_path, task_of(coreutils))
    host = DockerHost(tmp_path)
    try:
        (sandbox,) = await host.adopt([name])
        machine = sandbox.bind(7)
        solution = await machine.suggest_expert_action()
        assert solution is not None
        await machine.perform("adopted-0001", solution.action)
        assert (await machine.evaluate()).success
    finally:
        await host.close()


async def test_a_killed_bridge_leaves_nothing_to_the_next(
    engine: ContainerEngine, coreutils: str, tmp_path: Path
) -> None:
    await asyncio.to_thread(killed_bridge, tmp_path, task_of(coreutils))
    host = DockerHost(tmp_path)
    try:
        assert await host.adopt([]) == []
        owner = str((await host._opened()).runtime.path)
        assert (engine.names(owner), engine.images(owner)) == ([], [])
    finally:
        await host.close()


async def test_a_container_ends_by_itself_when_no_bridge_comes(
    engine: ContainerEngine, host: DockerHost, coreutils: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vm_bridge.hosts.docker.task_machine.ORPHAN_TIMEOUT_SECONDS", 1)
    sandbox = await host.create(CONTAINER_IMAGE)
    assert isinstance(sandbox, LocalSandbox)
    await sandbox.bind(1).prepare(task_of(coreutils))
    (name,) = left(engine, sandbox)
    assert name == PREFIX + sandbox.tree.folder.name
    sandbox.tree.link.close()
    await eventually(lambda: left(engine, sandbox) == [])


def _commands(engine: ContainerEngine) -> str:
    return " ".join(str(each["Command"]) for each in engine.ask("GET", "/containers/json")[1])
