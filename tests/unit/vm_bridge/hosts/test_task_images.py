"""Images of tasks: what the engine is asked to build, what is kept, and what becomes of a build that fails."""

import io
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.parts.tasks.bad_folders import GOOD
from protocol.base import JsonObject
from protocol.harbor.task_folders import harbor_task, parse_folder
from protocol.trajectory.tasks import Task
from tests.unit.vm_bridge.hosts.container_engine import FakeContainerEngine
from vm_bridge.errors import MachineGone, UnsupportedTask, VerifierFailed
from vm_bridge.hosts.docker import task_images
from vm_bridge.hosts.docker.engine import LABEL, ContainerEngine
from vm_bridge.hosts.docker.task_config import MachineLimits, container_config, folders_archive
from vm_bridge.hosts.docker.task_guest import TaskGuest
from vm_bridge.hosts.docker.task_images import BuildFailed, TaskImages
from vm_bridge.suites import CommandResult
from vm_bridge.suites.container_plan import ContainerPlan
from vm_bridge.suites.harbor import HarborSuite
from vm_bridge.suites.harbor_container import ContainerHarborSuite

DOCKERFILE = b"FROM alpine:3.20\nUSER nobody\nRUN <<EOF\nls\nEOF\n"
LIMITS = MachineLimits(owner="/tmp/host", cores=2, memory=2**30, processes=300)
LAYERS = [{"stream": "Step 1/2"}, {"stream": " ---> aaaaaaaaaaaa\n"}, {"stream": " ---> bbbbbbbbbbbb\n"}]


def task_of(config: bytes = b"", **more: bytes) -> Task:
    files = {**GOOD, "task.toml": config, "environment/Dockerfile": DOCKERFILE, "environment/run": b"#!/bin/sh\n"}
    return parse_folder({**files, **more}, executable={"environment/run"}, containers=True)


def plan_of(config: bytes = b"", **more: bytes) -> ContainerPlan:
    harbor = harbor_task(task_of(config, **more))
    assert harbor is not None
    assert harbor.container is not None
    return ContainerPlan.of(harbor, harbor.container)


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[FakeContainerEngine]:
    with FakeContainerEngine(tmp_path, tmp_path / "engine.sock", build=list(LAYERS)).serving() as fake:
        yield fake


def images_of(fake: FakeContainerEngine, limits: MachineLimits = LIMITS) -> TaskImages:
    return TaskImages(ContainerEngine(fake.address), limits, fake.folder / "lock")


def builds(fake: FakeContainerEngine) -> list[tuple[dict[str, list[str]], bytes]]:
    """The settings and the context of each build."""
    return [
        (dict(query), body) for (_, path, query), body in zip(fake.asked, fake.bodies, strict=True) if path == "/build"
    ]


def test_the_folder_is_built_as_it_is_once_and_within_bounds(fake: FakeContainerEngine) -> None:
    plan = plan_of()
    name = images_of(fake).ensure(plan)
    assert images_of(fake).ensure(plan) == name
    ((query, context),) = builds(fake)
    assert query["t"] == [name]
    assert (query["networkmode"], query["memory"], query["memswap"]) == (["none"], [str(2**30)], [str(2**30)])
    assert (query["cpuquota"], query["cpuperiod"]) == (["200000"], ["100000"])
    assert query["labels"] == [f'{{"{LABEL}": "/tmp/host"}}']
    with tarfile.open(fileobj=io.BytesIO(context)) as archive:
        assert {entry.name: entry.mode for entry in archive} == {"Dockerfile": 0o644, "run": 0o755}
        found = archive.extractfile("Dockerfile")
        assert found is not None
        assert found.read() == DOCKERFILE


def test_another_content_and_another_bridge_have_another_image(fake: FakeContainerEngine) -> None:
    names = {
        images_of(fake, limits).ensure(plan)
        for limits in (LIMITS, LIMITS.model_copy(update={"owner": "/tmp/other", "network": "lab"}))
        for plan in (plan_of(), plan_of(**{"environment/more": b""}))
    }
    assert len(names) == len(builds(fake)) == 4
    assert [query["networkmode"] for query, _ in builds(fake)] == [["none"], ["none"], ["lab"], ["lab"]]


def test_a_ready_made_image_is_one_line(fake: FakeContainerEngine) -> None:
    images_of(fake).ensure(plan_of(b'[environment]\ndocker_image = "lab/sum:2"\n'))
    ((_, context),) = builds(fake)
    with tarfile.open(fileobj=io.BytesIO(context)) as archive:
        assert archive.getnames() == ["Dockerfile"]
        found = archive.extractfile("Dockerfile")
        assert found is not None
        assert found.read() == b"FROM lab/sum:2\n"


def test_a_build_that_fails_says_why_and_its_layers_go(fake: FakeContainerEngine) -> None:
    fake.build = [*LAYERS, {"stream": "\x1b[91mno such program\x1b[0m\n"}, {"error": "exit code 127"}]
    fake.images = {"aaaaaaaaaaaa": {"RepoTags": ["alpine:3.20"]}, "bbbbbbbbbbbb": {"RepoTags": []}}
    with pytest.raises(BuildFailed, match=r"(?s)^exit code 127\n.*\nno such program$"):
        images_of(fake).ensure(plan_of())
    assert list(fake.images) == ["aaaaaaaaaaaa"]
    fake.build = [LAYERS[1], {"error": "exit code 1"}]
    with pytest.raises(BuildFailed):
        images_of(fake).ensure(plan_of())
    assert list(fake.images) == ["aaaaaaaaaaaa"], "the image that it began from is somebody's"


def test_a_dockerfile_that_the_engine_cannot_read_is_a_failed_build(fake: FakeContainerEngine) -> None:
    fake.build_status = 400
    with pytest.raises(BuildFailed, match="cannot be read"):
        images_of(fake).ensure(plan_of())


@pytest.mark.parametrize(
    "lines",
    [
        b"ADD http://169.254.169.254/ /x",
        b"add file.tar /x",
        b"ONBUILD ADD $A /x",
        b"\xc2\xa0ADD a b",
        b"AD\\\n# in between\n\nD http://example.org /x",
        b"RUN x \\\\\nADD http://example.org /x",
        b'ADD["http://example.org", "/x"]',
    ],
)
def test_a_build_without_a_network_lets_the_engine_fetch_nothing(fake: FakeContainerEngine, lines: bytes) -> None:
    plan = plan_of(**{"environment/Dockerfile": b"FROM alpine\n" + lines + b"\n"})
    with pytest.raises(BuildFailed, match="ADD"):
        images_of(fake).ensure(plan)
    assert not builds(fake)
    images_of(fake, LIMITS.model_copy(update={"network": "lab"})).ensure(plan)


def test_words_that_only_look_like_it_are_built(fake: FakeContainerEngine) -> None:
    lines = b"# ADD x y\nRUN add-apt-repository x && \\\n  git add x\nENV ADDED=1\nCOPY ADD /x\n"
    images_of(fake).ensure(plan_of(**{"environment/Dockerfile": b"FROM alpine\n" + lines}))
    assert len(builds(fake)) == 1


def test_a_build_that_takes_too_long_is_cancelled(fake: FakeContainerEngine) -> None:
    fake.build_ends = False
    with pytest.raises(BuildFailed, match=r"did not end in 0\.3 s"):
        images_of(fake).ensure(plan_of(b"[environment]\nbuild_timeout_sec = 0.3\n"))
    assert fake.cancelled.wait(40)


def test_an_image_that_is_too_large_is_removed(fake: FakeContainerEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_images, "MAX_IMAGE_BYTES", 999)
    with pytest.raises(BuildFailed, match="more than 999"):
        images_of(fake).ensure(plan_of())
    assert not fake.images


def test_the_oldest_images_go_where_there_are_many(fake: FakeContainerEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_images, "MAX_IMAGES", 2)
    names = [images_of(fake).ensure(plan_of(**{"environment/more": bytes([48 + number])})) for number in range(3)]
    assert list(fake.images) == names[1:]


def test_two_machines_build_an_image_once(fake: FakeContainerEngine) -> None:
    plan = plan_of()
    both = [threading.Thread(target=images_of(fake).ensure, args=(plan,)) for _ in range(2)]
    for each in both:
        each.start()
    for each in both:
        each.join()
    assert len(builds(fake)) == 1


def test_the_engine_is_told_of_every_bound_of_a_task() -> None:
    told = container_config("image", plan_of(), LIMITS)
    walls = told["HostConfig"]
    assert (walls["NetworkMode"], walls["CapDrop"]) == ("none", ["ALL"])
    assert {"NET_RAW", "NET_ADMIN", "SYS_ADMIN", "SYS_PTRACE", "MKNOD", "SETFCAP"}.isdisjoint(walls["CapAdd"])
    assert walls["SecurityOpt"] == ["no-new-privileges:true"]
    assert (walls["Memory"], walls["MemorySwap"], walls["PidsLimit"]) == (2**30, 2**30, 300)
    assert walls["NanoCpus"] == 2_000_000_000
    assert not {"Binds", "Mounts", "Privileged", "PortBindings", "Devices", "PidMode"} & set(walls), (
        "nothing of the host"
    )
    assert "User" not in told, "it is the image's user"
    assert told["Labels"] == {LABEL: "/tmp/host"}


def test_a_task_gets_what_it_asks_for_as_far_as_there_is_so_much() -> None:
    config = b'[environment]\ncpus = 1\nmemory_mb = 256\nworkdir = "/w"\nenv = {A = "b c"}\nnetwork_mode = "public"\n'
    lent = LIMITS.model_copy(update={"network": "lab"})
    told = container_config("image", plan_of(config), lent)
    assert (told["WorkingDir"], told["Env"], told["HostConfig"]["NetworkMode"]) == ("/w", ["A=b c"], "lab")
    assert (told["HostConfig"]["NanoCpus"], told["HostConfig"]["Memory"]) == (1_000_000_000, 256 * 2**20)
    more = container_config("image", plan_of(b"[environment]\ncpus = 64\nmemory_mb = 900000\n"), lent)
    assert (more["HostConfig"]["NanoCpus"], more["HostConfig"]["Memory"]) == (2_000_000_000, 2**30)
    assert more["HostConfig"]["NetworkMode"] == "none"


def test_a_container_is_started_with_the_folders_of_every_task(fake: FakeContainerEngine) -> None:
    guest = TaskGuest(ContainerEngine(fake.address), "one", LIMITS, fake.folder / "lock")
    assert guest.start_container({"plan": plan_of().model_dump(mode="json")}) == {"failed": None}
    assert fake.paths("PUT") == ["/containers/one/archive"]
    assert folders_archive() in fake.bodies
    refused = guest.start_container(
        {"plan": plan_of(b'[environment]\nnetwork_mode = "public"\n').model_dump(mode="json")}
    )
    assert "no network" in str(refused["failed"])
    assert "senseless" not in str(guest.start_container({"plan": {"context": "?"}})["failed"])


def test_an_engine_that_is_silent_is_no_fault_of_the_task(tmp_path: Path) -> None:
    with pytest.raises(MachineGone, match="no container engine answers"):
        TaskImages(ContainerEngine(f"unix://{tmp_path}/none"), LIMITS, tmp_path / "lock").ensure(plan_of())


class Inside:
    """A container that notes what a suite does in it."""

    def __init__(self, reward: str | None = "1", failed: Exception | None = None) -> None:
        self.reward, self.failed = reward, failed
        self.done: list[Any] = []

    async def start_container(self, plan: ContainerPlan) -> None:
        self.done.append(plan)

    async def replace_folder(self, path: str, archive: bytes) -> None:
        with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
            self.done.append((path, {entry.name: entry.mode for entry in packed}))

    async def run(self, argv: Any, *, timeout: float = 30.0) -> CommandResult:
        self.done.append(tuple(argv))
        return CommandResult(0, "said")

    async def read(self, path: str) -> str | None:
        return self.reward if path.endswith(".txt") else None

    async def write(self, path: str, text: str) -> None:
        self.done.append((path, text))

    async def start(self, argv: Any) -> None:
        raise NotImplementedError

    async def wait_for_window(self, title: str, *, timeout: float = 15.0) -> bool:
        raise NotImplementedError


async def test_tests_are_put_in_place_and_run_as_harbors_runner_does() -> None:
    suite, inside = ContainerHarborSuite(), Inside()
    task = task_of(b'[verifier]\nenv = {A = "b c"}\n', **{"tests/data.txt": b"x"})
    await suite.prepare(task, inside)
    assert inside.done == [plan_of()]
    verdict = await suite.evaluate(task, inside, "42")
    assert (verdict.success, verdict.score) == (True, 1)
    assert inside.done[1:] == [
        ("/solution", {}),
        ("/logs/verifier", {}),
        ("/tests", {"tests/data.txt": 0o644, "tests/test.sh": 0o755}),
        ("/logs/agent/answer.txt", "42"),
        ("env", "A=b c", "/tests/test.sh"),
    ]
    with pytest.raises(VerifierFailed, match="wrote no reward"):
        await suite.evaluate(task, Inside(reward=None), "")


def test_the_solution_runs_where_the_image_says() -> None:
    suite = ContainerHarborSuite()
    first = suite.suggest(task_of(), ())
    assert first is not None
    assert first.action.kind == "run_command"
    assert first.action.command == GOOD["solution/solve.sh"].decode()
    end = suite.suggest(task_of(), (first.action.command,))
    assert end is not None
    assert end.action.kind == "finish"
    several = suite.suggest(task_of(**{"solution/data": b"1"}), ())
    assert several is not None
    assert several.action.kind == "run_command"
    assert several.action.command.endswith("chmod +x /solution/solve.sh && /solution/solve.sh")


@pytest.mark.parametrize("suite", [HarborSuite(), ContainerHarborSuite()])
def test_a_folder_for_other_machines_is_refused_before_anything_is_done(suite: HarborSuite) -> None:
    theirs, others = task_of(), parse_folder(GOOD)
    if isinstance(suite, ContainerHarborSuite):
        theirs, others = others, theirs
    suite.check(others)
    with pytest.raises(UnsupportedTask, match=r"harbor_unsupported.*task-container"):
        suite.check(theirs)


def test_settings_that_a_person_wrote_are_checked_too() -> None:
    task = task_of()
    harbor = task.parameters["harbor"]
    assert isinstance(harbor, dict)
    alterations: tuple[JsonObject, ...] = (
        {"container": {"docker_image": "a\nRUN b"}},
        {"container": {"cpus": -1}},
        {"container": {"unknown": 1}},
        {"files": {"tests/test.sh": ""}},
    )
    for changes in alterations:
        with pytest.raises(UnsupportedTask):
            ContainerHarborSuite().check(task.model_copy(update={"parameters": {"harbor": {**harbor, **changes}}}))
