"""Bundled tasks as Harbor's folders: every folder is read back, with its solution and its verifier."""

from pathlib import Path

from protocol.harbor.task_folders import harbor_task, read_task_folders
from vm_bridge.suites.harbor_export import main
from vm_bridge.suites.registry import SUITES


def test_every_bundled_task_is_a_folder_that_is_read_back(tmp_path: Path) -> None:
    assert main([str(tmp_path / "out")]) == 0
    tasks = {task.name: task for task in read_task_folders(tmp_path / "out")}
    bundled = [task for suite in ("terminal", "desktop") for task in SUITES[suite].tasks]
    assert len(tasks) == len(bundled) >= 20
    for one in bundled:
        task = tasks[f"pilothouse/{one.suite}-{(one.name or '').replace('_', '-')}"]
        assert task.instruction.startswith(one.instruction)
        assert task.max_steps == one.max_steps
        harbor = harbor_task(task)
        assert harbor is not None
        assert harbor.folder("tests").keys() == {"test.sh", "verifier.py", "checks.json"}
        assert harbor.folder("solution").keys() == {"solve.sh"}


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    assert main([str(tmp_path)]) == 1
    assert list(tmp_path.iterdir()) == []
