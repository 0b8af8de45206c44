"""What the runner needs from outside: a store, a policy, a way to tell people."""

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
"""What a runner takes; pings and the control lease are the socket's own business."""


class Intent(FrozenModel):
    """What is about to be done; stored before the act, completed by its step."""

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
    """See `Step.acted_by`; known to the store alone."""
    decide_ms: float | None = None
    snapshot: MachineSnapshot | None = None
    """The machine as it was before the act, where it can go back to that; known once the act is done."""
    batch: BatchPosition | None = None
    further_actions: tuple[Action, ...] = ()
    """What the same reply says to do after it, as far as it was decided on."""

    @property
    def pending_act(self) -> PendingAct:
        """The intent as viewers are told of it."""
        return PendingAct(
            command_id=self.command_id,
            action=self.action,
            thought=self.thought,
            started_at=self.started_at,
            batch=self.batch,
        )


class CommandRecord(FrozenModel):
    """A command that was taken, the digest of its body, and what the person said with it."""

    command_id: str
    digest: str
    note: str = ""


class EpisodeStore(Protocol):
    """Durable state of one episode. Every writer checks the runner's fencing token and raises EpisodeFenced.

    A writer stores, raises the version by one, and returns the event that says so, which the store has
    also published after commit; `apply_event(old snapshot, event) == new snapshot` holds for each.
    """

    async def load(self) -> EpisodeState:
        """The snapshot, with a pending intent if a crash left one."""
        ...

    async def branch_steps(self) -> tuple[Step, ...]:
        """The steps of the earlier episode that are done again before this one begins; none where it is no branch."""
        ...

    async def branch_blob(self, ref: BlobRef) -> bytes:
        """Bytes that the earlier episode keeps. Raises KeyError for others."""
        ...

    async def pending_intent(self) -> Intent | None:
        """The whole intent behind `load().pending`, from which the runner completes a step after a crash."""
        ...

    async def past_intent(self, command_id: str) -> Intent | None:
        """The intent of an act taken before, whether its step is known or not."""
        ...

    async def check_fence(self) -> None:
        """Nothing, while this runner may act: asked before it acts without a write. Raises EpisodeFenced."""
        ...

    async def find_command(self, command_id: str) -> CommandRecord | None:
        """The record of a command taken before."""
        ...

    async def record_command(self, command_id: str, digest: str, note: str = "") -> None:
        """Remember a command that is not an act (acts are remembered by their intent); `note` is what the
        person said with it: why they leave, what they need help with."""
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
            done: The step's own intent with the snapshot that the act brought, for `past_intent`.
            blobs: Pictures and files that the step refers to and that were not saved yet, as by `save_blob`; all of
                it is stored, or nothing.
            next_intent: The next action of the same reply, stored at the same time as the pending intent. Raises
                CommandRejected where it may not begin; then nothing was stored.
        """
        ...

    async def undo_step(self, index: int, observation: Observation) -> DurableEvent:
        """Note that the step of this index was taken back, and what the machine shows since; close the offers
        → step.undone. The step itself stays."""
        ...

    async def write_thought(self, index: int, thought: str) -> DurableEvent:
        """Store the thought that the step of this index owes → thought.written. Raises CommandRejected where it owes
        none."""
        ...

    async def add_proposals(self, proposals: tuple[Proposal, ...], policy: PolicyRef) -> DurableEvent:
        """Store what was offered at the present step → proposals.ready, which tells of tokens only how many."""
        ...

    async def withdraw_proposals(
        self, reason: WithdrawalReason, observation: Observation | None = None
    ) -> DurableEvent:
        """Void the pending offers, keeping their rows → proposals.withdrawn; the screen to act on is `observation` from
        now on, where it is given."""
        ...

    async def mark_proposal(self, proposal_id: str, mark: Mark | None) -> DurableEvent:
        """Judge an offer → proposal.marked."""
        ...

    async def change(self, event_fields: dict[str, object], command: CommandRecord | None = None) -> DurableEvent:
        """Change fields of EpisodeChanged (status, observation, autopilot, outcome, verdict, …), and remember the
        command that asked for it: both or neither is stored."""
        ...


SaveBlob = Callable[[BlobRef, bytes], Awaitable[None]]
"""Stores bytes under their digest."""


async def discard_blob(ref: BlobRef, data: bytes) -> None:
    """For who does not want to look back."""


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
        `memories` tell of older steps, `partial` hears the texts grow, `keep` stores what was asked.

        Raises PolicyError. Cancelling the task cancels the request.
        """
        ...


@runtime_checkable
class SummarizingPolicy(Protocol):
    """A policy that condenses what it no longer reads in full into notes for itself."""

    @property
    def writes_memories(self) -> bool:
        """Whether it writes any."""
        ...

    def steps_to_summarize(self, steps: tuple[Step, ...], memories: tuple[Memory, ...]) -> tuple[Step, ...]:
        """The steps the next note is due on; none while there is room."""
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
        """Whether its server can, as far as is known."""
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
        """What it would write after a half-written thought, given what it is given for proposals; empty where it has
        nothing to add. Raises PolicyError.

        Cancelling the task cancels the request.
        """
        ...


Emit = Callable[[Event], Awaitable[None]]
"""Tells every viewer something that may be lost (durable events are published by the store)."""
