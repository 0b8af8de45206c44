"""What desktops with applications are measured by: tasks of our own, resets, readiness and memory."""

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.parts.applications.own_tasks import FILES_FOLDER, write_tasks
from benchmarks.parts.applications.program_tasks import write_programs
from benchmarks.parts.applications.task_list import OWN_TASKS
from benchmarks.parts.figures import floor_share, percentile, print_progress
from vm_bridge.drivers.osworld.task_files import APPLICATIONS_IMAGE
from vm_bridge.hosts.local.application_sandbox import ApplicationSandbox
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.hosts.osworld.evaluator_settings import EvaluatorSettings
from vm_bridge.osworld_table.attempts import TableRow
from vm_bridge.osworld_table.local_run import run_tasks
from vm_bridge.osworld_table.task_folder import read_task_folder
from vm_bridge.suites.registry import SUITES

RESETS = 30
MEBIBYTE = 2**20
SYSTEM = "os"
"""What OSWorld calls tasks for no application in particular."""


async def measure_applications(scratch: Path, python: Path, tasks: Path | None) -> dict[str, Any]:
    """Every figure; `tasks` is a folder of task files whose table is wanted beside our own. Raises NoMachine."""
    own = write_tasks(scratch / "own", OWN_TASKS)
    figures = await measure_desktop(scratch / "desktop", python)
    rows = await table_of(python, own)
    figures |= own_figures(rows)
    programs = await table_of(python, write_programs(scratch / "programs"))
    figures |= {
        "osworld_program_tasks": len(programs),
        "osworld_program_tasks_holding": sum(row.outcome == "holds" for row in programs),
    }
    wanted = rows if tasks is None else await table_of(python, tasks)
    return {**figures, "osworld_table": dict(Counter(row.outcome for row in wanted))}


async def table_of(python: Path, tasks: Path) -> list[TableRow]:
    """The row of each task file of a folder."""
    files = tasks / FILES_FOLDER
    settings = EvaluatorSettings(python, files=files if files.is_dir() else None)
    return await run_tasks(read_task_folder(tasks), settings, _tell)


async def measure_desktop(scratch: Path, python: Path) -> dict[str, float]:
    """Resets, and until the in-guest interface answers after one (milliseconds); memory at rest (MiB)."""
    resets, ready = list[float](), list[float]()
    host = LocalHost(scratch, SUITES, evaluator=EvaluatorSettings(python))
    try:
        sandbox = await host.create(APPLICATIONS_IMAGE)
        assert isinstance(sandbox, ApplicationSandbox)
        machine = sandbox.bind(1)
        for _ in range(RESETS):
            await sandbox.wait_until_ready()
            began = time.monotonic()
            await sandbox.reset()
            resets.append((time.monotonic() - began) * 1000)
            await sandbox.wait_until_ready()
            ready.append((time.monotonic() - began) * 1000)
            machine = sandbox.bind(sandbox.fence)
            await machine.observe(settle=True)
        pss = (await sandbox.usage()).pss
    finally:
        await host.close()
    return {
        "osworld_reset_p50_ms": round(percentile(resets, 0.5), 1),
        "osworld_ready_p50_ms": round(percentile(ready, 0.5), 1),
        "osworld_pss_mb": round(pss / MEBIBYTE, 1),
    }


def own_figures(rows: Sequence[TableRow]) -> dict[str, Any]:
    """The shares over our own tasks, and the applications of those that hold."""
    applications = {name for row in rows if row.outcome == "holds" for name in row.applications if name != SYSTEM}
    return {
        "osworld_own_tasks": len(rows),
        "osworld_own_oracle_share": floor_share(sum(row.oracle == 1 for row in rows), len(rows)),
        "osworld_own_noop_share": round(sum(row.noop != 0 for row in rows) / max(1, len(rows)), 4),
        "osworld_applications": len(applications),
        "osworld_application_names": sorted(applications),
    }


def _tell(row: TableRow) -> None:
    print_progress(f"{row.id}: {row.outcome} ({row.seconds:g} s) {row.reason}".rstrip())
