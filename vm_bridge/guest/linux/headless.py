"""Executes actions in a sandbox without a screen, where a terminal's text replaces the picture."""

import threading
from typing import Any

from vm_bridge.guest.common.actions import Action, ActionOutput
from vm_bridge.guest.common.machine_io import MachineIO

Answer = dict[str, Any]


class HeadlessDesktop:
    """See `vm_bridge.guest.common.server.Desktop`. A terminal rests before it replies, so nothing has to settle."""

    def __init__(self, machine_io: MachineIO) -> None:
        self._machine_io = machine_io
        self._interrupted = threading.Event()
        self._text: str | None = None

    def interrupt(self) -> None:
        """Interrupt a running action or wait."""
        self._interrupted.set()
        self._machine_io.interrupt()

    def cancel_frame_wait(self) -> None:
        """Does nothing: there is no frame request."""

    def observe(self, *, settle: bool) -> Answer:
        """The text of the first terminal."""
        self._text = self._machine_io.terminal()
        return {"after": None, "text": self._text, "rest": "rested" if settle else "skipped", "settle_ms": 0.0}

    def perform(self, action: Action, *, settle: bool, wait_for_timers: bool) -> Answer:
        """The text before the action, and its output or error; without output, the terminal's text."""
        self._interrupted.clear()
        before = self._machine_io.terminal() if self._text is None else self._text
        answer = self._machine_io.run_action(self._act, action)
        seen = self.observe(settle=settle)
        if answer["text"] is None:
            answer["text"] = seen["text"]
        self._text = answer["text"]
        return {"before": None, "before_text": before, **seen, **answer}

    def frame(self, serial: int, wait: float) -> Answer:
        """Raises ValueError: there are no frames."""
        raise ValueError("there is no screen")

    def _act(self, action: Action) -> ActionOutput:
        if action["kind"] == "wait":
            self._interrupted.wait(action["seconds"])
            return ActionOutput()
        return self._machine_io.action_handlers[action["kind"]](action)
