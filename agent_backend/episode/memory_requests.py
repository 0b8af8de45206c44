"""Requests a policy's notes in the background, one at a time.

Nothing waits for a note. A failed one is requested again after the next step; until then the older steps stay in the
prompt as they are.
"""

import asyncio
from collections.abc import Callable
from functools import partial

from agent_backend.errors import PolicyError
from agent_backend.interfaces import Policy, SummarizingPolicy
from agent_backend.telemetry.requests import OnRequest, report_request
from protocol.trajectory.memory import Memory
from protocol.trajectory.proposals import PolicyRef
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task


class MemorySummarizer:
    """Requests a note when one is due. The caller stores it."""

    def __init__(self, on_done: Callable[[], None], on_request: OnRequest | None = None) -> None:
        self._on_done = on_done
        self._on_request = on_request
        self._task: asyncio.Task[Memory] | None = None
        self.policy_ref: PolicyRef | None = None
        """The revision that was asked last."""

    @property
    def result_ready(self) -> bool:
        """Whether a note or a failure is ready for `take`."""
        return self._task is not None and self._task.done()

    @property
    def in_progress(self) -> bool:
        """Whether a note was requested and is not taken yet."""
        return self._task is not None

    def request_now(
        self, policy: Policy | None, task: Task, steps: tuple[Step, ...], memories: tuple[Memory, ...]
    ) -> None:
        """Request the next note, if this policy writes any and one is due."""
        if self._task is None and isinstance(policy, SummarizingPolicy) and policy.steps_to_summarize(steps, memories):
            self.policy_ref = policy.ref
            self._task = asyncio.create_task(self._write(policy, task, steps, memories))
            self._task.add_done_callback(lambda _: self._on_done())

    async def _write(self, policy: Policy, task: Task, steps: tuple[Step, ...], memories: tuple[Memory, ...]) -> Memory:
        assert isinstance(policy, SummarizingPolicy)
        write = partial(policy.write_memory, task, steps, memories)
        if self._on_request is None:
            return await write()
        return await report_request(policy, policy.ref, lambda _: write(), self._on_request)

    def take(self) -> Memory | PolicyError:
        """Return the note, once, or why there is none."""
        assert self._task is not None
        task, self._task = self._task, None
        try:
            return task.result()
        except PolicyError as error:
            return error

    async def close(self) -> None:
        """Stop requesting notes."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
