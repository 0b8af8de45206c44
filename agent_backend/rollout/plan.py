"""What is attempted: which tasks of a suite, in which forms, on which machines."""

from pydantic import Field

from protocol.base import FrozenModel
from protocol.sampling import SamplingParams
from protocol.trajectory.memory import HistoryBudget
from protocol.trajectory.proposals import PolicyRef
from protocol.trajectory.tasks import Language, Task, TaskVariant
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import InvalidAction, UnknownTask


class RolloutPlan(FrozenModel):
    """One set of attempts; the same plan is always the same tasks."""

    suite: str
    policy: PolicyRef
    sampling: SamplingParams | None = None
    """How its replies are drawn; none: it draws nothing."""
    memory: HistoryBudget = HistoryBudget()
    """How much of an attempt it is shown again at each step."""
    names: tuple[str, ...] = ()
    """Which tasks; none: all of the suite."""
    seeds: int = Field(default=1, ge=1)
    """Attempts at each task, with rising seeds."""
    first_seed: int = Field(default=0, ge=0)
    levels: tuple[int, ...] = (1,)
    language: Language = "en"
    size: tuple[int, int] | None = None
    image: str | None = None
    """The kind of machine; none: the one that is called like the task's platform."""

    def image_of(self, task: Task) -> str:
        """Where a task is attempted."""
        return self.image or task.platform


async def list_tasks(plan: RolloutPlan, bridge: BridgeClient) -> tuple[Task, ...]:
    """Every task of a plan, seed by seed, so that what was done first is of all. Tasks that have not a level are left
    out at it. Raises UnknownTask for a name the suite has not, and InvalidAction where no task is left."""
    tasks: list[Task] = []
    for seed in range(plan.first_seed, plan.first_seed + plan.seeds):
        for level in plan.levels:
            variant = TaskVariant(seed=seed, level=level, language=plan.language, size=plan.size)
            tasks += await bridge.suite_tasks(plan.suite, variant)
    known = {task.name for task in tasks}
    if missing := [name for name in plan.names if name not in known]:
        raise UnknownTask(f"the suite {plan.suite} has no task {', '.join(missing)} in this form")
    chosen = tuple(task for task in tasks if not plan.names or task.name in plan.names)
    if not chosen:
        raise InvalidAction(f"nothing of the suite {plan.suite} was chosen")
    return chosen
