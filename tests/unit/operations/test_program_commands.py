"""What commands ask of `manage.py` of the running installation before they become another program."""

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from annotation_app.operations import program_commands
from annotation_app.operations.__main__ import main

POOL = "8 games tasks on browser (0123456789ab)"


class Programs:
    """Notes what is run and what is executed in the end; `manage.py` answers as it is told."""

    def __init__(self) -> None:
        self.asked = list[list[str]]()
        self.executed = list[str]()
        self.answer: subprocess.CompletedProcess[str] | Exception = subprocess.CompletedProcess([], 0, "", "")

    def run(self, command: list[str], *, timeout: float, **options: Any) -> subprocess.CompletedProcess[str]:
        """In the place of `subprocess.run`; the timeout must be there."""
        self.asked.append(command[2:])
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def execute(self, program: str, command: list[str], environment: dict[str, str]) -> None:
        """In the place of `os.execve`."""
        self.executed = command[2:]


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> Programs:
    known = Programs()
    note = SimpleNamespace(url="http://web", environment={"PILOTHOUSE_BRIDGE_URL": "http://bridge"})
    monkeypatch.setattr("subprocess.run", known.run)
    monkeypatch.setattr("os.execve", known.execute)
    monkeypatch.setattr(program_commands, "check_modules", lambda: None)
    monkeypatch.setattr(program_commands, "read_platform_info", lambda data: note)
    monkeypatch.setenv("PILOTHOUSE_PASSWORD", "annotator-demo")
    return known


def test_a_simulated_annotator_works_in_the_pool_of_its_tasks(programs: Programs) -> None:
    programs.answer = subprocess.CompletedProcess([], 0, json.dumps({"pool": POOL, "tasks": 8, "new": 8}), "")
    words = ["--suite", "games", "--level", "all", "--seeds", "2"]
    main(["simulate-annotator", "--episodes", "3", *words])
    assert programs.asked == [["ensure_pool", "annotator", *words]]
    assert programs.executed[programs.executed.index("--pool") + 1] == POOL


def test_a_pool_that_is_named_is_taken_as_it_is(programs: Programs) -> None:
    main(["simulate-annotator", "--pool", "Small screens"])
    assert programs.asked == []
    assert programs.executed[programs.executed.index("--pool") + 1] == "Small screens"


@pytest.mark.parametrize("words", [[], ["--pool", "Small screens", "--tasks", "tasks.jsonl"]])
def test_either_a_pool_or_tasks_are_named(words: list[str], programs: Programs, capsys: Any) -> None:
    assert main(["simulate-annotator", *words]) == 1
    assert programs.executed == []
    assert "--pool, or tasks with --tasks or --suite" in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (
            subprocess.CompletedProcess([], 1, "", "CommandError: invalid_source: t.jsonl, 1: it is no JSON\n"),
            "t.jsonl, 1",
        ),
        (subprocess.CompletedProcess([], 3, "", ""), "ended with 3"),
        (subprocess.TimeoutExpired("manage.py", 600), "has not ended after 600 seconds"),
    ],
)
@pytest.mark.parametrize("command", ["simulate-annotator --tasks t.jsonl", "benchmark games --registered nano 7"])
def test_what_manage_refuses_or_never_ends_is_told(
    command: str, answer: Any, word: str, programs: Programs, capsys: Any, tmp_path: Path
) -> None:
    programs.answer = answer
    assert main([*command.split(), "--data", str(tmp_path)]) == 1
    assert programs.executed == []
    assert word in "".join(capsys.readouterr())
