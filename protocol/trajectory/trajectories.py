"""A whole attempt at a task, as it is exported and trained on."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from protocol.actions.tools import Tool
from protocol.base import FrozenModel
from protocol.trajectory.memory import Memory
from protocol.trajectory.observations import Verdict
from protocol.trajectory.proposals import PolicyRef, Proposal
from protocol.trajectory.rewards import AttemptReward
from protocol.trajectory.steps import Step, drop_undone_steps
from protocol.trajectory.tasks import Task

TRAJECTORY_FORMAT: Literal["pilothouse-trajectory-1"] = "pilothouse-trajectory-1"

Origin = Literal["annotation", "rollout", "recording", "synthesis"]
Outcome = Literal["success", "failure", "infeasible", "skipped", "broken"]
ORIGINAL = "none"
VariantLabel = Annotated[str, StringConstraints(pattern=r"^(none|(enriched|diversified)-[1-9][0-9]{0,4})$")]
"""`none`, or which other wording of the thoughts a model wrote: its kind and number."""


class Branch(FrozenModel):
    """Where an attempt begins: at the state that the first `steps` standing steps of an earlier episode led to, which
    are done again. Its own first steps then say `again`; where the state was missed it begins at the start, and
    `reason` says what came out differently."""

    episode: str
    steps: int = Field(ge=1)
    state: Literal["wanted", "reached", "missed"] = "wanted"
    reason: str = ""


class SupervisorNote(FrozenModel):
    """That a supervisor wrote the annotator a note while the attempt ran, or took control. The text of a note stays in
    the platform."""

    author: str
    """Pseudonymous."""
    took_control: bool = False
    step: int = Field(default=0, ge=0)
    """Index of the first step that began after it; the number of steps where none did."""
    created_at: datetime

    @model_validator(mode="before")
    @classmethod
    def _drop_text(cls, fields: object) -> object:
        """Read what was written while notes still had their text."""
        return {key: fields[key] for key in fields if key != "text"} if isinstance(fields, dict) else fields


class Trajectory(FrozenModel):
    """Task, steps and how it ended; `terminated` (the task ended) and `truncated` (it was cut off)
    are two words because bootstrapping depends on it. `proposals[i]` is what was offered at step i."""

    format: Literal["pilothouse-trajectory-1"] = TRAJECTORY_FORMAT
    id: str
    task: Task
    origin: Origin
    annotator: str | None = None
    """Pseudonymous."""
    branch_of: Branch | None = None
    """The earlier attempt it goes on from, where it does not begin at the task's start."""
    capabilities: tuple[str, ...] | None = None
    """Action kinds the machine accepted, which every prompt offered; None where it was not recorded."""
    tools: tuple[Tool, ...] = ()
    """What `call_tool` could name, as every prompt said."""
    steps: tuple[Step, ...]
    proposals: tuple[tuple[Proposal, ...], ...] = ()
    policies: tuple[PolicyRef, ...] = ()
    """Who proposed, in order; an attempt that spans two revisions has two."""
    supervisor_notes: tuple[SupervisorNote, ...] = ()
    """How supervisors helped, in order; `Step.acted_by` names those who acted."""
    memories: tuple[Memory, ...] = ()
    """The policy's notes on older steps."""
    outcome: Outcome | None
    answer: str = ""
    verdict: Verdict | None = None
    reward: AttemptReward | None = None
    """What a policy's own attempt earned; None where nobody decided it yet, and for attempts of people."""
    terminated: bool
    truncated: bool
    created_at: datetime
    finished_at: datetime | None = None
    variant: VariantLabel = ORIGINAL
    """Whether thoughts are those that people said, or a model's variant of them."""
    variant_steps: tuple[int, ...] = ()
    """Of a variant: the steps whose thought it changes. The others are as in the original."""


def without_undone_steps(trajectory: Trajectory) -> Trajectory:
    """The attempt without undone steps. The remaining steps are renumbered from 0 and keep their proposals."""
    steps = drop_undone_steps(trajectory.steps)
    if len(trajectory.proposals) <= len(steps) == len(trajectory.steps) and all(
        step.index == index for index, step in enumerate(steps)
    ):
        return trajectory
    offered = dict(zip((step.index for step in trajectory.steps), trajectory.proposals, strict=False))
    return trajectory.model_copy(
        update={
            "steps": tuple(step.model_copy(update={"index": index}) for index, step in enumerate(steps)),
            "proposals": tuple(offered[step.index] for step in steps if step.index in offered),
        }
    )
