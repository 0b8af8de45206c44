"""Folders of published benchmarks as task sources: what is found in them, and what no pool or trainer takes."""

import json
from pathlib import Path

import pytest

from agent_backend.rollout.oracles import task_oracle
from agent_backend.rollout.task_sources import InvalidSource, check_publishable, read_tasks
from benchmarks.parts.published.own_tasks import (
    ANSWER,
    OSWORLD_TASK,
    TERMINAL_FOLDER,
    write_files,
    write_osworld_task,
    write_questions,
    write_repository_task,
    write_web_task,
)
from benchmarks.parts.tasks.bad_folders import GOOD
from protocol.actions.types import Click, Finish
from protocol.benchmarks.forms import oracle_source
from protocol.harbor.task_folders import HARBOR
from protocol.site_tasks import LiveSite, find_site_task
from protocol.trajectory.tasks import Task
from tests.unit.protocol.examples import trajectory

PAGE, HOSTS = "https://start.example/", ("start.example",)


def only(path: Path) -> Task:
    (task,) = read_tasks(path)
    return task


def test_sealed_questions_are_read_from_a_folder_or_their_file(tmp_path: Path) -> None:
    folder = write_questions(tmp_path, PAGE, HOSTS)
    task = only(folder)
    assert task == only(folder / "questions.csv")
    assert (task.network, task.max_steps) == (HOSTS, 5)
    suggestion = task_oracle(task, ())
    assert suggestion is not None
    assert suggestion.action == Finish(answer=ANSWER)


def test_sealed_questions_go_into_no_pool_and_no_stream(tmp_path: Path) -> None:
    task = only(write_questions(tmp_path, PAGE, HOSTS))
    with pytest.raises(InvalidSource, match="sealed") as refused:
        check_publishable([task])
    assert refused.value.code == "sealed_tasks"
    check_publishable([Task(id="a", instruction="Do.")])


def test_a_web_task_begins_on_its_site_and_brings_its_recorded_solution(tmp_path: Path) -> None:
    task = only(write_web_task(tmp_path, "https://shop.example/", HOSTS))
    site = find_site_task(task)
    assert site is not None
    assert site.site == LiveSite(url="https://shop.example/")
    assert (task.id, oracle_source(task), task.suite) == ("online-mind2web/lamp", "own", None)
    first = task_oracle(task, ())
    assert first is not None
    assert first.action == Click(x=200, y=150), "the middle of its box"
    last = task_oracle(task, trajectory(Click(x=200, y=150)).steps)
    assert last is not None
    assert last.action == Finish()


def test_a_web_task_without_a_recorded_solution_has_none(tmp_path: Path) -> None:
    folder = write_web_task(tmp_path, "https://shop.example/", HOSTS)
    (folder / "oracles" / "lamp.jsonl").unlink()
    task = only(folder)
    assert (oracle_source(task), task_oracle(task, ())) == ("none", None)


def test_a_repository_is_built_from_an_environment_of_ones_own(tmp_path: Path) -> None:
    task = only(write_repository_task(tmp_path / "rows", tmp_path / "scratch"))
    harbor = task.parameters[HARBOR]
    assert isinstance(harbor, dict)
    assert isinstance(files := harbor["files"], dict)
    assert {"environment/calc.py", "tests/check.py", "solution/fix.patch"} <= files.keys()
    assert (task.platform, task.name) == ("terminal", "swe-bench/own__calc-1")


def test_folders_of_harbor_are_read_as_before(tmp_path: Path) -> None:
    write_files(tmp_path / "sum", TERMINAL_FOLDER)
    (tmp_path / "registry.json").write_text("[]")
    assert only(tmp_path).id == "harbor/own/sum"
    alone = write_files(tmp_path / "alone", GOOD)
    (alone / "notes.json").write_text("[]")
    assert only(alone).id == "harbor/lab/sum"


def test_settings_beside_folders_of_harbor_say_whose_processes_are_kept(tmp_path: Path) -> None:
    write_files(tmp_path / "sum", TERMINAL_FOLDER)
    write_files(tmp_path / "other", {**TERMINAL_FOLDER, "task.toml": b'[task]\nname = "own/other"\n'})
    (tmp_path / "benchmark.toml").write_text('keep_processes = ["sum"]\n')
    kept = {
        task.name: isinstance(given := task.parameters[HARBOR], dict) and given.get("keep_processes")
        for task in read_tasks(tmp_path)
    }
    assert kept == {"own/sum": True, "own/other": None}


def test_task_files_of_osworld_lie_in_folders_by_application(tmp_path: Path) -> None:
    write_osworld_task(tmp_path)
    (tmp_path / "gimp").mkdir()
    (tmp_path / "note.json").rename(tmp_path / "gimp" / "note.json")
    other = {**OSWORLD_TASK, "id": "other"}
    write_files(tmp_path, {"chrome/other.json": json.dumps(other).encode()})
    found = read_tasks(tmp_path)
    assert [(task.id, oracle_source(task)) for task in found] == [("other", "none"), ("note", "own")]
    flat = write_files(
        tmp_path / "flat", {"a.json": json.dumps(other).encode(), "b.json": json.dumps(OSWORLD_TASK).encode()}
    )
    assert [task.id for task in read_tasks(flat)] == ["other", "note"]
    with pytest.raises(InvalidSource, match="twice"):
        read_tasks(write_files(flat, {"c.json": json.dumps(other).encode()}))


def test_a_folder_that_is_not_clear_is_refused(tmp_path: Path) -> None:
    folder = write_questions(tmp_path, PAGE, HOSTS)
    (folder / "more.jsonl").write_text("{}\n")
    with pytest.raises(InvalidSource, match="2 files of tasks"):
        read_tasks(folder)
    (folder / "more.jsonl").unlink()
    (folder / "benchmark.toml").write_text("start_page = 3\n")
    with pytest.raises(InvalidSource, match="start_page") as refused:
        read_tasks(folder)
    assert refused.value.code == "benchmark_invalid"


def test_a_row_that_is_wrong_is_told_by_its_place(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"task_id": "../x", "confirmed_task": "Do.", "website": "a.example"}\n')
    with pytest.raises(InvalidSource, match="line 1"):
        read_tasks(tmp_path)
