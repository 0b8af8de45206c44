"""A suite that is a table: lays out a task's files, opens its windows, and judges what became of them."""

from dataclasses import dataclass, field

from protocol.trajectory.observations import Platform, Verdict
from protocol.trajectory.tasks import Language, Task
from vm_bridge.errors import MachineGone, UnknownTask
from vm_bridge.suites import SandboxEnvironment, reject_variants
from vm_bridge.suites.checks import Check
from vm_bridge.suites.checksums import package_checksum


@dataclass(frozen=True, slots=True)
class Window:
    """A program to start before the task begins, and the title its window must show."""

    argv: tuple[str, ...]
    title: str


@dataclass(frozen=True, slots=True)
class TableTask:
    """One task; `files` are paths under the home folder and their text."""

    name: str
    instruction: str
    checks: tuple[Check, ...]
    files: dict[str, str] = field(default_factory=dict)
    windows: tuple[Window, ...] = ()
    practice: bool = False
    max_steps: int = 30


class TableSuite:
    """Implements `Suite` over the table of tasks."""

    def __init__(self, name: str, platform: Platform, tasks: tuple[TableTask, ...]) -> None:
        self._name, self._platform = name, platform
        self._by_name = {task.name: task for task in tasks}

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Every task, as it is offered to people and policies."""
        return tuple(self.make(name) for name in self._by_name)

    def make(
        self,
        name: str,
        *,
        seed: int = 0,
        level: int = 1,
        language: Language = "en",
        size: tuple[int, int] | None = None,
    ) -> Task:
        """A task as it is offered; its seeds are attempts at one and the same. Raises UnknownTask, InvalidAction."""
        reject_variants(level, language, size)
        task = self._named(name)
        return Task(
            id=f"{self._name}/{name}" if seed == 0 else f"{self._name}/{name}-{seed}",
            instruction=task.instruction,
            platform=self._platform,
            suite=self._name,
            name=name,
            seed=seed,
            parameters={"practice": True} if task.practice else {},
            max_steps=task.max_steps,
        )

    async def prepare(self, task: Task, environment: SandboxEnvironment) -> None:
        """Write the files first: a window may open one of them."""
        wanted = self._named(task.name)
        for path, text in wanted.files.items():
            await environment.write(path, text)
        for window in wanted.windows:
            await environment.start(window.argv)
            if not await environment.wait_for_window(window.title):
                raise MachineGone(f"the window {window.title} of task {wanted.name} did not open")

    async def evaluate(self, task: Task, environment: SandboxEnvironment, answer: str) -> Verdict:
        """Success when no check finds fault; the score is the share of checks that found none."""
        checks = self._named(task.name).checks
        faults = [await check(environment, answer) for check in checks]
        reasons = [fault for fault in faults if fault]
        return Verdict(
            success=not reasons,
            score=(len(checks) - len(reasons)) / len(checks),
            reason="; ".join(reasons),
            verifier=package_checksum(self._name),
        )

    def definition(self, name: str) -> TableTask:
        """A task's row of the table. Raises UnknownTask."""
        return self._named(name)

    def _named(self, name: str | None) -> TableTask:
        found = self._by_name.get(name or "")
        if found is None:
            raise UnknownTask(f"there is no task {name} in the suite {self._name}")
        return found
