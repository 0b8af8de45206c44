"""Tasks of our own on a desktop with the real applications, one for each of them."""

from pathlib import Path

import pytest

from benchmarks.parts.applications.own_tasks import FILES_FOLDER, write_tasks
from benchmarks.parts.applications.task_list import OWN_TASKS
from tests.integration.osworld.evaluator_settings import means_ensured
from vm_bridge.drivers.osworld.task_files import APPLICATIONS_IMAGE
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.osworld_table.attempts import TableRow, try_tasks
from vm_bridge.osworld_table.task_folder import read_task_folder
from vm_bridge.suites.registry import SUITES

FIRST = {task.application: task for task in reversed(OWN_TASKS)}


@pytest.mark.timeout(1800)
async def test_a_task_of_every_application_holds(tmp_path: Path) -> None:
    """Its set-up passes, doing nothing scores 0 and its recorded solution 1."""
    folder = write_tasks(tmp_path / "tasks", tuple(FIRST.values()))
    host = LocalHost(tmp_path / "data", SUITES, evaluator=means_ensured(files=folder / FILES_FOLDER))
    if APPLICATIONS_IMAGE not in host.images:
        pytest.skip("the applications are not installed")
    told: list[TableRow] = []
    try:
        rows = await try_tasks(host, read_task_folder(folder), told.append)
    finally:
        await host.close()
    assert [(row.id, row.outcome, row.reason) for row in rows] == [(row.id, "holds", "") for row in rows]
    assert len(rows) == len(FIRST)
