"""What the policy offers for the screen of this moment: asked for, taken, voided; and the notes it writes beside."""

import asyncio
from collections.abc import Awaitable, Callable

from agent_backend.errors import PolicyError
from agent_backend.ports import EpisodeStore, Policy, Rememberer
from agent_backend.record import Record
from agent_backend.remembering import Remembering
from agent_backend.thinking import Patience, Question, Thinking
from vocabulary.actions import CONTROL_KINDS
from vocabulary.blobs import BlobRef
from vocabulary.messages import EpisodeState, Partial
from vocabulary.observations import Observation
from vocabulary.steps import Step, standing

CurrentPolicy = Callable[[], Policy | None]
"""The policy of this moment; None where nobody proposes. Asked at every decision point."""


class Offers:
    """The offers of one episode. `wake` is called when there is news; what changes anything is left to who calls."""

    def __init__(
        self,
        record: Record,
        store: EpisodeStore,
        current_policy: CurrentPolicy,
        read: Callable[[BlobRef], Awaitable[bytes]],
        patience: Patience,
        wake: Callable[[], None],
    ) -> None:
        self._record = record
        self._store = store
        self._current_policy = current_policy
        self._thinking = Thinking(wake, read, self._hear, patience, store.save_blob)
        self._remembering = Remembering(wake)
        self._shown_at: float | None = None
        self.failure: PolicyError | None = None
        """Why the policy was silent when it was asked last."""

    @property
    def _state(self) -> EpisodeState:
        return self._record.state

    @property
    def wanted(self) -> bool:
        """Whether the policy is to be asked, be it not yet."""
        state = self._state
        ready = state.status == "running" and not state.takeover and state.pending is None
        return ready and not state.proposals and not self._thinking.active and state.thinking != "off"

    @property
    def ask_at(self) -> float | None:
        """When it is asked next (loop time); None where it is not, be it that patience has run out."""
        return self._thinking.again_at if self.wanted else None

    @property
    def given_up(self) -> bool:
        """Whether it would be asked if patience had not run out."""
        return self.wanted and self._thinking.again_at is None

    @property
    def answered(self) -> bool:
        """Whether an answer, or a failure, waits to be taken."""
        return self._thinking.answered

    @property
    def noted(self) -> bool:
        """Whether a note, or a failure to write one, waits to be taken."""
        return self._remembering.answered

    @property
    def moved(self) -> bool:
        """Whether what is offered, awaited or switched off is no longer the current policy's word."""
        policy = self._current_policy()
        if self._state.thinking == "off":
            return policy is not None
        asked = self._thinking.asked or self._state.policy
        waits = bool(self._state.proposals) or self._thinking.active
        return waits and (policy.ref if policy else None) != asked

    @property
    def shown_ms(self) -> float | None:
        """For how long the offers have been seen; None where there are none, or an earlier process showed them."""
        if self._shown_at is None or not self._state.proposals:
            return None
        return (asyncio.get_running_loop().time() - self._shown_at) * 1000

    async def ask(self) -> None:
        """Ask about the screen of this moment."""
        self.ask_about(self._state.steps, self._record.seen)
        await self._record.tell("waiting" if self._thinking.active else "off")

    async def tell_asked(self) -> None:
        """Tell that the policy was asked, where it was."""
        if self._thinking.active:
            await self._record.tell("waiting")

    def ask_about(self, steps: tuple[Step, ...], observation: Observation) -> None:
        """Ask about steps that may still be on their way into the store."""
        policy = self._current_policy()
        if policy is not None:
            state, past = self._state, standing(steps)
            kinds = frozenset(state.capabilities) | CONTROL_KINDS
            question = Question(state.task, past, observation, kinds, state.tools, state.memories)
            self._thinking.ask(policy, question)

    def hush(self) -> None:
        """Wait for no answer any more."""
        self._thinking.drop()

    def renew(self) -> None:
        """Be patient anew."""
        self._thinking.renew()

    async def take(self) -> None:
        """Store what the policy offers, or say that it is silent; it is asked again by itself."""
        answer = self._thinking.take()
        self.failure = answer if isinstance(answer, PolicyError) else None
        if isinstance(answer, PolicyError):
            await self._record.tell("failed", str(answer))
            if self._state.autopilot and self._thinking.again_at is None:
                await self._record.change(autopilot=False)
            return
        assert self._thinking.asked is not None
        await self._record.write(self._store.add_proposals(answer, self._thinking.asked))
        self._shown_at = asyncio.get_running_loop().time()
        await self._note(self._current_policy())

    async def void(self, reason: str = "a new policy took over") -> None:
        """Take back what is offered or awaited; the policy is asked anew."""
        self._thinking.drop()
        self._thinking.renew()
        if self._state.proposals:
            await self._record.write(self._store.withdraw_proposals(reason))
        await self._record.tell("idle")

    async def take_note(self) -> None:
        """Store the note that was written, or say that it was not."""
        memory = self._remembering.take()
        if isinstance(memory, PolicyError):
            return await self._record.tell_noting("failed", str(memory))
        await self._record.tell_noting("idle")
        if any(step.index == memory.through for step in standing(self._state.steps)):
            await self._record.change(memories=(*self._state.memories, memory))

    async def close(self) -> None:
        """Ask for nothing any more."""
        await self._thinking.close()
        await self._remembering.close()

    async def _note(self, policy: Policy | None) -> None:
        """Have the next note written, where the policy writes any and one is due."""
        self._remembering.ask(policy, self._state.task, standing(self._state.steps), self._state.memories)
        if not isinstance(policy, Rememberer) or not policy.remembers:
            await self._record.tell_noting("off")
        elif self._remembering.writing:
            await self._record.tell_noting("writing")
        elif self._state.noting != "failed":
            await self._record.tell_noting("idle")

    async def _hear(self, partials: tuple[Partial, ...]) -> None:
        await self._record.tell("streaming", partials=partials)
