"""A task on one guest."""

import logging
import os
from typing import Any

from desktop_env.evaluators import getters, metrics

logger = logging.getLogger(__name__)


class DesktopEnv:
    """Subclasses make its parts."""

    def _set_task_info(self, task: dict[str, Any]) -> None:
        self.cache_dir = os.path.join(self.cache_dir_base, task["id"])  # type: ignore[attr-defined]
        os.makedirs(self.cache_dir, exist_ok=True)
        self.config, self.evaluator = task.get("config", []), task["evaluator"]
        self.metric = getattr(metrics, self.evaluator["func"])
        self.result_getter: Any = self._getter("result")
        self.expected_getter: Any = self._getter("expected")

    def _getter(self, kind: str) -> Any:
        return getattr(getters, f"get_{self.evaluator[kind]['type']}") if kind in self.evaluator else None

    def evaluate(self) -> float:
        """The score, 0 where a value cannot be had."""
        failed = bool(self.action_history) and self.action_history[-1] == "FAIL"  # type: ignore[attr-defined]
        if self.evaluator["func"] == "infeasible" or failed:
            return float(failed and self.evaluator["func"] == "infeasible")
        try:
            result = self.result_getter(self, self.evaluator["result"])
            expected = self.expected_getter(self, self.evaluator["expected"])
        except Exception as error:  # noqa: BLE001 - as the package does it
            logger.error("a value cannot be had: %s", error)
            return 0.0
        return float(self.metric(result, expected))
