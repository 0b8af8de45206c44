"""Task files of WindowsAgentArena: which machines judge them, and what the lab's copy of its package has."""

from pathlib import Path

import pytest

from agent_backend.rollout.task_sources import read_tasks
from benchmarks.parts.published.adapters import ARENA_CLIENT
from benchmarks.parts.published.own_tasks import write_arena_task, write_osworld_task
from protocol.benchmarks.forms import oracle_source
from protocol.trajectory.tasks import Task
from tests.unit.osworld.test_task_files import RULE, SAYS, task
from tests.unit.vm_bridge.test_config import SECRET
from vm_bridge.config import ConfigError, read_config
from vm_bridge.drivers.osworld.task_files import ARENA_IMAGE, parse_task_file, unsupported_reason, validate_task_file
from vm_bridge.errors import UnsupportedTask
from vm_bridge.hosts.osworld.arena_package import read_package_names
from vm_bridge.hosts.osworld.evaluator_settings import EvaluatorSettings, list_missing


def arena_task(tmp_path: Path) -> Task:
    (found,) = read_tasks(write_arena_task(tmp_path / "arena"))
    return found


def test_a_package_is_read_without_running_it(tmp_path: Path) -> None:
    names = read_package_names(ARENA_CLIENT)
    assert names is not None
    assert names["metrics"] >= {"exact_match", "infeasible"}
    assert names["getters"] == {"rule", "vm_command_line", "accessibility_tree"}
    assert names["steps"] == {"execute", "sleep"}
    assert read_package_names(tmp_path) is None


def test_names_that_come_from_other_modules_are_read_too(tmp_path: Path) -> None:
    for place, text in (
        ("evaluators/metrics/__init__.py", "from .general import (one, two as three)\nraise SystemExit\n"),
        ("evaluators/getters/__init__.py", "from .file import get_vm_file\n"),
        (
            "controllers/setup.py",
            "class SetupController:\n    def _open_setup(self): pass\n    def setup(self): pass\n",
        ),
    ):
        path = tmp_path / "desktop_env" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    names = read_package_names(tmp_path)
    assert names is not None
    assert {kind: sorted(each) for kind, each in names.items()} == {
        "metrics": ["one", "three"],
        "getters": ["vm_file"],
        "steps": ["open"],
    }


def test_its_tasks_are_judged_by_its_guests_alone(tmp_path: Path) -> None:
    of_arena, (of_osworld,) = arena_task(tmp_path), read_tasks(write_osworld_task(tmp_path / "osworld"))
    assert oracle_source(of_arena) == "own"
    assert unsupported_reason(ARENA_IMAGE, of_arena) is None
    assert unsupported_reason("osworld", of_osworld) is None
    for image, other in (("osworld", of_arena), ("osworld-windows", of_arena), (ARENA_IMAGE, of_osworld)):
        assert "judge no task of" in (unsupported_reason(image, other) or "")
    unnamed = task(evaluator={"func": "exact_match", "result": SAYS, "expected": RULE})
    assert unsupported_reason(ARENA_IMAGE, unnamed) is None, "an uploaded file names no benchmark"


def test_a_task_without_a_solution_says_so(tmp_path: Path) -> None:
    folder = write_arena_task(tmp_path / "arena")
    for path in (folder / "oracles").iterdir():
        path.unlink()
    (found,) = read_tasks(folder)
    assert oracle_source(found) == "none"
    assert unsupported_reason("osworld", found)


def test_what_the_package_lacks_is_refused_by_its_name() -> None:
    names = read_package_names(ARENA_CLIENT)
    with pytest.raises(UnsupportedTask, match="vm_file"):
        parse_task_file(task(evaluator={"func": "exact_match", "result": {"type": "vm_file"}, "expected": RULE}), names)


def test_a_client_without_the_package_is_named(tmp_path: Path) -> None:
    file = validate_task_file({"evaluator": {"func": "infeasible"}})
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.touch()
    assert list(list_missing(file, EvaluatorSettings(python, files=ARENA_CLIENT, arena=True))) == []
    (told,) = list_missing(file, EvaluatorSettings(python, files=tmp_path, arena=True))
    assert "PILOTHOUSE_WINDOWS_ARENA_CLIENT" in told


def test_guests_without_a_client_are_refused() -> None:
    guests = {**SECRET, "PILOTHOUSE_WINDOWS_ARENA": "10.0.0.5:5000"}
    with pytest.raises(ConfigError, match="PILOTHOUSE_WINDOWS_ARENA_CLIENT"):
        read_config(guests)
    config = read_config({**guests, "PILOTHOUSE_WINDOWS_ARENA_CLIENT": str(ARENA_CLIENT)})
    assert config.windows_arena == ("10.0.0.5:5000",)
