"""What a policy is asked at a decision point, and such questions put ahead of their moment."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agent_backend.episode.speculation import Guess, matches_guess
from agent_backend.interfaces import Policy, SaveBlob
from protocol.actions.tools import Tool
from protocol.blobs import BlobRef
from protocol.trajectory.memory import Memory
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import Proposal
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task

ReadBlob = Callable[[BlobRef], Awaitable[bytes]]


@dataclass(frozen=True, slots=True)
class ProposalRequest:
    """What a policy is asked at a decision point."""

    task: Task
    steps: tuple[Step, ...]
    observation: Observation
    kinds: frozenset[str]
    tools: tuple[Tool, ...] = ()
    memories: tuple[Memory, ...] = ()


class PreparedRequest:
    """A question put ahead of its moment. What it would store waits until the question is the episode's own."""

    def __init__(self, guess: Guess, request: ProposalRequest) -> None:
        self.guess = guess
        self.request = request
        self.task: asyncio.Task[tuple[Proposal, ...]] | None = None
        self._blobs: dict[BlobRef, bytes] = {}
        self._taken = asyncio.Event()

    async def hold_blob(self, ref: BlobRef, data: bytes) -> None:
        """Keep what is to be stored until the question is taken."""
        self._blobs[ref] = data

    def take(self) -> None:
        """The question is the episode's own."""
        self._taken.set()

    async def answer(
        self, propose: Callable[[], Awaitable[tuple[Proposal, ...]]], save_blob: SaveBlob
    ) -> tuple[Proposal, ...]:
        """The answer, once the question is taken and what belongs to it stored. Raises PolicyError."""
        proposals = await propose()
        await self._taken.wait()
        for ref, data in self._blobs.items():
            await save_blob(ref, data)
        return proposals


def is_prepared(prepared: PreparedRequest, policy: Policy, request: ProposalRequest) -> bool:
    """Whether a question is the one that was put ahead of its moment."""
    ahead = prepared.request
    same = (ahead.task, ahead.kinds, ahead.tools, ahead.memories) == (
        request.task,
        request.kinds,
        request.tools,
        request.memories,
    )
    return (
        same and prepared.guess.policy is policy and matches_guess(prepared.guess, request.steps, request.observation)
    )
