"""The task of an environment, and the size of its pages."""

from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

import numpy as np
from gymnasium import spaces

from protocol.trajectory.tasks import Language, Task
from vm_bridge.errors import UnknownTask
from vm_bridge.gym.actions import action_space
from vm_bridge.suites.registry import WEB_SUITES
from vm_bridge.suites.web_suite import WebSuite

RESET_OPTIONS = ("level", "language")
"""What `reset(options=…)` may name."""


class TaskSuite(Protocol):
    """A suite whose tasks come in variants."""

    def make(self, name: str, *, seed: int, level: int, language: Language, size: tuple[int, int] | None) -> Task: ...


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """A task without its seed."""

    suite: str
    name: str
    level: int = 1
    language: Language = "en"
    size: tuple[int, int] | None = None
    clock: str = "exact"

    def task(self, seed: int) -> Task:
        """Raises UnknownTask, InvalidAction."""
        maker = cast(TaskSuite, self._suite())
        made = maker.make(self.name, seed=seed, level=self.level, language=self.language, size=self.size)
        return made.model_copy(update={"parameters": {**made.parameters, "clock": self.clock}})

    def with_options(self, options: dict[str, Any] | None) -> "TaskSpec":
        """Raises ValueError for what cannot be changed between episodes."""
        options = options or {}
        if strange := sorted(set(options) - set(RESET_OPTIONS)):
            raise ValueError(f"reset takes {', '.join(RESET_OPTIONS)}, not {', '.join(strange)}")
        return replace(self, **options)

    def screen(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return self._suite().scene(self.task(0)).size

    def spaces(self) -> tuple[spaces.Box[np.uint8], spaces.Dict]:
        """The observation space and the action space."""
        width, height = self.screen()
        return spaces.Box(0, 255, (height, width, 3), dtype=np.uint8), action_space(width, height)

    def _suite(self) -> WebSuite:
        suite = WEB_SUITES.get(self.suite)
        if suite is None:
            raise UnknownTask(f"there is no suite {self.suite}")
        return suite
