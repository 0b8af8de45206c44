"""Instances of SWE-bench as Harbor folders, and what the checker inside says of a repository after an attempt."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.parts.published.adapters import ALWAYS_PASSING, PRINTING
from benchmarks.parts.published.own_tasks import CODE, FIXED, GIT_IDENTITY, make_repository, write_repository_task
from protocol.benchmarks import repository_checker as checker
from protocol.benchmarks.forms import FolderSettings, FormError, oracle_source
from protocol.benchmarks.repositories import repository_folder, repository_task
from protocol.harbor.errors import FolderError
from protocol.harbor.task_folders import harbor_task

ROW: dict[str, Any] = {
    "instance_id": "django__django-1",
    "repo": "django/django",
    "base_commit": "a" * 40,
    "problem_statement": "It fails.",
    "patch": "--- a/x.py\n+++ b/x.py\n",
    "test_patch": "--- a/tests/admin/tests.py\n+++ b/tests/admin/tests.py\n@@ -1 +1,2 @@\n a\n+b",
    "FAIL_TO_PASS": '["test_a (admin.tests.T)"]',
    "PASS_TO_PASS": ["test_b (admin.tests.T)"],
}


def test_an_instance_is_a_folder_with_the_published_image_and_fix() -> None:
    folder = repository_folder(ROW, FolderSettings())
    assert b"swebench/sweb.eval.x86_64.django_1776_django-1:latest" in folder["task.toml"]
    case = json.loads(folder["tests/case.json"])
    assert case["must_pass"] == ["test_a (admin.tests.T)", "test_b (admin.tests.T)"]
    assert (case["output_format"], case["labels"], case["patched"]) == ("unittest", "modules", ["tests/admin/tests.py"])
    assert folder["tests/test.patch"].endswith(b"\n")
    task = repository_task(ROW, FolderSettings(image="mirror/{id}:1"), containers=True)
    harbor = harbor_task(task)
    assert harbor is not None
    assert harbor.container is not None
    assert harbor.container.docker_image == "mirror/django__django-1:1"
    assert (task.id, oracle_source(task), harbor.workdir) == ("swe-bench/django__django-1", "published", "/testbed")


def test_an_instance_without_a_fix_has_no_oracle() -> None:
    task = repository_task({**ROW, "patch": ""}, FolderSettings(), containers=True)
    assert oracle_source(task) == "none"


def test_a_machine_of_ours_takes_no_ready_made_image() -> None:
    with pytest.raises(FolderError, match="docker_image"):
        repository_task(ROW, FolderSettings())


@pytest.mark.parametrize(
    "wrong",
    [
        {"instance_id": "../x"},
        {"test_patch": "nothing"},
        {"FAIL_TO_PASS": "[", "PASS_TO_PASS": []},
        {"FAIL_TO_PASS": [], "PASS_TO_PASS": []},
        {"test_cmd": "run", "test_style": "guess"},
        {"problem_statement": ""},
    ],
)
def test_a_row_that_is_no_instance_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(FormError):
        repository_folder({**ROW, **wrong}, FolderSettings())


def test_results_are_read_in_each_style() -> None:
    pytest_output = "PASSED a.py::t[x y]\nFAILED a.py::u - boom\nXFAIL a.py::v\nERROR b.py\nSKIPPED [1] a.py:3: no\n"
    found = checker.read_results(pytest_output, "pytest")
    assert found == {"a.py::t[x": {"passed"}, "a.py::u": {"failed"}, "a.py::v": {"passed"}, "b.py": {"failed"}}
    unittest_output = "test_a (m.T) ... ok\ntest_b (m.T)\nIt says so. ... FAIL\ntest_c (m.T) ... skipped 'no'\n"
    expected = {"test_a (m.T)": {"passed"}, "It says so.": {"failed"}}
    assert checker.read_results(unittest_output, "unittest") == expected
    sympy_output = "test_a ok\ntest_b F\nother ok\n"
    assert checker.read_results(sympy_output, "sympy") == {"test_a": {"passed"}, "test_b": {"failed"}}


Check = Callable[[], int | None]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """The checker in a repository as a machine has it after an attempt; gives the reward."""
    folder = write_repository_task(tmp_path / "rows", tmp_path / "other")
    row = json.loads((folder / "instances.jsonl").read_text())
    row["test_cmd"] = f"{sys.executable} -m unittest -v"
    tests = {path: data for path, data in repository_folder(row, FolderSettings(), {}).items() if "tests/" in path}
    for path, data in tests.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(data)
    repository = tmp_path / "repository"
    repository.mkdir()
    assert make_repository(repository) == row["base_commit"], "the commit is the same everywhere"
    monkeypatch.chdir(repository)
    monkeypatch.setattr(checker, "FOLDER", tmp_path / "tests")
    monkeypatch.setattr(checker, "REWARD", tmp_path / "reward.json")

    def run() -> int | None:
        checker.main()
        reward: int | None = None
        if (tmp_path / "reward.json").exists():
            reward = json.loads((tmp_path / "reward.json").read_text())["reward"]
        return reward

    return run


def test_the_fix_is_rewarded_and_nothing_is_not(check: Check) -> None:
    assert check() == 0
    Path("calc.py").write_text(FIXED)
    assert check() == 1, "the checker can run again: it restores what it wrote"


def commit() -> None:
    environment = {**os.environ, **GIT_IDENTITY}
    subprocess.run(("git", "commit", "-qam", "more"), check=True, env=environment)


@pytest.mark.parametrize("code", [ALWAYS_PASSING, PRINTING, f"{PRINTING}os._exit(0)\n"])
def test_code_that_forges_results_is_not_rewarded(check: Check, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[dict[str, set[str]]] = []
    read_results = checker.read_results

    def note(output: str, output_format: str) -> dict[str, set[str]]:
        read.append(read_results(output, output_format))
        return read[-1]

    monkeypatch.setattr(checker, "read_results", note)
    Path("calc.py").write_text(code + CODE)
    assert check() == 0
    wanted = {name: results for name, results in read[0].items() if "test_calc" in name}
    assert len(wanted) == 2
    assert all("passed" in results for results in wanted.values()), "the forged results did arrive"


def test_tests_that_were_changed_or_committed_are_restored(check: Check) -> None:
    Path("test_calc.py").write_text("import unittest\n")
    Path("conftest.py").write_text("raise SystemExit\n")
    commit()
    assert check() == 0
    assert not Path("conftest.py").exists()
    Path("calc.py").write_text(FIXED)
    assert check() == 1


def test_a_repository_without_its_history_is_not_judged(check: Check) -> None:
    subprocess.run(("rm", "-rf", ".git"), check=True)
    assert check() is None
