"""The tasks that environments offer: by name, or in turn."""

import itertools
from collections import OrderedDict
from dataclasses import dataclass, field

from agent_backend.environments.errors import EnvironmentRefusal
from agent_backend.rollout.plan import RolloutPlan
from agent_backend.rollout.task_sources import list_tasks
from protocol.trajectory.tasks import Task
from vm_bridge.api.client import BridgeClient

MAX_CACHED_SEEDS = 64


@dataclass(slots=True)
class TaskCatalog:
    """The tasks of a plan. Those of a suite are made for each seed; those of other sources are the same for all."""

    plan: RolloutPlan
    bridge: BridgeClient
    _by_seed: OrderedDict[int, tuple[Task, ...]] = field(default_factory=OrderedDict)
    _turns: "itertools.count[int]" = field(default_factory=itertools.count)

    async def tasks(self, seed: int | None = None) -> tuple[Task, ...]:
        """Every task, generated from this seed if it comes from a suite. Raises AgentError, BridgeError."""
        used = self.plan.first_seed if seed is None or not self.plan.suite else seed
        found = self._by_seed.get(used)
        if found is None:
            plan = self.plan.model_copy(update={"first_seed": used, "seeds": 1})
            found = await list_tasks(plan, self.bridge)
            self._by_seed[used] = found
            while len(self._by_seed) > MAX_CACHED_SEEDS:
                self._by_seed.popitem(last=False)
        return found

    async def choose(self, name: str | None, seed: int | None) -> Task:
        """The task with this id or name. Without one the seed chooses; without a seed the tasks take turns.

        Raises EnvironmentRefusal (`unknown_task`), AgentError, BridgeError.
        """
        tasks = await self.tasks(seed)
        if name is None:
            return tasks[(next(self._turns) if seed is None else seed) % len(tasks)]
        for task in tasks:
            if name in (task.id, task.name):
                return task
        raise EnvironmentRefusal("unknown_task", f"there is no task {name}")
