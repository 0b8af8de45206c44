"""Tasks come into a pool from a file, or from a suite of the bridge."""

from io import StringIO
from pathlib import Path

import pytest
from asgiref.sync import sync_to_async
from django.core.management import CommandError, call_command

from annotation_app.tasks.models import Pool, Task
from benchmarks.parts.published.own_tasks import write_questions, write_web_task
from benchmarks.parts.tasks.bad_folders import GOOD
from protocol.harbor.dockerfile import CONTAINER_IMAGE
from tests.integration.web.conftest import Stack, World, task_named


def load(*arguments: str | Path) -> str:
    out = StringIO()
    call_command("load_tasks", *map(str, arguments), stdout=out)
    return out.getvalue()


def keys() -> list[str]:
    return list(Task.objects.filter(pool__name="real").values_list("key", flat=True))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Two new tasks and one the pool has."""
    path = tmp_path / "tasks.jsonl"
    path.write_text("\n".join(task_named(name).model_dump_json() for name in ("four", "one", "five")) + "\n\n")
    return path


def test_new_tasks_come_behind_the_others_once(world: World, file: Path) -> None:
    assert load("real", file) == "New tasks: 2 of 3.\n"
    assert keys() == ["one", "two", "three", "four", "five"]
    assert load("real", file) == "New tasks: 0 of 3.\n"
    assert len(keys()) == 5


def test_task_folders_of_harbor_come_into_a_pool(world: World, tmp_path: Path) -> None:
    for path, data in GOOD.items():
        (tmp_path / "one" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "one" / path).write_bytes(data)
    assert load("real", tmp_path) == "New tasks: 1 of 1.\n"
    assert "harbor/lab/sum" in keys()
    (tmp_path / "one" / "tests" / "link").symlink_to("/etc/passwd")
    with pytest.raises(CommandError, match=r"harbor_link: .*one: link is a link"):
        load("real", tmp_path)


def test_a_pool_of_containers_takes_any_dockerfile(world: World, tmp_path: Path) -> None:
    for path, data in {**GOOD, "environment/Dockerfile": b"FROM debian:12\nUSER nobody\n"}.items():
        (tmp_path / "one" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "one" / path).write_bytes(data)
    with pytest.raises(CommandError, match="harbor_unsupported"):
        load("real", tmp_path)
    Pool.objects.filter(name="real").update(image=CONTAINER_IMAGE)
    assert load("real", tmp_path) == "New tasks: 1 of 1.\n"


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("{}", "invalid_source: .*tasks.jsonl, line 5: "),
        ("no json", "tasks.jsonl, line 5: it is no JSON"),
        (task_named("four").model_dump_json(), "the id four is there twice"),
        ('{"id": "nul \\u0000", "instruction": "Do"}', "cannot keep"),
    ],
)
def test_a_file_with_a_fault_adds_nothing(world: World, file: Path, more: str, says: str) -> None:
    with file.open("a") as end:
        end.write(more)
    with pytest.raises(CommandError, match=says):
        load("real", file)
    assert keys() == ["one", "two", "three"]


def test_a_byte_order_mark_and_a_line_separator_mean_nothing(world: World, tmp_path: Path) -> None:
    file = tmp_path / "tasks.jsonl"
    file.write_text('\ufeff{"id": "four", "instruction": "a\u2028b"}\r\n')
    assert load("real", file) == "New tasks: 1 of 1.\n"
    assert Task.objects.get(key="four").definition.instruction == "a\u2028b"


def test_pool_and_file_must_exist(world: World, file: Path) -> None:
    with pytest.raises(CommandError, match="no pool 'unreal'"):
        load("unreal", file)
    with pytest.raises(CommandError, match="cannot be read"):
        load("real", file.with_name("nothing"))
    with pytest.raises(CommandError, match="required"):
        load("real")


async def test_a_suite_is_asked_of_the_bridge(stack: Stack) -> None:
    before = await sync_to_async(keys)()
    assert "New tasks" in await sync_to_async(load)("real", "--suite", "desktop")
    assert len(await sync_to_async(keys)()) > len(before)
    with pytest.raises(CommandError):
        await sync_to_async(load)("real", "--suite", "nothing")


def test_published_benchmarks_come_into_a_pool_but_for_sealed_ones(world: World, tmp_path: Path) -> None:
    hosts = ("shop.example",)
    assert load("real", write_web_task(tmp_path / "web", "https://shop.example/", hosts)) == "New tasks: 1 of 1.\n"
    assert "online-mind2web/lamp" in keys()
    with pytest.raises(CommandError, match="sealed_tasks"):
        load("real", write_questions(tmp_path / "questions", "https://search.example/", hosts))
