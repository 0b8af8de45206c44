"""Acts in a sandbox without a screen: commands, files and tools, and what they say."""

from typing import Any

from vm_bridge.guest.attempt import attempt
from vm_bridge.guest.shell import ACTIONS

Action = dict[str, Any]
Answer = dict[str, Any]


class Bare:
    """See `vm_bridge.guest.serve.Desk`. Nothing is ever seen, so nothing has to settle."""

    def hurry(self) -> None:
        """Nothing settles."""

    def observe(self, *, settle: bool) -> Answer:
        """There is nothing to look at."""
        return {"after": None, "rest": "rested" if settle else "skipped", "settle_ms": 0.0}

    def perform(self, action: Action, *, settle: bool) -> Answer:
        """What the act gave, or why it failed."""
        answer = attempt(lambda given: ACTIONS[given["kind"]](given), action)
        return {"before": None, **self.observe(settle=settle), **answer}

    def frame(self, serial: int, wait: float) -> Answer:
        """Raises ValueError: nobody may ask."""
        raise ValueError("there is no screen")
