"""Tries task files on a desktop of this process."""

import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.hosts.osworld.evaluator_settings import EvaluatorSettings
from vm_bridge.osworld_table.attempts import TableRow, try_tasks
from vm_bridge.osworld_table.task_folder import FoundTask
from vm_bridge.suites.registry import SUITES


async def run_tasks(
    tasks: Sequence[FoundTask], settings: EvaluatorSettings, told: Callable[[TableRow], None]
) -> list[TableRow]:
    """A row per task, in order; `told` is called with each finished row. Raises NoMachine."""
    with tempfile.TemporaryDirectory(prefix="pilothouse-osworld-") as scratch:
        settings = replace(settings, files=_readable_copy(settings.files, Path(scratch)))
        host = LocalHost(Path(scratch, "data"), SUITES, evaluator=settings)
        try:
            return await try_tasks(host, tasks, told)
        finally:
            await host.close()


def _readable_copy(files: Path | None, folder: Path) -> Path | None:
    """The files where the evaluator, which is another user, finds them by their path."""
    if files is None:
        return None
    copy = shutil.copytree(files, folder / "files")
    folder.chmod(0o711)
    copy.chmod(0o755)
    return copy
