"""Each source of tasks becomes a pool of its own, once, on the machines that its tasks are for."""

import asyncio
import json
from collections.abc import Callable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation_app.episodes.services import episode_next
from annotation_app.live.store import run_in_db_thread
from annotation_app.tasks.models import Pool
from benchmarks.parts.tasks.bad_folders import GOOD, archive
from tests.integration.web.conftest import Stack

OSWORLD = {"id": "b1", "instruction": "Look.", "evaluator": {"func": "infeasible"}, "config": []}
TASK = {"id": "a", "instruction": "Do it.", "max_steps": 200}


def ensure(*words: str | Path, username: str = "ada") -> dict[str, Any]:
    out = StringIO()
    call_command("ensure_pool", username, *map(str, words), stdout=out)
    made: dict[str, Any] = json.loads(out.getvalue().splitlines()[-1])
    return made


def write(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def suite(folder: Path) -> tuple[str | Path, ...]:
    return "--suite", "games", "--task", "maze", "--task", "memory", "--level", "all", "--seeds", "2"


def json_lines(folder: Path) -> tuple[str | Path, ...]:
    (folder / "tasks.jsonl").write_text(f"{json.dumps(TASK)}\n{json.dumps({**TASK, 'id': 'b'})}\n")
    return "--tasks", folder / "tasks.jsonl"


def json_list(folder: Path) -> tuple[str | Path, ...]:
    (folder / "tasks.json").write_text(json.dumps([TASK]))
    return "--tasks", folder / "tasks.json", "--seeds", "3", "--max-steps", "900"


def osworld_file(folder: Path) -> tuple[str | Path, ...]:
    (folder / "osworld.json").write_text(json.dumps([OSWORLD]))
    return "--tasks", folder / "osworld.json"


def harbor_folder(folder: Path) -> tuple[str | Path, ...]:
    return "--tasks", write(folder / "one", GOOD), "--image", "desktop"


def harbor_zip(folder: Path) -> tuple[str | Path, ...]:
    (folder / "folders.zip").write_bytes(archive({f"one/{name}": data for name, data in GOOD.items()}))
    return "--tasks", folder / "folders.zip", "--image", "desktop"


@pytest.mark.parametrize(
    ("source", "words", "platform", "image", "tasks", "steps"),
    [
        (json_lines, "2 tasks on desktop (", "desktop", "desktop", 2, 200),
        (json_list, "3 tasks on desktop (", "desktop", "desktop", 3, 900),
        (osworld_file, "1 OSWorld tasks on osworld (", "desktop", "osworld", 1, 30),
        (harbor_folder, "1 Harbor tasks on desktop (", "terminal", "desktop", 1, None),
        (harbor_zip, "1 Harbor tasks on desktop (", "terminal", "desktop", 1, None),
    ],
)
async def test_a_source_is_a_pool_of_its_own_once(
    stack: Stack,
    tmp_path: Path,
    source: Callable[[Path], tuple[str | Path, ...]],
    words: str,
    platform: str,
    image: str,
    tasks: int,
    steps: int | None,
) -> None:
    def tried() -> None:
        made = ensure(*source(tmp_path))
        assert (made["tasks"], made["new"]) == (tasks, tasks)
        assert made["pool"].startswith(words)
        pool = Pool.objects.get(name=made["pool"])
        assert (pool.platform, pool.image, pool.tasks.count()) == (platform, image, tasks)
        assert steps in (None, pool.max_steps)
        assert ensure(*source(tmp_path), username="ben") == {**made, "new": 0}
        assert {person.username for person in pool.members.all()} == {"ada", "ben"}
        assert pool.tasks.count() == tasks
        claimed = episode_next(user=stack.world.ada, pool_id=pool.pk)
        assert claimed is not None
        assert claimed.task.pool_id == pool.pk

    await run_in_db_thread(tried)


async def test_every_level_and_seed_of_a_suite_is_a_task(stack: Stack, tmp_path: Path) -> None:
    def tried() -> None:
        made = ensure(*suite(tmp_path))
        pool = Pool.objects.get(name=made["pool"])
        assert made["pool"].startswith(f"{made['tasks']} games tasks on browser (")
        definitions = [task.definition for task in pool.tasks.all()]
        levels = {definition.parameters["level"] for definition in definitions}
        assert levels >= {1, 2, 3}
        assert {definition.seed for definition in definitions} == {0, 1}
        assert ensure(*suite(tmp_path))["new"] == 0
        other = ensure("--suite", "games", "--level", "2", "--kind", "games/maze level 2")
        assert (other["tasks"], other["pool"] != made["pool"]) == (1, True), "other tasks are another pool"

    await run_in_db_thread(tried)


async def test_two_runs_at_once_share_the_pool(stack: Stack, tmp_path: Path) -> None:
    words = json_lines(tmp_path)
    one, other = await asyncio.gather(*(run_in_db_thread(lambda: ensure(*words)) for _ in range(2)))
    assert one["pool"] == other["pool"]
    assert sorted((one["new"], other["new"])) == [0, 2]
    assert await run_in_db_thread(Pool.objects.filter(name=one["pool"]).count) == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--tasks", "none.jsonl"], "invalid_source: none.jsonl cannot be read"),
        (["--tasks", "twice.jsonl"], "invalid_source: twice.jsonl: the id a is there twice"),
        (["--tasks", "unknown.jsonl"], "unknown_task: a: suite: there is no chess"),
        (["--tasks", "mixed.jsonl"], "mixed_platforms: .* desktop and phone"),
        (["--tasks", "one.jsonl", "--image", "dekstop"], "unknown_image: No host makes"),
        (["--tasks", "one.jsonl", "--task", "b"], "unknown_task: one.jsonl has no task b"),
        (["--tasks", "bad.zip"], "harbor_invalid: "),
        (["--tasks", "pool:real"], "invalid_source: .* --pool"),
        (["--suite", "games", "--level", "9"], "invalid_action: "),
        (["--suite", "chess"], "unknown_task: "),
        (["--tasks", "one.jsonl", "--level", "2"], "in place of --suite, --level and --size"),
        ([], "also needed: --suite"),
    ],
)
async def test_what_cannot_be_a_pool_makes_none(
    stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], says: str
) -> None:
    def tried() -> None:
        before = set(Pool.objects.values_list("name", flat=True))
        with pytest.raises(CommandError, match=says):
            ensure(*words)
        assert set(Pool.objects.values_list("name", flat=True)) == before

    monkeypatch.chdir(tmp_path)
    for name, lines in {
        "one.jsonl": [TASK],
        "twice.jsonl": [TASK, TASK],
        "unknown.jsonl": [{**TASK, "suite": "chess", "name": "mate"}],
        "mixed.jsonl": [TASK, {**TASK, "id": "b", "platform": "phone"}],
    }.items():
        (tmp_path / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (tmp_path / "bad.zip").write_bytes(b"PK")
    await run_in_db_thread(tried)


async def test_only_annotators_are_given_a_pool_and_the_bridge_must_answer(
    stack: Stack, tmp_path: Path, settings: Any
) -> None:
    def tried() -> None:
        with pytest.raises(CommandError, match="not_an_annotator: rosa"):
            ensure(*json_lines(tmp_path), username="rosa")
        with pytest.raises(CommandError, match=r"not_found: .*'nobody'"):
            ensure(*json_lines(tmp_path), username="nobody")
        settings.ENV = settings.ENV.model_copy(update={"bridge_url": "http://127.0.0.1:9"})
        with pytest.raises(CommandError, match="bridge_unavailable: "):
            ensure(*suite(tmp_path))

    await run_in_db_thread(tried)
