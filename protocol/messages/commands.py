"""What a desk asks for; `protocol.messages.events` says how commands are sent and answered."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, TypeAdapter

from protocol.actions.inputs import Text
from protocol.actions.types import Action, InputEvent
from protocol.base import FrozenModel
from protocol.trajectory.memory import MemoryText
from protocol.trajectory.observations import MAX_TIME_SCALE
from protocol.trajectory.proposals import Mark

CommandId = Annotated[str, StringConstraints(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
Thought = Annotated[str, StringConstraints(max_length=8_000)]
ContinuedCharacters = Annotated[int, Field(ge=0, le=8_000)]
"""Characters of a thought that the person took from the policy's continuation of it."""
CheckId = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Reason = Annotated[str, StringConstraints(max_length=2_000)]


class _Command(FrozenModel):
    command_id: CommandId


class Act(_Command):
    """Do this instead: an override. `proposal_id` names the candidate it started from, if any."""

    type: Literal["act"] = "act"
    action: Action
    thought: Thought = ""
    continued_characters: ContinuedCharacters = 0
    proposal_id: str | None = None


class Accept(_Command):
    """Do what a candidate says; another `thought` than its own, or fewer of its actions, makes it an edit."""

    type: Literal["accept"] = "accept"
    proposal_id: str
    base_version: int = Field(ge=0)
    """Number of steps the person saw when they accepted."""
    thought: Thought | None = None
    continued_characters: ContinuedCharacters = 0
    actions: int | None = Field(default=None, ge=1)
    """How many of the candidate's actions to do, from the first; None for all of them."""
    acknowledged: Annotated[tuple[CheckId, ...], Field(max_length=20)] = ()
    """The safety checks of its provider that the person has looked at, by their ids."""


class Resample(_Command):
    """Ask the policy again."""

    type: Literal["resample"] = "resample"


class ReviseMemory(_Command):
    """Put one of the policy's notes right; `through` names it."""

    type: Literal["remember"] = "remember"
    through: int = Field(ge=0)
    text: MemoryText


class WriteThought(_Command):
    """Write the thought that an earlier step owes. It is written once; a reviewer can mend it."""

    type: Literal["thought"] = "thought"
    index: int = Field(ge=0)
    thought: Annotated[Thought, StringConstraints(pattern=r"\S")]


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
    """Primitive inputs of a takeover, in order; moves are coalesced by the client.

    Without inputs it says that what is held is still held: after a second without a word everything is let go.
    """

    type: Literal["input"] = "input"
    inputs: Annotated[tuple[InputEvent, ...], Field(max_length=64)]


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


class SetTimeScale(_Command):
    """How fast the machine's own time goes between two acts: 0 stands still, as the policy sees it, 1 is real time."""

    type: Literal["pace"] = "pace"
    rate: Annotated[float, Field(ge=0, le=MAX_TIME_SCALE)]


class SkipSettle(_Command):
    """Cut a settle short."""

    type: Literal["hurry"] = "hurry"


class ContinueText(FrozenModel):
    """Ask the policy to continue a half-written thought; it changes nothing and is never sent again.

    `text.continued` answers it, unless a later one takes its place.
    """

    type: Literal["continue"] = "continue"
    request: int = Field(ge=0, le=2**53)
    """Made by the page, so that it knows the answer."""
    thought: Thought


class Ping(FrozenModel):
    """Measure the round trip and keep the leases alive."""

    type: Literal["ping"] = "ping"
    at: float


Command = Annotated[
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
    | ConfirmSecrets
    | TakeControl
    | Undo
    | SetTimeScale
    | SkipSettle
    | ContinueText
    | Ping,
    Field(discriminator="type"),
]
COMMAND_ADAPTER: TypeAdapter[Command] = TypeAdapter(Command)
