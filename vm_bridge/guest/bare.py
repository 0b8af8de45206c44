"""Acts in a sandbox without a screen, where what a terminal shows stands in the picture's place."""

import threading
from typing import Any

from vm_bridge.guest.act import Action, Given
from vm_bridge.guest.inside import Inside

Answer = dict[str, Any]


class Bare:
    """See `vm_bridge.guest.serve.Desk`. A terminal rests before it answers, so nothing has to settle."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside
        self._hurry = threading.Event()
        self._shown: str | None = None

    def hurry(self) -> None:
        """Cut a running act or wait short."""
        self._hurry.set()
        self._inside.cut()

    def leave(self) -> None:
        """Nothing is waited for."""

    def observe(self, *, settle: bool) -> Answer:
        """What the first terminal shows."""
        self._shown = self._inside.terminal()
        return {"after": None, "text": self._shown, "rest": "rested" if settle else "skipped", "settle_ms": 0.0}

    def perform(self, action: Action, *, settle: bool) -> Answer:
        """What was shown before, and what the act gave or why it failed; where it says nothing, what the terminal
        shows."""
        self._hurry.clear()
        before = self._inside.terminal() if self._shown is None else self._shown
        answer = self._inside.attempt(self._act, action)
        seen = self.observe(settle=settle)
        if answer["text"] is None:
            answer["text"] = seen["text"]
        self._shown = answer["text"]
        return {"before": None, "before_text": before, **seen, **answer}

    def frame(self, serial: int, wait: float) -> Answer:
        """Raises ValueError: nobody may ask."""
        raise ValueError("there is no screen")

    def _act(self, action: Action) -> Given:
        if action["kind"] == "wait":
            self._hurry.wait(action["seconds"])
            return Given()
        return self._inside.acts[action["kind"]](action)
