"""What a suite must do whose tasks are played in a browser."""

from dataclasses import dataclass
from math import inf
from typing import Protocol, runtime_checkable

from protocol.trajectory.observations import Verdict
from protocol.trajectory.tasks import Task
from vm_bridge.browser import FilePayload, Session, Site
from vm_bridge.machine import ExpertSuggestion
from vm_bridge.suites import BundledTasks

START_TIME = 1_767_261_600.0
"""When a page's time begins where its task does not say (seconds since the epoch): the first of January 2026, ten
o'clock."""


@dataclass(frozen=True, slots=True)
class Scene:
    """Where a task is played: all of it follows from the task, so that it can be made again."""

    site: Site
    """A fresh one: it may hold what became of it."""
    url: str
    """The first address."""
    size: tuple[int, int]
    start_time: float = START_TIME
    step_ms: float = 0
    """How long every act takes, in the page's time; 0: until the page comes to rest."""
    files: tuple[FilePayload, ...] = ()
    """What its pages may be given where they ask for files."""
    limit_ms: float = inf
    """When its time is over, in the page's time; what has not ended by then is truncated."""


@dataclass(frozen=True, slots=True)
class TaskProgress:
    """Progress of a game."""

    score: float | None = None
    level: int | None = None
    done: bool = False
    """Whether it has ended by itself."""
    success: bool | None = None
    """How it ended, where it says so."""
    verifier_error: str | None = None
    """How its verifier failed, where it did."""
    description: str | None = None
    """What its page shows, in words; only where the task asks for it."""


@runtime_checkable
class WebSuite(BundledTasks, Protocol):
    """A set of web tasks. Parameters it cannot take raise InvalidAction.

    What it does to a page must be the same every time, and only `set_up` may change anything: episodes are made again
    from their task and their inputs.
    """

    def scene(self, task: Task) -> Scene:
        """Where the task is played."""
        ...

    async def set_up(self, task: Task, session: Session) -> None:
        """Make the page that was opened into the task's start state. Raises ScriptFailed."""
        ...

    async def progress(self, task: Task, session: Session) -> TaskProgress:
        """Current progress. Raises ScriptFailed, and VerifierFailed if the verifier itself is broken."""
        ...

    async def judge(self, task: Task, session: Session, answer: str) -> Verdict:
        """Judge the present state, and the answer given with it. Raises ScriptFailed, VerifierFailed: nobody's failure
        but the verifier's."""
        ...

    async def suggest_expert_action(self, task: Task, session: Session) -> ExpertSuggestion | None:
        """What its scripted expert would do now; None where there is none, or it knows nothing. Raises ScriptFailed."""
        ...
