"""Steps before a task, and before it is judged."""

import logging
import time
from typing import Any

from desktop_env.controllers.python import PythonController

logger = logging.getLogger(__name__)


class SetupController:
    """One guest."""

    def __init__(self, vm_ip: str, cache_dir: str) -> None:
        self._controller, self.cache_dir = PythonController(vm_ip), cache_dir

    def reset_cache_dir(self, cache_dir: str) -> None:
        """Keep files of the task there."""
        self.cache_dir = cache_dir

    def setup(self, config: list[dict[str, Any]]) -> None:
        """Each step in its order."""
        for step in config:
            getattr(self, f"_{step['type']}_setup")(**step["parameters"])

    def _execute_setup(self, command: str | list[str], *, shell: bool = False) -> None:
        try:
            self._controller.execute(command, shell=shell)
        except OSError as error:
            logger.error("the guest does not answer: %s", error)

    def _sleep_setup(self, seconds: float) -> None:
        time.sleep(seconds)
