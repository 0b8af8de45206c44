"""What the chain that makes site tasks passes on and reports."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, get_args

from pydantic import Field

from protocol.base import FrozenModel
from protocol.site_tasks import Condition, ScriptStep
from protocol.trajectory.tasks import Task

FilterName = Literal[
    "readable", "safe", "grounded", "verifiable", "merged", "refined", "clear", "objective", "distinct", "proven"
]
FILTERS: tuple[FilterName, ...] = get_args(FilterName)
"""The filters of proposed tasks, in the order in which they are asked."""


class SiteFunction(FrozenModel):
    """Something that a page lets people do."""

    name: str = Field(min_length=1, max_length=200)
    description: str = Field(default="", max_length=1_000)
    elements: tuple[str, ...] = Field(min_length=1, max_length=40)
    """The numbers of the page's elements it is done with, such as `e3`."""


class Proposal(FrozenModel):
    """A task as a model writes it: InSTA's fields, and a script and a check."""

    id: str = Field(min_length=1, max_length=80, pattern=r"^[a-z0-9_-]+$")
    proposed_task: str = Field(min_length=1, max_length=2_000)
    steps: tuple[str, ...] = Field(default=(), max_length=40)
    criteria: tuple[str, ...] = Field(default=(), max_length=20)
    script: tuple[ScriptStep, ...] = Field(min_length=1, max_length=40)
    check: tuple[Condition, ...] = Field(default=(), max_length=20)
    after: str = Field(default="", max_length=80)
    """The id of the task that must be done before, whose end is where this one begins."""
    preconditions: tuple[str, ...] = Field(default=(), max_length=10)
    """What is done on the way, in words; written where tasks are merged."""


class Refusal(FrozenModel):
    """A proposed task that was not kept."""

    id: str
    filter: FilterName
    code: str
    reason: str = ""
    instruction: str = ""


class KeptTask(FrozenModel):
    """A task that passed every filter, with its proof."""

    task: Task
    judged_by: Literal["check", "criteria"]
    acts: int
    """Acts of its script."""


@dataclass(slots=True)
class SiteReport:
    """What became of one site."""

    site: str
    pages: int = 0
    usable_pages: int = 0
    rejected: str = ""
    """The code of a site that is of no use."""
    reason: str = ""
    pages_by_code: Counter[str] = field(default_factory=Counter)
    functions: int = 0
    functions_refused: Counter[str] = field(default_factory=Counter)
    reply_faults: list[str] = field(default_factory=list)
    proposed: int = 0
    refined: int = 0
    refinements_rejected: int = 0
    passed: dict[str, int] = field(default_factory=dict)
    """How many tasks every filter let pass."""
    refusals: list[Refusal] = field(default_factory=list)
    kept: list[KeptTask] = field(default_factory=list)
