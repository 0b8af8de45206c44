"""Tasks of our own on a desktop with the real applications, one for each of them."""

from pathlib import Path

import pytest

from benchmarks.parts.applications.own_tasks import FILES_FOLDER, write_tasks
from benchmarks.parts.applications.task_list import OWN_TASKS
from tests.integration.osworld.evaluator_settings import means_ensured
from vm_bridge.drivers.osworld.task_files import APPLICATIONS_IMAGE
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.osworld_table.local_run import run_tasks
from vm_bridge.osworld_table.task_folder import read_task_folder

FIRST = {task.application: task for task in reversed(OWN_TASKS)}


@pytest.mark.timeout(1800)
async def test_a_task_of_every_application_holds(tmp_path: Path) -> None:
    """Its set-up passes, doing nothing scores 0 and its recorded solution 1."""
    folder = write_tasks(tmp_path / "tasks", tuple(FIRST.values()))
    if APPLICATIONS_IMAGE not in LocalHost(tmp_path / "data").images:
        pytest.skip("the applications are not installed")
    settings = means_ensured(files=folder / FILES_FOLDER)
    rows = await run_tasks(read_task_folder(folder), settings, lambda row: None)
    assert [(row.id, row.outcome, row.reason) for row in rows] == [(row.id, "holds", "") for row in rows]
    assert len(rows) == len(FIRST)
