"""Browser machines of this process, without a bridge: for recorded experts and reinforcement learning on live pages."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from protocol.trajectory.observations import Observation
from protocol.trajectory.tasks import Task
from vm_bridge.drivers.browser.machine import BrowserMachine
from vm_bridge.hosts.browser.host import IMAGE, BrowserHost, BrowserSandbox
from vm_bridge.machine import Machine
from vm_bridge.suites.miniwob import MiniWob, read_instruction
from vm_bridge.suites.parts import read_parts
from vm_bridge.suites.registry import WEB_SUITES

__all__ = [
    "FENCING_TOKEN",
    "WEB_SUITES",
    "BrowserSandbox",
    "open_prepared",
    "open_sandboxes",
    "prepare_task",
    "read_page_instruction",
    "read_page_parts",
]

FENCING_TOKEN = 1
"""These machines have no other user."""


class PreparedMachine(BrowserMachine):
    """A machine whose task is set up already: the first `prepare` of that task returns the page as it is."""

    def __init__(self, sandbox: BrowserSandbox, task: Task, seen: Observation) -> None:
        super().__init__(sandbox.browser, FENCING_TOKEN)
        self._prepared: tuple[Task, Observation] | None = (task, seen)

    async def prepare(self, task: Task) -> Observation:
        prepared, self._prepared = self._prepared, None
        return prepared[1] if prepared is not None and prepared[0] == task else await super().prepare(task)


@asynccontextmanager
async def open_sandboxes(count: int) -> AsyncIterator[list[BrowserSandbox]]:
    """So many browser machines while the block runs; their files are temporary. Raises BridgeError."""
    with tempfile.TemporaryDirectory(prefix="pilothouse-browsers-") as data:
        host = BrowserHost(Path(data), WEB_SUITES)
        try:
            made = [await host.create(IMAGE) for _ in range(count)]
            yield [sandbox for sandbox in made if isinstance(sandbox, BrowserSandbox)]
        finally:
            await host.close()


async def prepare_task(sandbox: BrowserSandbox, task: Task) -> tuple[Task, Observation]:
    """Set up a task. Returns it with the instruction that its page shows, and the first observation.

    Raises BridgeError.
    """
    seen = await sandbox.bind(FENCING_TOKEN).prepare(task)
    return task.model_copy(update={"instruction": await read_page_instruction(sandbox, task)}), seen


async def open_prepared(sandbox: BrowserSandbox, task: Task) -> tuple[Task, Machine]:
    """Set up a task. Returns it as `prepare_task` does, and a machine that finds it set up. Raises BridgeError."""
    task, seen = await prepare_task(sandbox, task)
    return task, PreparedMachine(sandbox, task, seen)


async def read_page_instruction(sandbox: BrowserSandbox, task: Task) -> str:
    """The instruction of a task that is set up: in MiniWoB++ the page's own words, else the task's.

    Raises BridgeError.
    """
    if isinstance(WEB_SUITES.get(task.suite or ""), MiniWob):
        return await sandbox.browser.read(FENCING_TOKEN, read_instruction)
    return task.instruction


async def read_page_parts(sandbox: BrowserSandbox) -> str:
    """See `vm_bridge.suites.parts.read_parts`. Raises BridgeError."""
    return await sandbox.browser.read(FENCING_TOKEN, read_parts)
