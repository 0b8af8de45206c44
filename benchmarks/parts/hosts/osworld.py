"""A task file in OSWorld's form, played by keys on a simulated guest: its config, its screen, its evaluator."""

import asyncio
import shutil
import sys
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.install.extra_environments import ensure_osworld
from annotation_app.pools.task_files import task_file_read
from benchmarks.parts.figures import print_progress
from protocol.actions.types import TypeText
from vm_bridge.hosts.osworld.evaluator_settings import EvaluatorSettings
from vm_bridge.hosts.osworld.host import GuestHost
from vm_bridge.simulators.osworld.process import REVERT, simulated_guest

TASK_FILE = Path(__file__).with_name("osworld_task.json")
"""Ours, in their form: none of theirs is passed on with this project."""
WORDS = "grep failed ~/log.txt > ~/Desktop/failed.txt\n"
TIMEOUT_SECONDS = 60.0
"""How long the shell may take to do what was typed (seconds)."""


def measure(folder: Path) -> dict[str, object]:
    """Whether the evaluator says no before and yes after; null without the simulator's X server."""
    if shutil.which("Xtigervnc") is None:
        print_progress("Xtigervnc is not installed: no OSWorld task is played")
        return {}
    with simulated_guest(folder / "guest") as address:
        means = EvaluatorSettings(ensure_osworld(Console(sys.stderr)))
        return {"osworld_task_ok": asyncio.run(play_task(address, folder / "host", means))}


async def play_task(address: str, folder: Path, means: EvaluatorSettings) -> bool:
    """Whether the task is judged as it stands, undone and done."""
    (task,) = task_file_read(TASK_FILE.read_bytes(), "osworld", "desktop").tasks
    host = GuestHost(folder, [address], REVERT, settings=means)
    try:
        machine = (await host.create("osworld")).bind(1)
        await machine.prepare(task)
        before = await machine.evaluate()
        typed = await machine.perform("type-command", TypeText(text=WORDS))
        if before.success is not False or typed.error is not None:
            return False
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while not (await machine.evaluate()).success:  # noqa: ASYNC110 - nothing tells when a shell is done
                await asyncio.sleep(0.5)
    except TimeoutError:
        return False
    finally:
        await host.close()
    return True
