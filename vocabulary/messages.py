"""The desk's wire: commands go up and events come down one WebSocket.

Every command carries a `command_id` made by the client: a resend with the same body is answered from the
record, with another body it is refused (`command_conflict`). Durable events carry the episode's `version`,
which rises by one with each; a gap makes the client refetch the snapshot. Events without a version may be
lost without harm.
"""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, TypeAdapter

from vocabulary.actions import Action, InputEvent
from vocabulary.base import Frozen
from vocabulary.episodic import Memory, MemoryText
from vocabulary.inputs import Text
from vocabulary.observations import MAX_PACE, Observation, Verdict
from vocabulary.proposals import Mark, PolicyRef, Proposal
from vocabulary.secrets import SecretRequest, SecretUse
from vocabulary.steps import Step
from vocabulary.tasks import Task
from vocabulary.tools import Tool
from vocabulary.trajectories import Branch, Outcome

CommandId = Annotated[str, StringConstraints(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
Thought = Annotated[str, StringConstraints(max_length=8_000)]
Reason = Annotated[str, StringConstraints(max_length=2_000)]


class _Command(Frozen):
    command_id: CommandId


class Act(_Command):
    """Do this instead: an override. `proposal_id` names the candidate it started from, if any."""

    type: Literal["act"] = "act"
    action: Action
    thought: Thought = ""
    proposal_id: str | None = None


class Accept(_Command):
    """Do what a candidate says; another `thought` than its own makes it an edit."""

    type: Literal["accept"] = "accept"
    proposal_id: str
    base_version: int = Field(ge=0)
    """Number of steps the person saw when they accepted."""
    thought: Thought | None = None


class Resample(_Command):
    """Ask the policy again."""

    type: Literal["resample"] = "resample"


class ReviseMemory(_Command):
    """Put one of the policy's notes right; `through` names it."""

    type: Literal["remember"] = "remember"
    through: int = Field(ge=0)
    text: MemoryText


class MarkProposal(_Command):
    """Judge a candidate that is not taken; None removes the mark."""

    type: Literal["mark"] = "mark"
    proposal_id: str
    mark: Mark | None


class FinishEpisode(_Command):
    """End the episode with the annotator's own outcome (success, failure or infeasible)."""

    type: Literal["finish"] = "finish"
    outcome: Literal["success", "failure", "infeasible"]
    answer: Text = ""
    reason: Reason = ""


class LeaveEpisode(_Command):
    """Give the task back: skip it, release it for others, or report it broken."""

    type: Literal["leave"] = "leave"
    how: Literal["skip", "release", "broken"]
    reason: Reason = ""


class CallForHelp(_Command):
    """Ask an admin to look; the episode goes on."""

    type: Literal["help"] = "help"
    message: Reason


class Pause(_Command):
    """Stop the clock without losing the lease; False goes on."""

    type: Literal["pause"] = "pause"
    on: bool


class Autopilot(_Command):
    """Let the policy act by itself, or stop it."""

    type: Literal["autopilot"] = "autopilot"
    on: bool


class Takeover(_Command):
    """Begin or end direct input; ending closes the gesture into a step with this thought."""

    type: Literal["takeover"] = "takeover"
    on: bool
    thought: Thought = ""


class TakeoverInput(_Command):
    """Primitive inputs of a takeover, in order; moves are coalesced by the client."""

    type: Literal["input"] = "input"
    inputs: Annotated[tuple[InputEvent, ...], Field(min_length=1, max_length=64)]


class ConfirmSecrets(_Command):
    """Answer the open request about a policy's use of secrets; `proposal_id` names it. False also ends autopilot."""

    type: Literal["secrets"] = "secrets"
    proposal_id: str
    allow: bool


class TakeControl(_Command):
    """Take the one control lease of this episode for this socket."""

    type: Literal["control"] = "control"


class Undo(_Command):
    """Go back one step, where the machine can."""

    type: Literal["undo"] = "undo"


class SetPace(_Command):
    """How fast the machine's own time goes between two acts: 0 stands still, as the policy sees it, 1 is real time."""

    type: Literal["pace"] = "pace"
    rate: Annotated[float, Field(ge=0, le=MAX_PACE)]


class Hurry(_Command):
    """Cut a settle short."""

    type: Literal["hurry"] = "hurry"


class Ping(Frozen):
    """Measure the round trip and keep the leases alive."""

    type: Literal["ping"] = "ping"
    at: float


Command = Annotated[
    Act
    | Accept
    | Resample
    | ReviseMemory
    | MarkProposal
    | FinishEpisode
    | LeaveEpisode
    | CallForHelp
    | Pause
    | Autopilot
    | Takeover
    | TakeoverInput
    | ConfirmSecrets
    | TakeControl
    | Undo
    | SetPace
    | Hurry
    | Ping,
    Field(discriminator="type"),
]
COMMAND: TypeAdapter[Command] = TypeAdapter(Command)

EpisodeStatus = Literal["warming", "running", "paused", "finished", "left", "failed"]
Control = Literal["mine", "other", "nobody"]
Thinking = Literal["idle", "waiting", "streaming", "ready", "failed", "off"]
Noting = Literal["off", "idle", "writing", "failed"]
"""How the policy's notes stand: it writes none, none is due, one is being written, or the last one failed."""


class Partial(Frozen):
    """A candidate on its way: what has been generated so far."""

    index: int
    text: str


class PendingAct(Frozen):
    """A stored intent whose result is not known yet."""

    command_id: str
    action: Action
    thought: str
    started_at: datetime


class EpisodeState(Frozen):
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
    capabilities: tuple[str, ...] = ()
    """Action kinds the machine accepts."""
    tools: tuple[Tool, ...] = ()
    """What `call_tool` may name."""
    can_undo: bool = False
    observation: Observation | None = None
    """The latest frame; what the next act acts on."""
    steps: tuple[Step, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    thinking: Thinking = "idle"
    thinking_error: str = ""
    policy: PolicyRef | None = None
    pending: PendingAct | None = None
    memories: tuple[Memory, ...] = ()
    """What the policy noted of older steps, for itself."""
    noting: Noting = "off"
    noting_error: str = ""
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


class _Durable(Frozen):
    version: int = Field(ge=0)


class Snapshot(Frozen):
    """The whole state: sent on connecting and whenever the client asks over HTTP."""

    type: Literal["snapshot"] = "snapshot"
    state: EpisodeState
    control: Control


class StepStarted(_Durable):
    """An intent was stored and the act is running."""

    type: Literal["step.started"] = "step.started"
    pending: PendingAct


class StepAdded(_Durable):
    """A step was stored; it clears the pending act and the proposals."""

    type: Literal["step.added"] = "step.added"
    step: Step


class StepUndone(_Durable):
    """A step was taken back: the machine is where it was before it; what was offered since is void."""

    type: Literal["step.undone"] = "step.undone"
    index: int = Field(ge=0)
    observation: Observation


class ProposalsReady(_Durable):
    """Candidates for the current state were stored."""

    type: Literal["proposals.ready"] = "proposals.ready"
    proposals: tuple[Proposal, ...]
    policy: PolicyRef


class ProposalsWithdrawn(_Durable):
    """Pending candidates are void: resampled, or a new policy revision took over."""

    type: Literal["proposals.withdrawn"] = "proposals.withdrawn"
    reason: str


class ProposalMarked(_Durable):
    """A candidate was judged."""

    type: Literal["proposal.marked"] = "proposal.marked"
    proposal_id: str
    mark: Mark | None


class EpisodeChanged(_Durable):
    """Something about the episode itself changed; only set fields changed."""

    type: Literal["episode.changed"] = "episode.changed"
    status: EpisodeStatus | None = None
    branch_of: Branch | None = None
    observation: Observation | None = None
    capabilities: tuple[str, ...] | None = None
    tools: tuple[Tool, ...] | None = None
    can_undo: bool | None = None
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


class ProposalsThinking(Frozen):
    """The policy was asked (`partials` empty), or has generated this much so far. May be lost."""

    type: Literal["proposals.thinking"] = "proposals.thinking"
    thinking: Thinking
    partials: tuple[Partial, ...] = ()
    message: str = ""


class MemoriesNoting(Frozen):
    """How the policy's notes stand. May be lost."""

    type: Literal["memories.noting"] = "memories.noting"
    noting: Noting
    message: str = ""


class StorageChanged(Frozen):
    """Whether the disk for pictures is full: then the step of this moment waits for room. May be lost."""

    type: Literal["storage.changed"] = "storage.changed"
    full: bool


class ControlChanged(Frozen):
    """Who holds the control lease, seen from this socket."""

    type: Literal["control.changed"] = "control.changed"
    control: Control
    holder: str = ""


class Acknowledged(Frozen):
    """A command was taken, or had been taken before."""

    type: Literal["acknowledged"] = "acknowledged"
    command_id: str


class Rejected(Frozen):
    """A command was refused and changed nothing; `code` is stable."""

    type: Literal["rejected"] = "rejected"
    command_id: str | None
    code: str
    message: str


class Pong(Frozen):
    """Answer to a ping."""

    type: Literal["pong"] = "pong"
    at: float
    version: int


DurableEvent = (
    StepStarted | StepAdded | StepUndone | ProposalsReady | ProposalsWithdrawn | ProposalMarked | EpisodeChanged
)

Event = Annotated[
    Snapshot
    | StepStarted
    | StepAdded
    | StepUndone
    | ProposalsReady
    | ProposalsWithdrawn
    | ProposalMarked
    | EpisodeChanged
    | ProposalsThinking
    | MemoriesNoting
    | StorageChanged
    | ControlChanged
    | Acknowledged
    | Rejected
    | Pong,
    Field(discriminator="type"),
]
EVENT: TypeAdapter[Event] = TypeAdapter(Event)
