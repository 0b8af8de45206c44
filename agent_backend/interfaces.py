"""The interfaces that the runner needs: a store, a policy, and a way to publish to viewers."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Protocol, runtime_checkable

from protocol.actions.tools import Tool
from protocol.actions.types import Action
from protocol.base import FrozenModel
from protocol.blobs import NO_BLOBS, BlobRef
from protocol.dialects.dialect import ChatMessage
from protocol.messages.events import (
    Accept,
    Act,
    Autopilot,
    CallForHelp,
    ConfirmSecrets,
    DurableEvent,
    EpisodeState,
    Event,
    FinishEpisode,
    LeaveEpisode,
    MarkProposal,
    Partial,
    Pause,
    PendingAct,
    Resample,
    ReviseMemory,
    SetTimeScale,
    SkipSettle,
    Takeover,
    TakeoverInput,
    Undo,
    WithdrawalReason,
    WriteThought,
)
from protocol.trajectory.memory import Memory
from protocol.trajectory.observations import MachineSnapshot, Observation
from protocol.trajectory.proposals import Mark, PolicyRef, Proposal
from protocol.trajectory.steps import Actor, BatchPosition, Decision, Step
from protocol.trajectory.tasks import Task


class PassControl(FrozenModel):
    """The commands after this one come from another person. Only the server sends it."""

    command_id: str


EpisodeCommand = (
    Act
    | Accept
    | Resample
    | ReviseMemory
    | WriteThought
    | MarkProposal
    | FinishEpisode
    | LeaveEpisode
    | CallForHelp
    | Pause
    | Autopilot
    | Takeover
    | TakeoverInput
    | Undo
    | ConfirmSecrets
    | SetTimeScale
    | SkipSettle
    | PassControl
)
"""The commands that a runner accepts. The socket itself handles pings and the control lease."""


class Intent(FrozenModel):
    """A pending action: stored before it is executed, completed by its step."""

    command_id: str
    index: int
    actor: Actor
    decision: Decision
    proposal_id: str | None
    thought: str
    continued_characters: int = 0
    """See `Step.continued_characters`."""
    action: Action
    started_at: datetime
    acted_by: str | None = None
    """See `Step.acted_by`; only the store sets and reads it."""
    decide_ms: float | None = None
    snapshot: MachineSnapshot | None = None
    """A snapshot of the machine from before the action, if it can restore one; known once the action is done."""
    batch: BatchPosition | None = None
    further_actions: tuple[Action, ...] = ()
    """The later actions of the same reply that were accepted."""

    @property
    def pending_act(self) -> PendingAct:
        """The intent in the form that viewers receive."""
        return PendingAct(
            command_id=self.command_id,
            action=self.action,
            thought=self.thought,
            started_at=self.started_at,
            batch=self.batch,
        )


class CommandRecord(FrozenModel):
    """An accepted command, the digest of its body, and the person's message."""

    command_id: str
    digest: str
    note: str = ""


class EpisodeStore(Protocol):
    """Durable state of one episode. Every writer checks the runner's fencing token and raises EpisodeFenced.

    A writer stores, raises the version by one, and returns the event of the change, which the store has also published
    after commit; `apply_event(old snapshot, event) == new snapshot` holds for each.
    """

    async def load(self) -> EpisodeState:
        """Load the snapshot, with a pending intent if a crash left one."""
        ...

    async def branch_steps(self) -> tuple[Step, ...]:
        """The steps of the earlier episode to replay before this one begins; none if it is not a branch."""
        ...

    async def branch_blob(self, ref: BlobRef) -> bytes:
        """A blob of the earlier episode. Raises KeyError for others."""
        ...

    async def pending_intent(self) -> Intent | None:
        """The whole intent behind `load().pending`, from which the runner completes a step after a crash."""
        ...

    async def past_intent(self, command_id: str) -> Intent | None:
        """The intent of an earlier action, whether its step is known or not."""
        ...

    async def check_fence(self) -> None:
        """Raises EpisodeFenced if another runner has taken over. Called before an action that needs no write."""
        ...

    async def find_command(self, command_id: str) -> CommandRecord | None:
        """The record of an earlier accepted command."""
        ...

    async def record_command(self, command_id: str, digest: str, note: str = "") -> None:
        """Store a command that is not an action (the intent records actions). `note` is the person's message: why they
        leave, what they need help with."""
        ...

    async def save_blob(self, ref: BlobRef, data: bytes) -> None:
        """Store bytes once by their sha256, and let this episode's viewers see them."""
        ...

    async def load_blob(self, ref: BlobRef) -> bytes:
        """Bytes saved before: the older screenshots of a prompt after a restart. Raises KeyError for others."""
        ...

    async def begin_act(self, intent: Intent, digest: str) -> DurableEvent:
        """Store the intent before the act → step.started."""
        ...

    async def append_step(
        self,
        step: Step,
        next_intent: Intent | None = None,
        *,
        done: Intent | None = None,
        blobs: Mapping[BlobRef, bytes] = NO_BLOBS,
    ) -> DurableEvent:
        """Store the result and clear intent and offers → step.added.

        Args:
            done: The step's own intent with the action's snapshot, for `past_intent`.
            blobs: Pictures and files that the step refers to and that were not saved yet, as by `save_blob`; all of
                it is stored, or nothing.
            next_intent: The next action of the same reply, stored at the same time as the pending intent. Raises
                CommandRejected if it may not begin; then nothing was stored.
        """
        ...

    async def undo_step(self, index: int, observation: Observation) -> DurableEvent:
        """Mark the step of this index as undone, with the machine's current observation, and close the proposals →
        step.undone. The step itself stays."""
        ...

    async def write_thought(self, index: int, thought: str) -> DurableEvent:
        """Store the missing thought of the step of this index → thought.written. Raises CommandRejected if none is
        missing."""
        ...

    async def add_proposals(self, proposals: tuple[Proposal, ...], policy: PolicyRef) -> DurableEvent:
        """Store the proposals of the current step → proposals.ready, which has only the number of tokens."""
        ...

    async def withdraw_proposals(
        self, reason: WithdrawalReason, observation: Observation | None = None
    ) -> DurableEvent:
        """Withdraw the pending proposals, keeping their rows → proposals.withdrawn. If `observation` is given, it
        becomes the screen to act on."""
        ...

    async def mark_proposal(self, proposal_id: str, mark: Mark | None) -> DurableEvent:
        """Store a person's mark of a proposal, or remove it (None) → proposal.marked."""
        ...

    async def change(self, event_fields: dict[str, object], command: CommandRecord | None = None) -> DurableEvent:
        """Change fields of EpisodeChanged (status, observation, autopilot, outcome, verdict, …), and store the command
        that requested it: both or neither is stored."""
        ...


SaveBlob = Callable[[BlobRef, bytes], Awaitable[None]]
"""Stores bytes under their digest."""


async def discard_blob(ref: BlobRef, data: bytes) -> None:
    """Discards the blob."""


class Policy(Protocol):
    """Something that proposes."""

    ref: PolicyRef

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
        """Candidates for the next action, of these kinds or calling these tools, merged by equivalence and ranked;
        `memories` summarise older steps, `partial` receives the growing texts, `save_blob` stores the prompt.

        Raises PolicyError. Cancelling the task cancels the request.
        """
        ...


@runtime_checkable
class SummarizingPolicy(Protocol):
    """A policy that summarises older steps into notes for itself."""

    @property
    def writes_memories(self) -> bool:
        """Whether it writes notes."""
        ...

    def steps_to_summarize(self, steps: tuple[Step, ...], memories: tuple[Memory, ...]) -> tuple[Step, ...]:
        """The steps that the next note must summarise; none while the prompt has room."""
        ...

    async def write_memory(self, task: Task, steps: tuple[Step, ...], memories: tuple[Memory, ...]) -> Memory:
        """The next note. Raises PolicyError."""
        ...


@runtime_checkable
class WritingPolicy(Policy, Protocol):
    """A policy that also answers in plain text."""

    @property
    def language(self) -> str:
        """The language that it writes in, such as `English`."""
        ...

    async def write_text(self, messages: tuple[ChatMessage, ...], *, max_tokens: int) -> str:
        """An answer without pictures, at temperature 0; empty if the model wrote nothing. Raises PolicyError."""
        ...


@runtime_checkable
class ContinuingPolicy(Policy, Protocol):
    """A policy that continues a thought that a person began to write."""

    @property
    def continues_text(self) -> bool:
        """Whether its server supports this, as far as is known."""
        ...

    async def continue_text(
        self,
        task: Task,
        steps: tuple[Step, ...],
        observation: Observation,
        thought: str,
        *,
        kinds: frozenset[str],
        tools: tuple[Tool, ...] = (),
        memories: tuple[Memory, ...] = (),
        blob: Callable[[BlobRef], Awaitable[bytes]],
    ) -> str:
        """The continuation of a half-written thought, from the same inputs as proposals; empty if there is nothing to
        add. Raises PolicyError.

        Cancelling the task cancels the request.
        """
        ...


Emit = Callable[[Event], Awaitable[None]]
"""Publishes a message that may be lost to every viewer (the store publishes durable events)."""
