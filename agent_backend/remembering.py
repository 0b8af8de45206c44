"""One note of a policy for itself at a time, written in the background while the annotator decides.

Nothing waits for a note: one that fails is asked for again after the next step, and until then the older steps stay
in the prompt as they are.
"""

import asyncio
from collections.abc import Callable

from agent_backend.errors import PolicyError
from agent_backend.ports import Policy, Rememberer
from vocabulary.episodic import Memory
from vocabulary.steps import Step
from vocabulary.tasks import Task


class Remembering:
    """Asks for a note where one is due. It never stores: who asked records the answer."""

    def __init__(self, stir: Callable[[], None]) -> None:
        self._stir = stir
        self._task: asyncio.Task[Memory] | None = None

    @property
    def answered(self) -> bool:
        """Whether a note, or a failure, waits to be taken."""
        return self._task is not None and self._task.done()

    @property
    def writing(self) -> bool:
        """Whether a note was asked for and is not taken yet."""
        return self._task is not None

    def ask(self, policy: Policy | None, task: Task, steps: tuple[Step, ...], memories: tuple[Memory, ...]) -> None:
        """Ask for the next note, where this policy writes any and one is due."""
        if self._task is None and isinstance(policy, Rememberer) and policy.condensable(steps, memories):
            self._task = asyncio.create_task(policy.remember(task, steps, memories))
            self._task.add_done_callback(lambda _: self._stir())

    def take(self) -> Memory | PolicyError:
        """The note, once, or why there is none."""
        assert self._task is not None
        task, self._task = self._task, None
        try:
            return task.result()
        except PolicyError as error:
            return error

    async def close(self) -> None:
        """Ask no longer."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
