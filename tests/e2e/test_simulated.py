"""A simulated annotator at the real desk: it takes what its expert agrees with, and acts where nothing was right."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from annotation_app.operations.runtime.stack import ROOT
from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from benchmarks.parts.tasks.bad_folders import GOOD
from tests.waiting import wait_until

WITHIN = 600.0
TASK = "lights"
Decisions = Callable[[str], list[str]]
COUNTS = ("accepted", "overridden", "shown")


def annotating(platform: TemporaryPlatform, pool: str, *words: str, log: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, **platform.environment, "PILOTHOUSE_PASSWORD": "annotator-demo"}
    given = ("--web", platform.url, "--bridge", platform.environment["PILOTHOUSE_BRIDGE_URL"], "--user", "annotator")
    command = [sys.executable, "-m", "agent_backend.simulated_annotator", *given, "--pool", pool, *words]
    with log.open("wb") as out:
        return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=out, stderr=subprocess.STDOUT)


def create_pool(platform: TemporaryPlatform, name: str, policy: str) -> str:
    load = f"drills_load(({name!r}, {TASK!r})); policy_set({name!r}, {policy!r})"
    platform.manage("shell", "-c", f"from tests.e2e.drills import drills_load, policy_set; {load}")
    return name


def read_log(log: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]


@pytest.fixture
def decisions(platform: TemporaryPlatform) -> Iterator[Decisions]:
    """How the steps of a pool were decided, in order; cheap enough to be asked again and again."""
    ordered = (
        "SELECT step.decision FROM episodes_step step JOIN episodes_episode episode ON episode.id = step.episode_id"
        " JOIN tasks_task task ON task.id = episode.task_id JOIN tasks_pool pool ON pool.id = task.pool_id"
        " WHERE pool.name = %s ORDER BY episode.id, step.index"
    )
    with psycopg.connect(platform.environment["PILOTHOUSE_DATABASE_URL"], autocommit=True) as connection:
        yield lambda pool: [decision for (decision,) in connection.execute(ordered, [pool])]


@pytest.mark.parametrize(
    ("policy", "does", "stored"),
    [("expert", "accepted", "accept"), ("scripted", "overridden", "override"), ("", "shown", "override")],
)
def test_it_works_a_task_to_its_end(
    platform: TemporaryPlatform, decisions: Decisions, tmp_path: Path, policy: str, does: str, stored: str
) -> None:
    pool, log = create_pool(platform, f"Simulated {policy}", policy), tmp_path / "log"
    program = annotating(platform, pool, "--episodes", "1", log=log)
    assert program.wait(timeout=WITHIN) == 0, log.read_text()
    (done,) = read_log(log)
    assert (done["ended"], done["task"]) == ("success", TASK), log.read_text()
    steps = done[does]
    assert isinstance(steps, int)
    assert steps > 0
    assert [done[other] for other in COUNTS if other != does] == [0, 0]
    assert decisions(pool) == [stored] * steps


def harbor_folder(folder: Path) -> list[str]:
    for name, data in GOOD.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return ["--tasks", str(folder)]


def drills(folder: Path) -> list[str]:
    return ["--suite", "drills", "--task", "switches", "--level", "all", "--first-seed", "7"]


def uploads_without_experts(folder: Path) -> list[str]:
    folder.mkdir()
    (folder / "tasks.jsonl").write_text('{"id": "a", "instruction": "Look.", "platform": "phone"}\n')
    return ["--tasks", str(folder / "tasks.jsonl")]


@pytest.mark.parametrize(
    ("source", "ended"), [(harbor_folder, "success"), (drills, "success"), (uploads_without_experts, "skipped")]
)
def test_it_brings_its_own_tasks_and_does_them_once(
    platform: TemporaryPlatform, tmp_path: Path, source: Callable[[Path], list[str]], ended: str
) -> None:
    words = ["simulate-annotator", "--data", str(platform.data), "--episodes", "9", *source(tmp_path / "one")]
    command = [sys.executable, "-m", "annotation_app.operations", *words]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PILOTHOUSE_")}
    runs = [
        subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=WITHIN, check=False)
        for _ in range(2)
    ]
    assert [run.returncode for run in runs] == [0, 0], [run.stderr for run in runs]
    done = [[json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")] for run in runs]
    assert done[0]
    assert {episode["ended"] for episode in done[0]} == {ended}
    assert done[1] == [], "what was done does not wait any more"
    assert "0 of them new" in runs[1].stdout


def test_killed_and_restarted_it_resumes_at_the_state_of_the_episode(
    platform: TemporaryPlatform, decisions: Decisions, tmp_path: Path
) -> None:
    pool, first, second = create_pool(platform, "Simulated twice", "expert"), tmp_path / "first", tmp_path / "second"
    program = annotating(platform, pool, "--episodes", "1", log=first)
    try:
        wait_until(lambda: bool(decisions(pool)), limit=WITHIN)
    finally:
        program.send_signal(signal.SIGKILL)
        program.wait()
    again = annotating(platform, pool, "--episodes", "1", log=second)
    assert again.wait(timeout=WITHIN) == 0, second.read_text()
    (done,) = [*read_log(first), *read_log(second)][-1:]
    assert done["ended"] == "success"
    assert len(set(decisions(pool))) == 1


def test_what_the_app_refuses_is_told_by_its_code(platform: TemporaryPlatform, tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert annotating(platform, "No such pool", log=log).wait(timeout=WITHIN) == 1
    assert log.read_text().startswith("no_such_pool: ")
