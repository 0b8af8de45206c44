"""The guest's side of the toolbox: actions that run code and call tools, and calls that list tools."""

import base64
from collections.abc import Mapping
from typing import Protocol

from vm_bridge.guest.common.actions import Action, ActionOutput, Attachment
from vm_bridge.guest.common.machine_io import ActionHandler, CallHandler, Message

ANSWER_SECONDS = 20.0
"""Timeout of a call that starts nothing."""
START_SECONDS = 85.0
"""Maximum time for the toolbox to start its services, and to end overlong ones."""


class Toolbox(Protocol):
    """Keeps the Python kernel and the MCP servers."""

    def call(self, op: str, *, timeout: float, **arguments: object) -> Message:
        """The result of one call. Raises ActionFailed."""
        ...

    def notify(self, op: str) -> None:
        """Send a call without a reply to a toolbox that runs."""
        ...


class ToolboxClient:
    """`servers` are the MCP servers of the image; a task may add others."""

    def __init__(self, toolbox: Toolbox, servers: Mapping[str, Message]) -> None:
        self._toolbox, self._servers = toolbox, servers
        self._configured: Mapping[str, Message] = {}
        self.action_handlers: dict[str, ActionHandler] = {"run_code": self._run_code, "call_tool": self._call_tool}
        self.call_handlers: dict[str, CallHandler] = {
            "tools.configure": self._configure,
            "tools.list": self._list_tools,
        }

    def interrupt(self) -> None:
        """Interrupt running code."""
        self._toolbox.notify("interrupt")

    def _run_code(self, action: Action) -> ActionOutput:
        arguments = {"code": action["code"], "seconds": action["timeout"]}
        return _action_output(self._toolbox.call("run_code", timeout=action["timeout"] + START_SECONDS, **arguments))

    def _call_tool(self, action: Action) -> ActionOutput:
        self._configure_toolbox()
        arguments = {"name": action["name"], "arguments": action["arguments"]}
        return _action_output(self._toolbox.call("call_tool", timeout=START_SECONDS, **arguments))

    def _configure(self, call: Message) -> Message:
        """Configure these MCP servers in addition to the image's own."""
        self._configured = call["servers"]
        return {}

    def _list_tools(self, call: Message) -> Message:
        if not self._servers and not self._configured:
            return {"tools": [], "failures": {}}
        self._configure_toolbox()
        return self._toolbox.call("tools", timeout=START_SECONDS)

    def _configure_toolbox(self) -> None:
        """Send the configured servers to the toolbox; a new one has none."""
        servers = {**self._servers, **self._configured}
        self._toolbox.call("configure", timeout=ANSWER_SECONDS, servers=servers)


def _action_output(answer: Message) -> ActionOutput:
    """The toolbox's result: text, and a picture as PNG."""
    picture = answer["picture"]
    return ActionOutput(answer["text"], Attachment(base64.b64decode(picture), "image/png") if picture else None)
