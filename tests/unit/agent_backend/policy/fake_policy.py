"""A policy that offers what it was told to: for tests of what stands above it."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime

from agent_backend.errors import PolicyError
from agent_backend.interfaces import SaveBlob, discard_blob
from protocol.actions.tools import Tool
from protocol.actions.types import Action, Click
from protocol.blobs import BlobRef
from protocol.messages.events import Partial
from protocol.trajectory.memory import Memory
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import ParseError, PolicyRef, Proposal
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task

Answer = tuple[tuple[str, Action | tuple[Action, ...] | None], ...]
"""Candidates as (thought, action or actions), best first; None is a reply nobody could parse."""


class FakePolicy:
    """Answers from a list, then with one click for ever; its public attributes are the knobs a test may turn.

    `gate`: cleared, answers wait until it is set; `broken`: raised instead of answering; `asked`: the steps
    each question held; `frames`: the picture of each question; `cancelled`: how many questions were cancelled;
    `offered`: the tools of the last question.
    """

    def __init__(self, answers: Iterable[Answer] = (), *, revision: str = "1") -> None:
        self.ref = PolicyRef(name="fake", revision=revision, dialect="fake", scripted=True)
        self.gate = asyncio.Event()
        self.gate.set()
        self.broken: PolicyError | None = None
        self.asked: list[tuple[Step, ...]] = []
        self.frames: list[BlobRef | None] = []
        self.cancelled = 0
        self.offered: tuple[Tool, ...] = ()
        self._answers = iter(answers)
        self._ids = itertools.count(1)

    async def propose(
        self,
        task: Task,
        steps: tuple[Step, ...],
        observation: Observation,
        *,
        kinds: frozenset[str],
        tools: tuple[Tool, ...] = (),
        memories: tuple[Memory, ...] = (),
        blob: Callable[[BlobRef], Awaitable[bytes]],
        partial: Callable[[tuple[Partial, ...]], Awaitable[None]],
        save_blob: SaveBlob = discard_blob,
    ) -> tuple[Proposal, ...]:
        self.asked.append(steps)
        self.frames.append(observation.screenshot)
        self.offered = tools
        await partial((Partial(index=0, text="Thought:"),))
        try:
            if observation.screenshot is not None:
                await blob(observation.screenshot)
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.broken is not None:
            raise self.broken
        answer = next(self._answers, (("I click the middle.", Click(x=10 + len(steps), y=10)),))
        return tuple(
            self._proposal(rank, thought, action, len(answer)) for rank, (thought, action) in enumerate(answer, 1)
        )

    def _proposal(self, rank: int, thought: str, said: Action | tuple[Action, ...] | None, of: int) -> Proposal:
        action, *further = said if isinstance(said, tuple) else (said,)
        text = action.model_dump_json() if action is not None else "not an action"
        return Proposal(
            id=f"{self.ref.revision}-{next(self._ids)}",
            rank=rank,
            thought=thought,
            action=action,
            further_actions=tuple(each for each in further if each is not None),
            action_text=text,
            raw_text=f"{thought}\n{text}",
            error=None if action is not None else ParseError(code="no_action", message="there is no action in it"),
            likelihood=1 / of,
            policy=self.ref,
            latency_ms=0.0,
            created_at=datetime.now(UTC),
        )
