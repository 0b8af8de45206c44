"""The desk's wire: commands (`protocol.messages.commands`) go up and events come down one WebSocket.

Every command carries a `command_id` made by the client: a resend with the same body is answered from the
record, with another body it is refused (`command_conflict`). Durable events carry the episode's `version`,
which rises by one with each; a gap makes the client refetch the snapshot. Events without a version may be
lost without harm.
"""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from protocol.actions.secrets import SecretRequest, SecretUse
from protocol.actions.tools import Tool
from protocol.actions.types import Action
from protocol.base import FrozenModel
from protocol.messages.commands import COMMAND_ADAPTER as COMMAND_ADAPTER
from protocol.messages.commands import Accept as Accept
from protocol.messages.commands import Act as Act
from protocol.messages.commands import Autopilot as Autopilot
from protocol.messages.commands import CallForHelp as CallForHelp
from protocol.messages.commands import Command as Command
from protocol.messages.commands import CommandId as CommandId
from protocol.messages.commands import ConfirmSecrets as ConfirmSecrets
from protocol.messages.commands import ContinueText as ContinueText
from protocol.messages.commands import FinishEpisode as FinishEpisode
from protocol.messages.commands import LeaveEpisode as LeaveEpisode
from protocol.messages.commands import MarkProposal as MarkProposal
from protocol.messages.commands import Pause as Pause
from protocol.messages.commands import Ping as Ping
from protocol.messages.commands import Reason as Reason
from protocol.messages.commands import Resample as Resample
from protocol.messages.commands import ReviseMemory as ReviseMemory
from protocol.messages.commands import SetTimeScale as SetTimeScale
from protocol.messages.commands import SkipSettle as SkipSettle
from protocol.messages.commands import TakeControl as TakeControl
from protocol.messages.commands import Takeover as Takeover
from protocol.messages.commands import TakeoverInput as TakeoverInput
from protocol.messages.commands import Thought as Thought
from protocol.messages.commands import Undo as Undo
from protocol.messages.commands import WriteThought as WriteThought
from protocol.trajectory.memory import Memory
from protocol.trajectory.observations import Observation, Verdict
from protocol.trajectory.proposals import Mark, PolicyRef, Proposal
from protocol.trajectory.steps import BatchPosition, Step
from protocol.trajectory.tasks import Task
from protocol.trajectory.trajectories import Branch, Outcome

EpisodeStatus = Literal["warming", "running", "paused", "finished", "left", "failed"]
Control = Literal["mine", "other", "nobody"]
Thinking = Literal["idle", "waiting", "streaming", "ready", "failed", "off"]
WithdrawalReason = Literal["resampled", "policy_changed", "time_went_on", "screen_changed"]
ContinuationCode = Literal["", "unsupported", "busy", "failed", "view_only"]
"""Why the policy continued nothing: its server or dialect cannot, or the pool does not allow it; there is no policy, or
it was asked for proposals; it failed, or took too long; another socket holds control."""
Noting = Literal["off", "idle", "writing", "failed"]
"""How the policy's notes stand: it writes none, none is due, one is being written, or the last one failed."""


class Partial(FrozenModel):
    """A candidate on its way: what has been generated so far."""

    index: int
    text: str


class PendingAct(FrozenModel):
    """A stored intent whose result is not known yet."""

    command_id: str
    action: Action
    thought: str
    started_at: datetime
    batch: BatchPosition | None = None
    """Set where it is one of several actions of one reply."""


class EpisodeState(FrozenModel):
    """All the desk shows of an episode; the snapshot, and the state every event is applied to."""

    id: str
    version: int
    status: EpisodeStatus
    task: Task
    branch_of: Branch | None = None
    """The earlier attempt whose steps are done again first."""
    pool: str
    instructions: str = ""
    """The pool's guidance (Markdown)."""
    thought_required: bool = True
    thought_later: bool = False
    """Whether a required thought may be written after its step."""
    text_continuation: bool = False
    """Whether the policy may be asked to continue half-written thoughts."""
    unattended_safety_checks: bool = False
    """Whether the autopilot may do what a provider wants a person to check."""
    capabilities: tuple[str, ...] = ()
    """Action kinds the machine accepts."""
    tools: tuple[Tool, ...] = ()
    """What `call_tool` may name."""
    can_undo: bool = False
    undo_blocked: bool = False
    """Whether the machine, though it can go back, did not keep how it was before the last step."""
    observation: Observation | None = None
    """The latest frame; what the next act acts on."""
    steps: tuple[Step, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    thinking: Thinking = "idle"
    thinking_error: str = ""
    thinking_code: str = ""
    """The stable code of why the policy is silent, such as `budget_spent`."""
    thinking_policy: PolicyRef | None = None
    """The revision that was asked last, which `thinking` and its error are about. None: not known."""
    policy: PolicyRef | None = None
    pending: PendingAct | None = None
    memories: tuple[Memory, ...] = ()
    """What the policy noted of older steps, for itself."""
    noting: Noting = "off"
    noting_error: str = ""
    noting_policy: PolicyRef | None = None
    """The revision whose note failed."""
    autopilot: bool = False
    takeover: bool = False
    help_requested: bool = False
    secret_requests: tuple[SecretRequest, ...] = ()
    """What waits until the annotator confirms a policy's use of secrets: one at most. It concerns a proposal, and means
    nothing once that is not on offer any more."""
    secrets_confirmed: tuple[SecretUse, ...] = ()
    """What was confirmed in this episode."""
    outcome: Outcome | None = None
    answer: str = ""
    verdict: Verdict | None = None
    lease_expires_at: datetime | None = None
    error: str = ""
    created_at: datetime
    finished_at: datetime | None = None


class _DurableEvent(FrozenModel):
    version: int = Field(ge=0)


class Snapshot(FrozenModel):
    """The whole state: sent on connecting and whenever the client asks over HTTP."""

    type: Literal["snapshot"] = "snapshot"
    state: EpisodeState
    control: Control
    acts_as: str | None = None
    """The `acted_by` of steps that this socket decides: a supervisor's pseudonym, None for the annotator. None over
    HTTP."""


class StepStarted(_DurableEvent):
    """An intent was stored and the act is running."""

    type: Literal["step.started"] = "step.started"
    pending: PendingAct


class StepAdded(_DurableEvent):
    """A step was stored; it clears the proposals and the pending act, in whose place the next action of the same reply
    comes where there is one."""

    type: Literal["step.added"] = "step.added"
    step: Step
    pending: PendingAct | None = None


class StepUndone(_DurableEvent):
    """A step was taken back: the machine is where it was before it; what was offered since is void."""

    type: Literal["step.undone"] = "step.undone"
    index: int = Field(ge=0)
    observation: Observation


class ThoughtWritten(_DurableEvent):
    """The thought that a step owed was written."""

    type: Literal["thought.written"] = "thought.written"
    index: int = Field(ge=0)
    thought: str


class ProposalsReady(_DurableEvent):
    """Candidates for the current state were stored."""

    type: Literal["proposals.ready"] = "proposals.ready"
    proposals: tuple[Proposal, ...]
    policy: PolicyRef


class ProposalsWithdrawn(_DurableEvent):
    """Pending candidates are void."""

    type: Literal["proposals.withdrawn"] = "proposals.withdrawn"
    reason: WithdrawalReason
    observation: Observation | None = None
    """The screen to act on from now on, where it changed."""


class ProposalMarked(_DurableEvent):
    """A candidate was judged."""

    type: Literal["proposal.marked"] = "proposal.marked"
    proposal_id: str
    mark: Mark | None


class EpisodeChanged(_DurableEvent):
    """Something about the episode itself changed; only set fields changed."""

    type: Literal["episode.changed"] = "episode.changed"
    status: EpisodeStatus | None = None
    branch_of: Branch | None = None
    observation: Observation | None = None
    capabilities: tuple[str, ...] | None = None
    tools: tuple[Tool, ...] | None = None
    can_undo: bool | None = None
    undo_blocked: bool | None = None
    memories: tuple[Memory, ...] | None = None
    autopilot: bool | None = None
    takeover: bool | None = None
    help_requested: bool | None = None
    secret_requests: tuple[SecretRequest, ...] | None = None
    secrets_confirmed: tuple[SecretUse, ...] | None = None
    outcome: Outcome | None = None
    answer: str | None = None
    verdict: Verdict | None = None
    lease_expires_at: datetime | None = None
    error: str | None = None
    finished_at: datetime | None = None


class ProposalsThinking(FrozenModel):
    """The policy was asked (`partials` empty), or has generated this much so far. May be lost."""

    type: Literal["proposals.thinking"] = "proposals.thinking"
    thinking: Thinking
    partials: tuple[Partial, ...] = ()
    message: str = ""
    code: str = ""
    policy: PolicyRef | None = None
    """The revision that was asked; None if there is none."""


class MemoriesNoting(FrozenModel):
    """How the policy's notes stand. May be lost."""

    type: Literal["memories.noting"] = "memories.noting"
    noting: Noting
    message: str = ""
    policy: PolicyRef | None = None
    """The revision whose note failed."""


class StorageChanged(FrozenModel):
    """Whether the disk for pictures is full: then the step of this moment waits for room. May be lost."""

    type: Literal["storage.changed"] = "storage.changed"
    full: bool


class TextContinued(FrozenModel):
    """The answer to `continue`, for the socket that asked alone."""

    type: Literal["text.continued"] = "text.continued"
    request: int
    text: str = ""
    """What the policy would write next, up to the end of the line; empty where it has nothing to add."""
    policy: PolicyRef | None = None
    """The policy that answered, or that cannot; None where none was asked."""
    code: ContinuationCode = ""


class ControlChanged(FrozenModel):
    """Who holds the control lease, seen from this socket."""

    type: Literal["control.changed"] = "control.changed"
    control: Control
    holder: str = ""


class Acknowledged(FrozenModel):
    """A command was taken, or had been taken before."""

    type: Literal["acknowledged"] = "acknowledged"
    command_id: str


class Rejected(FrozenModel):
    """A command was refused and changed nothing; `code` is stable."""

    type: Literal["rejected"] = "rejected"
    command_id: str | None
    code: str
    message: str


class Pong(FrozenModel):
    """Answer to a ping."""

    type: Literal["pong"] = "pong"
    at: float
    version: int


DurableEvent = (
    StepStarted
    | StepAdded
    | StepUndone
    | ThoughtWritten
    | ProposalsReady
    | ProposalsWithdrawn
    | ProposalMarked
    | EpisodeChanged
)

Event = Annotated[
    Snapshot
    | StepStarted
    | StepAdded
    | StepUndone
    | ThoughtWritten
    | ProposalsReady
    | ProposalsWithdrawn
    | ProposalMarked
    | EpisodeChanged
    | ProposalsThinking
    | MemoriesNoting
    | StorageChanged
    | TextContinued
    | ControlChanged
    | Acknowledged
    | Rejected
    | Pong,
    Field(discriminator="type"),
]
EVENT_ADAPTER: TypeAdapter[Event] = TypeAdapter(Event)
