"""Where tasks of attempts come from: each kind of file, each seed, and what is refused."""

import json
from pathlib import Path

import pytest

from agent_backend.rollout.__main__ import parse_arguments
from agent_backend.rollout.options import build_plan
from agent_backend.rollout.plan import RolloutPlan
from agent_backend.rollout.task_sources import InvalidSource, list_tasks, read_tasks
from benchmarks.parts.tasks.bad_folders import GOOD, archive
from protocol.trajectory.tasks import Task, TaskVariant
from vm_bridge.api.client import DEFAULT_VARIANT, BridgeClient
from vm_bridge.errors import InvalidAction, UnknownTask

OSWORLD = {"id": "b1", "instruction": "Look.", "evaluator": {"func": "infeasible"}, "config": []}


class SuiteBridge(BridgeClient):
    """Makes a suite's tasks up; levels above the third do not exist."""

    async def suite_tasks(self, suite: str, variant: TaskVariant = DEFAULT_VARIANT) -> tuple[Task, ...]:
        if variant.level > 3:
            raise InvalidAction("no such level")
        name = f"{suite}/{variant.level}-{variant.seed}"
        parameters = {"level": variant.level}
        return (Task(id=name, instruction="Play.", suite=suite, name="one", seed=variant.seed, parameters=parameters),)


def plan_of(*words: str) -> RolloutPlan:
    return build_plan(parse_arguments(("--out", "o", "--bridge", "http://127.0.0.1:1", "--expert", *words)))


async def tasks_of(*words: str) -> tuple[Task, ...]:
    async with SuiteBridge("http://127.0.0.1:1", "") as bridge:
        return await list_tasks(plan_of(*words), bridge)


async def test_every_level_of_a_suite_is_attempted() -> None:
    wanted = ["games/1-0", "games/2-0", "games/3-0", "games/1-1", "games/2-1", "games/3-1"]
    assert [task.id for task in await tasks_of("--suite", "games", "--level", "all", "--seeds", "2")] == wanted
    with pytest.raises(InvalidAction):
        await tasks_of("--suite", "games", "--level", "4")


async def test_kinds_are_chosen_at_their_levels() -> None:
    words = ("--suite", "games", "--level", "all", "--seeds", "2")
    found = await tasks_of(*words, "--kind", "games/one level 2", "--kind", "games/one")
    assert [task.id for task in found] == ["games/1-0", "games/2-0", "games/1-1", "games/2-1"]
    with pytest.raises(UnknownTask, match="games/one level 7"):
        await tasks_of(*words, "--kind", "games/one level 7")


async def test_a_file_is_attempted_with_seeds_and_more_steps_than_its_tasks_allow(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text('{"id": "a", "instruction": "Do.", "max_steps": 3}\n\n{"id": "b", "instruction": "Do more."}\n')
    found = await tasks_of("--tasks", str(path), "--seeds", "2", "--max-steps", "500")
    assert [(task.id, task.name, task.seed) for task in found] == [
        ("a", "a", 0),
        ("b", "b", 0),
        ("a-1", "a", 1),
        ("b-1", "b", 1),
    ]
    assert {task.max_steps for task in found} == {500}
    assert [task.id for task in await tasks_of("--tasks", str(path), "--task", "b")] == ["b"]
    with pytest.raises(UnknownTask):
        await tasks_of("--tasks", str(path), "--task", "c")


async def test_folders_for_containers_are_read_as_they_are(tmp_path: Path) -> None:
    files = {**GOOD, "environment/Dockerfile": b"FROM debian:12\nUSER nobody\n"}
    (tmp_path / "folders.zip").write_bytes(archive({f"one/{name}": data for name, data in files.items()}))
    with pytest.raises(InvalidSource) as refused:
        await tasks_of("--tasks", str(tmp_path / "folders.zip"))
    assert refused.value.code == "harbor_unsupported"
    (task,) = await tasks_of("--tasks", str(tmp_path / "folders.zip"), "--image", "task-container")
    assert task.platform == "terminal"


def test_each_kind_of_file_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "folders" / "one"
    for name, data in GOOD.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    (tmp_path / "folders.zip").write_bytes(archive({f"one/{name}": data for name, data in GOOD.items()}))
    (tmp_path / "osworld.json").write_text(json.dumps([OSWORLD]))
    (tmp_path / "one.json").write_text(json.dumps({"id": "x", "instruction": "Do."}))
    for place in (folder, tmp_path / "folders", tmp_path / "folders.zip"):
        assert [task.id for task in read_tasks(place)] == ["harbor/lab/sum"]
    (osworld,) = read_tasks(tmp_path / "osworld.json")
    assert osworld.parameters["osworld"] == {"evaluator": OSWORLD["evaluator"], "config": []}
    assert [task.id for task in read_tasks(tmp_path / "one.json")] == ["x"]


@pytest.mark.parametrize(
    ("name", "content", "code", "word"),
    [
        ("a.jsonl", b"{", "invalid_source", "a.jsonl, line 1: it is no JSON"),
        ("a.jsonl", b'{"id": "a", "instruction": "x"}\n{"id": 1}\n', "invalid_source", "a.jsonl, line 2: "),
        ("a.jsonl", b'{"id": "a", "instruction": "x"}\n' * 2, "invalid_source", "there twice"),
        ("a.json", b"[]", "invalid_source", "holds no task"),
        ("a.json", b"[" * 100_000, "invalid_source", "no JSON"),
        ("a.zip", b"PK", "harbor_invalid", "no zip archive"),
        ("a.zip", archive({**GOOD, "task.toml": b'version = "10.0"'}), "harbor_version", "10.0 is not known"),
    ],
)
def test_bad_files_are_refused_with_their_place(
    name: str, content: bytes, code: str, word: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InvalidSource, match=word) as refused:
        read_tasks(path)
    assert refused.value.code == code


async def test_a_file_that_was_changed_meanwhile_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"id": "a", "instruction": "x"}')
    plan = plan_of("--tasks", str(path))
    path.write_text('{"id": "b", "instruction": "x"}')
    async with SuiteBridge("http://127.0.0.1:1", "") as bridge:
        with pytest.raises(InvalidSource, match="changed"):
            await list_tasks(plan, bridge)


def test_a_plan_that_uses_nothing_new_is_written_as_before() -> None:
    assert not {"source", "source_sha256", "max_steps", "kinds"} & plan_of("--suite", "games").record().keys()
