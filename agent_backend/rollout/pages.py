"""Attempts of a policy at pages of a browser's suite through the engines of this process, without a bridge.

An episode is run as on a leased machine; one of MiniWoB++ is asked for in the page's own words, whichever seeds were
noted.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from agent_backend.limits import Limits
from agent_backend.rollout.attempt import Attempted, PolicyOn, flown
from vm_bridge.drivers.browser.machine import BrowserMachine
from vm_bridge.errors import BridgeError
from vm_bridge.hosts.browser.host import BrowserSandbox
from vm_bridge.suites.miniwob import MiniWob, read_instruction
from vm_bridge.suites.registry import WEB_SUITES
from vocabulary.observations import Observation
from vocabulary.tasks import Task

FENCE = 1
"""Nobody else holds these machines."""


class Opened(BrowserMachine):
    """A page that was opened to read what it asks for: its episode finds it as it is, once."""

    def __init__(self, sandbox: BrowserSandbox, task: Task, seen: Observation) -> None:
        super().__init__(sandbox.browser, FENCE)
        self._opened: tuple[Task, Observation] | None = (task, seen)

    async def prepare(self, task: Task) -> Observation:
        opened, self._opened = self._opened, None
        return opened[1] if opened is not None and opened[0] == task else await super().prepare(task)


async def page_attempt(sandbox: BrowserSandbox, task: Task, policy_on: PolicyOn, limits: Limits) -> Attempted:
    """One episode from a fresh page to its verdict. Raises BridgeError where the page fails before it,
    PolicyUnavailable when the policy's server stays away."""
    seen = await sandbox.bind(FENCE).prepare(task)
    told = task
    if isinstance(WEB_SUITES[task.suite or ""], MiniWob):
        told = task.model_copy(update={"instruction": await sandbox.browser.read(FENCE, read_instruction)})
    machine = Opened(sandbox, told, seen)
    return await flown(machine, told, policy_on(machine), limits)


async def pages_attempted(
    sandboxes: Sequence[BrowserSandbox],
    tasks: Sequence[Task],
    policy_on: PolicyOn,
    take: Callable[[Attempted], None],
    lost: Callable[[Task, str], None],
) -> None:
    """Every attempt, one on each machine at a time; `take` is told of each as it ends, and `lost` of those whose page
    failed, with the reason. Raises a group with PolicyUnavailable when the policy's server stays away."""
    todo = deque(tasks)

    async def work(sandbox: BrowserSandbox) -> None:
        while todo:
            task = todo.popleft()
            try:
                made = await page_attempt(sandbox, task, policy_on, Limits())
            except BridgeError as error:
                lost(task, str(error))
                continue
            if made.trajectory is None:
                lost(task, made.error)
            else:
                take(made)

    async with asyncio.TaskGroup() as working:
        for sandbox in sandboxes:
            working.create_task(work(sandbox))
