"""Attempts of a policy at pages of a browser suite, with browser engines of this process and without a bridge.

An episode runs as on a leased machine. A MiniWoB++ instruction is read from the page, not from stored seeds.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from agent_backend.episode.limits import RunnerLimits
from agent_backend.rollout.attempts import AttemptResult, PolicyFactory, run_episode
from protocol.trajectory.tasks import Task
from vm_bridge.errors import BridgeError
from vm_bridge.local_browser import BrowserSandbox, open_prepared


async def run_page_attempt(
    sandbox: BrowserSandbox, task: Task, policy_factory: PolicyFactory, limits: RunnerLimits
) -> AttemptResult:
    """Run one episode from a fresh page to its verdict. Raises BridgeError if the page fails before the episode,
    PolicyUnavailable if the policy's server does not recover."""
    page_task, machine = await open_prepared(sandbox, task)
    return await run_episode(machine, page_task, policy_factory(machine), limits)


async def run_page_attempts(
    sandboxes: Sequence[BrowserSandbox],
    tasks: Sequence[Task],
    policy_factory: PolicyFactory,
    take: Callable[[AttemptResult], None],
    lost: Callable[[Task, str], None],
) -> None:
    """Make every attempt, one on each machine at a time.

    `take` is called with each attempt as it ends. `lost` is called with each task whose page failed, and the reason.
    Raises an exception group with PolicyUnavailable if the policy's server does not recover.
    """
    pending = deque(tasks)

    async def work(sandbox: BrowserSandbox) -> None:
        while pending:
            task = pending.popleft()
            try:
                result = await run_page_attempt(sandbox, task, policy_factory, RunnerLimits())
            except BridgeError as error:
                lost(task, str(error))
                continue
            if result.trajectory is None:
                lost(task, result.error)
            else:
                take(result)

    async with asyncio.TaskGroup() as working:
        for sandbox in sandboxes:
            working.create_task(work(sandbox))
