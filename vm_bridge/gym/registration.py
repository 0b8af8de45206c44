"""The names of the environments: one for each bundled task, and one that is told which."""

import gymnasium

from vm_bridge.suites.registry import WEB_SUITES

NAMESPACE, VERSION = "Pilothouse", 0
ENTRY, VECTOR_ENTRY = "vm_bridge.gym.env:BrowserEnv", "vm_bridge.gym.vector:BrowserVectorEnv"


def register() -> None:
    """Tell Gymnasium of them; nothing is started."""
    _register("Browser", {})
    for suite, tasks in WEB_SUITES.items():
        for task in tasks.tasks:
            _register(f"{suite}-{task.name}", {"suite": suite, "task": task.name})


def _register(name: str, given: dict[str, str | None]) -> None:
    gymnasium.register(
        id=f"{NAMESPACE}/{name}-v{VERSION}", entry_point=ENTRY, vector_entry_point=VECTOR_ENTRY, kwargs=given
    )
