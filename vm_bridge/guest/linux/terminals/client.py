"""The guest's client of the terminals: actions, calls, and the first terminal's text."""

from vm_bridge.guest.common.actions import Action, ActionFailed, ActionOutput
from vm_bridge.guest.common.machine_io import CallHandler, Message
from vm_bridge.guest.linux.helper_process import HelperProcess

ANSWER_SECONDS = 20.0
"""Timeout of the helper beyond the call's own."""


class TerminalClient:
    """Calls the helper with the terminals; it starts with the first terminal."""

    def __init__(self, command: tuple[str, ...]) -> None:
        self._helper = HelperProcess("the terminals", command)
        forwarded = ("write", "read", "resize", "close", "complete", "poll")
        self.call_handlers: dict[str, CallHandler] = {
            "terminals.list": self._list,
            **{f"terminals.{op}": self._forward(op) for op in forwarded},
        }

    def interrupt(self) -> None:
        """Interrupt a running wait for rest."""
        self._helper.notify("interrupt")

    def text(self) -> str:
        """The text of the first terminal, or why it shows nothing. The first call starts it."""
        try:
            text: str = self._helper.call("type", timeout=ANSWER_SECONDS, session="main", text="")["text"]
        except ActionFailed as failure:
            return f"[{failure}]"
        return text

    def type(self, action: Action) -> ActionOutput:
        """Do `type_terminal`. Raises ActionFailed."""
        arguments = {"session": action["session"], "text": action["text"]}
        return ActionOutput(self._helper.call("type", timeout=ANSWER_SECONDS, **arguments)["text"])

    def _list(self, call: Message) -> Message:
        if not self._helper.running:
            return {"terminals": []}
        return self._helper.call("list", timeout=ANSWER_SECONDS)

    def _forward(self, op: str) -> CallHandler:
        return lambda call: self._helper.call(op, timeout=call.get("wait", 0.0) + ANSWER_SECONDS, **call["told"])
