"""One question to the policy at a time, in the background, and the patience to ask again."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agent_backend.errors import PolicyError, PolicyRejected, PolicyUnavailable
from agent_backend.ports import KeepBlob, Policy, keep_nothing
from vocabulary.blobs import BlobRef
from vocabulary.episodic import Memory
from vocabulary.messages import Partial
from vocabulary.observations import Observation
from vocabulary.proposals import PolicyRef, Proposal
from vocabulary.steps import Step
from vocabulary.tasks import Task
from vocabulary.tools import Tool

PARTIAL_EVERY = 0.1
"""Seconds between two looks at growing texts: ten a second read as flowing and do not flood a socket."""
CLOSE_SECONDS = 5.0
"""How long `close` waits for cancelled requests to end."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a policy is asked at a decision point."""

    task: Task
    steps: tuple[Step, ...]
    observation: Observation
    kinds: frozenset[str]
    tools: tuple[Tool, ...] = ()
    memories: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a silent policy is asked again at one decision point, and after how long (seconds)."""

    first: float = 1.0
    longest: float = 30.0
    tries: int = 12


def retry_delay(error: PolicyError, failures: int, patience: Patience) -> float:
    """Seconds until the next question: longer each time, and as long as the server asks for. A server that refuses the
    request would refuse it again: somebody must change something first."""
    if isinstance(error, PolicyRejected):
        return patience.longest
    asked_for = error.retry_after if isinstance(error, PolicyUnavailable) else None
    return max(min(patience.longest, patience.first * 2.0 ** (failures - 1)), asked_for or 0.0)


class Thinking:
    """Asks, listens, gives up, asks again later. It never stores: who asked records the answer."""

    def __init__(
        self,
        stir: Callable[[], None],
        blob: Callable[[BlobRef], Awaitable[bytes]],
        heard: Callable[[tuple[Partial, ...]], Awaitable[None]],
        patience: Patience,
        keep: KeepBlob = keep_nothing,
    ) -> None:
        self._keep = keep
        self._stir = stir
        self._blob = blob
        self._heard = heard
        self._patience = patience
        self._question: Question | None = None
        self._task: asyncio.Task[tuple[Proposal, ...]] | None = None
        self._dropped: set[asyncio.Task[tuple[Proposal, ...]]] = set()
        self._failures = 0
        self.asked: PolicyRef | None = None
        """Who was asked last."""
        self.again_at: float | None = 0.0
        """When the next question may be asked (loop time); None when patience has run out."""

    @property
    def active(self) -> bool:
        """Whether a question is out or an answer waits to be taken."""
        return self._task is not None

    @property
    def answered(self) -> bool:
        """Whether an answer, or a failure, waits to be taken."""
        return self._task is not None and self._task.done()

    def ask(self, policy: Policy, question: Question) -> None:
        """Put one question; an earlier one is dropped."""
        self.drop()
        self.asked = policy.ref
        self._question = question
        self._task = asyncio.create_task(self._propose(policy, question))
        self._task.add_done_callback(lambda _: self._stir())

    def take(self) -> tuple[Proposal, ...] | PolicyError:
        """The answer, once; a failure sets the time to ask again."""
        assert self._task is not None
        task, self._task = self._task, None
        try:
            proposals = task.result()
        except PolicyError as error:
            self._failures += 1
            delay = retry_delay(error, self._failures, self._patience)
            tired = self._failures >= self._patience.tries
            self.again_at = None if tired else asyncio.get_running_loop().time() + delay
            return error
        self.renew()
        return proposals

    def renew(self) -> None:
        """Forget earlier failures: the next question may be asked at once."""
        self._failures = 0
        self.again_at = 0.0

    def drop(self) -> None:
        """Cancel the running question; its request is closed in the background."""
        self._question = None
        if self._task is not None:
            self._dropped.add(self._task)
            self._task.add_done_callback(self._forget)
            self._task.cancel()
            self._task = None

    def _forget(self, task: asyncio.Task[tuple[Proposal, ...]]) -> None:
        self._dropped.discard(task)
        if not task.cancelled():
            task.exception()  # marks it as seen: nobody waits for this answer any more

    async def close(self) -> None:
        """Drop the question and wait until nothing of it runs."""
        self.drop()
        if self._dropped:
            await asyncio.wait(self._dropped, timeout=CLOSE_SECONDS)

    async def _propose(self, policy: Policy, question: Question) -> tuple[Proposal, ...]:
        heard_at = 0.0

        async def partial(partials: tuple[Partial, ...]) -> None:
            nonlocal heard_at
            now = asyncio.get_running_loop().time()
            if now - heard_at >= PARTIAL_EVERY and self._question is question:
                heard_at = now
                await self._heard(partials)

        proposals = await policy.propose(
            question.task,
            question.steps,
            question.observation,
            kinds=question.kinds,
            tools=question.tools,
            memories=question.memories,
            blob=self._blob,
            partial=partial,
            keep=self._keep,
        )
        if not proposals:
            raise PolicyError("the policy offered nothing")
        return proposals
