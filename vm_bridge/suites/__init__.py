"""Bundled tasks: the interface of suites, and what they may use. Suites run inside the bridge; nothing else imports
them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from protocol.harbor.task_folders import HARBOR
from protocol.trajectory.observations import Verdict
from protocol.trajectory.tasks import Language, Task
from vm_bridge.errors import InvalidAction, UnknownTask


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a command left: its exit status (None when its time ran out) and its combined output, bounded."""

    code: int | None
    output: str


class SandboxEnvironment(Protocol):
    """The inside of one sandbox, as its ordinary user; relative paths start at the home folder.

    Errors: any `BridgeError`; a command that fails is no exception but a `Ran`.
    """

    async def run(self, argv: Sequence[str], *, timeout: float = 30.0) -> CommandResult:
        """Run a command to its end; `timeout` in seconds, at most 600."""
        ...

    async def read(self, path: str) -> str | None:
        """A text file's first 64 KiB; None when there is no such file."""
        ...

    async def write(self, path: str, text: str) -> None:
        """Create or replace a file, and the folders above it. Raises InvalidAction when that cannot be."""
        ...

    async def start(self, argv: Sequence[str]) -> None:
        """Start a program that lives on. Raises InvalidAction when it is not installed."""
        ...

    async def wait_for_window(self, title: str, *, timeout: float = 15.0) -> bool:
        """Whether a window whose title holds `title` shows within `timeout` seconds."""
        ...


class BundledTasks(Protocol):
    """A set of tasks. Tasks it does not know raise UnknownTask."""

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Every task it offers."""
        ...

    def make(
        self,
        name: str,
        *,
        seed: int = 0,
        level: int = 1,
        language: Language = "en",
        size: tuple[int, int] | None = None,
    ) -> Task:
        """One task as it is offered. Raises UnknownTask, and InvalidAction where it has no such variant."""
        ...


class Suite(BundledTasks, Protocol):
    """A set of tasks with their start states and verifiers."""

    async def prepare(self, task: Task, environment: SandboxEnvironment) -> None:
        """Make a fresh sandbox into the task's start state."""
        ...

    async def evaluate(self, task: Task, environment: SandboxEnvironment, answer: str) -> Verdict:
        """Judge the present state, and the answer given with it."""
        ...


def reject_variants(level: int, language: Language, size: tuple[int, int] | None) -> None:
    """For suites whose tasks differ by their seed alone. Raises InvalidAction for any other variant."""
    if level != 1 or language != "en" or size is not None:
        raise InvalidAction("these tasks have one level, speak English, and fill their screen")


def find_suite(suites: Mapping[str, Suite], task: Task) -> Suite | None:
    """The suite a task names, or the one for Harbor's folders where it came from one; None where there is neither.

    Raises UnknownTask, and UnsupportedTask for a folder that no machine here plays.
    """
    if task.suite is None:
        return suites[HARBOR] if HARBOR in task.parameters and HARBOR in suites else None
    suite = suites.get(task.suite)
    if suite is None or not any(known.name == task.name for known in suite.tasks):
        raise UnknownTask(f"there is no task {task.name!r} in a suite {task.suite!r}")
    return suite


async def evaluate_task(
    suites: Mapping[str, Suite], task: Task | None, environment: Callable[[], SandboxEnvironment], answer: str
) -> Verdict:
    """What the verifier of a prepared task says of the present state."""
    suite = find_suite(suites, task) if task is not None else None
    if task is None or suite is None:
        return Verdict(success=None, score=0.0, reason="nothing can judge this task")
    return await suite.evaluate(task, environment(), answer)
