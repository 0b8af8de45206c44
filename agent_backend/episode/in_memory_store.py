"""An episode store that keeps everything in memory: for tests and for rollouts."""

from collections.abc import Awaitable, Callable, Mapping

from agent_backend.errors import CommandRejected, EpisodeFenced
from agent_backend.interfaces import CommandRecord, Intent
from protocol.blobs import NO_BLOBS, BlobRef
from protocol.messages.events import (
    DurableEvent,
    EpisodeChanged,
    EpisodeState,
    ProposalMarked,
    ProposalsReady,
    ProposalsWithdrawn,
    StepAdded,
    StepStarted,
    StepUndone,
    ThoughtWritten,
    WithdrawalReason,
)
from protocol.messages.state import apply_event
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import Mark, PolicyRef, Proposal, strip_token_data
from protocol.trajectory.steps import Step, drop_undone_steps, steps_with_owed_thoughts


async def ignore_event(event: DurableEvent) -> None:
    """Discards the event."""


class InMemoryEpisodeStore:
    """The state of one episode, and all proposals ever made in it.

    Every write is atomic, like a database transaction, and publishes its event afterwards.
    """

    def __init__(self, state: EpisodeState, publish: Callable[[DurableEvent], Awaitable[None]] = ignore_event) -> None:
        self.state = state
        self.offered: dict[int, tuple[Proposal, ...]] = {}
        """The proposals of each step, marks included."""
        self.blobs: dict[str, bytes] = {}
        self.notes: dict[str, str] = {}
        self.earlier: tuple[Step, ...] = ()
        """The steps to replay if this episode is a branch; their pictures are among `blobs`."""
        self._publish = publish
        self._commands: dict[str, str] = {}
        self._intent: Intent | None = None
        self._intents: dict[str, Intent] = {}
        self._fenced = False

    def fence(self) -> None:
        """Another runner took over: every later write of this view raises EpisodeFenced."""
        self._fenced = True

    async def load(self) -> EpisodeState:
        return self.state

    async def branch_steps(self) -> tuple[Step, ...]:
        return self.earlier

    async def branch_blob(self, ref: BlobRef) -> bytes:
        return self.blobs[ref.sha256]

    async def pending_intent(self) -> Intent | None:
        return self._intent

    async def past_intent(self, command_id: str) -> Intent | None:
        return self._intents.get(command_id)

    async def check_fence(self) -> None:
        self._check_fence()

    async def find_command(self, command_id: str) -> CommandRecord | None:
        digest = self._commands.get(command_id)
        return None if digest is None else CommandRecord(command_id=command_id, digest=digest)

    async def record_command(self, command_id: str, digest: str, note: str = "") -> None:
        self._check_fence()
        self._record_command(command_id, digest, note)

    async def save_blob(self, ref: BlobRef, data: bytes) -> None:
        self._check_fence()
        self.blobs[ref.sha256] = data

    async def load_blob(self, ref: BlobRef) -> bytes:
        return self.blobs[ref.sha256]

    async def begin_act(self, intent: Intent, digest: str) -> DurableEvent:
        self._check_fence()
        self._record_command(intent.command_id, digest)
        self._intent = self._intents[intent.command_id] = intent
        return await self._apply(StepStarted(version=self._next, pending=intent.pending_act))

    async def append_step(
        self,
        step: Step,
        next_intent: Intent | None = None,
        *,
        done: Intent | None = None,
        blobs: Mapping[BlobRef, bytes] = NO_BLOBS,
    ) -> DurableEvent:
        self._check_fence()
        if step.index != len(self.state.steps):
            raise ValueError(f"step {step.index} cannot follow {len(self.state.steps)} steps")
        pending = None
        if next_intent is not None:
            self._record_command(next_intent.command_id, next_intent.command_id)
            self._intents[next_intent.command_id] = next_intent
            pending = next_intent.pending_act
        self.blobs.update({ref.sha256: data for ref, data in blobs.items()})
        if done is not None:
            self._intents[done.command_id] = done
        self._intent = next_intent
        return await self._apply(StepAdded(version=self._next, step=step, pending=pending))

    async def undo_step(self, index: int, observation: Observation) -> DurableEvent:
        self._check_fence()
        if all(step.index != index for step in drop_undone_steps(self.state.steps)):
            raise ValueError(f"there is no step {index} to take back")
        return await self._apply(StepUndone(version=self._next, index=index, observation=observation))

    async def write_thought(self, index: int, thought: str) -> DurableEvent:
        self._check_fence()
        if all(step.index != index for step in steps_with_owed_thoughts(self.state.steps)):
            raise CommandRejected("no_thought_owed", "this step owes no thought")
        return await self._apply(ThoughtWritten(version=self._next, index=index, thought=thought))

    async def add_proposals(self, proposals: tuple[Proposal, ...], policy: PolicyRef) -> DurableEvent:
        self._check_fence()
        index = len(self.state.steps)
        self.offered[index] = self.offered.get(index, ()) + proposals
        return await self._apply(
            ProposalsReady(version=self._next, proposals=tuple(map(strip_token_data, proposals)), policy=policy)
        )

    async def withdraw_proposals(
        self, reason: WithdrawalReason, observation: Observation | None = None
    ) -> DurableEvent:
        self._check_fence()
        return await self._apply(ProposalsWithdrawn(version=self._next, reason=reason, observation=observation))

    async def mark_proposal(self, proposal_id: str, mark: Mark | None) -> DurableEvent:
        self._check_fence()
        index = len(self.state.steps)
        self.offered[index] = tuple(
            proposal.model_copy(update={"mark": mark}) if proposal.id == proposal_id else proposal
            for proposal in self.offered.get(index, ())
        )
        return await self._apply(ProposalMarked(version=self._next, proposal_id=proposal_id, mark=mark))

    async def change(self, event_fields: dict[str, object], command: CommandRecord | None = None) -> DurableEvent:
        self._check_fence()
        if command is not None:
            self._record_command(command.command_id, command.digest, command.note)
        return await self._apply(EpisodeChanged.model_validate({"version": self._next, **event_fields}))

    def _record_command(self, command_id: str, digest: str, note: str = "") -> None:
        if command_id in self._commands:
            raise CommandRejected("command_conflict", "this command_id was used before")
        self._commands[command_id] = digest
        if note:
            self.notes[command_id] = note

    @property
    def _next(self) -> int:
        return self.state.version + 1

    async def _apply(self, event: DurableEvent) -> DurableEvent:
        self.state = apply_event(self.state, event)
        await self._publish(event)
        return event

    def _check_fence(self) -> None:
        if self._fenced:
            raise EpisodeFenced("another process drives this episode now")
