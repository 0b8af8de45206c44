"""The screen-independent part of a sandbox: actions, and calls of programs."""

import base64
import json
import sys
from pathlib import Path

from vm_bridge.guest.common.actions import Action, ActionOutput, Attachment
from vm_bridge.guest.common.machine_io import MachineIO, Message
from vm_bridge.guest.linux import shell
from vm_bridge.guest.linux.folder_watcher import FolderWatcher
from vm_bridge.guest.linux.helper_process import HelperProcess
from vm_bridge.guest.linux.terminals.client import ANSWER_SECONDS, TerminalClient
from vm_bridge.guest.linux.window_titles import window_titles

TERMINALS = (sys.executable, "-s", "-m", "vm_bridge.guest.linux.terminals.server")
TOOLBOX = ("/image/tools/bin/python", "-P", "-s", "-m", "vm_bridge.guest.linux.toolbox.server")
MCP_SERVERS = Path("/image/mcp.json")
"""MCP servers of the image, in the shape `{"mcpServers": {name: {command, args, env}}}`."""
START_SECONDS = 85.0
"""Maximum time for a helper to start its services, and to end overlong ones."""


class LinuxMachineIO(MachineIO):
    """See `MachineIO`; this one is Linux's."""

    def __init__(self, terminals: tuple[str, ...] = TERMINALS, toolbox: tuple[str, ...] = TOOLBOX) -> None:
        super().__init__()
        self._terminals = TerminalClient(terminals)
        self._toolbox = HelperProcess("the toolbox", toolbox)
        self._watches = FolderWatcher()
        self._interrupt_flag = shell.InterruptFlag()
        self._servers: Message = _read_image_servers()
        self._configured: Message = {}
        self.action_handlers |= {
            "run_command": self._run_command,
            "type_terminal": self._terminals.type,
            "run_code": self._run_code,
            "call_tool": self._call_tool,
        }
        self.call_handlers |= self._terminals.call_handlers | {
            "files.watch": lambda call: {"changes": self._watches.changes(call["watch"], call["path"], call["wait"])},
            "files.unwatch": self._unwatch,
            "windows.titles": lambda call: {"titles": window_titles()},
            "tools.configure": self._configure,
            "tools.list": self._list_tools,
        }

    def interrupt(self) -> None:
        """Interrupt a running action."""
        self._interrupt_flag.set()
        self._terminals.interrupt()
        self._toolbox.notify("interrupt")

    def terminal(self) -> str:
        """The text of the first terminal, or why it shows nothing. The first call starts it."""
        return self._terminals.text()

    # --- actions

    def _run_command(self, action: Action) -> ActionOutput:
        self._interrupt_flag.clear()  # the interrupted action is over
        return shell.run_command(action, self._interrupt_flag)

    def _run_code(self, action: Action) -> ActionOutput:
        arguments = {"code": action["code"], "seconds": action["timeout"]}
        return _action_output(self._toolbox.call("run_code", timeout=action["timeout"] + START_SECONDS, **arguments))

    def _call_tool(self, action: Action) -> ActionOutput:
        self._configure_toolbox()
        arguments = {"name": action["name"], "arguments": action["arguments"]}
        return _action_output(self._toolbox.call("call_tool", timeout=START_SECONDS, **arguments))

    # --- watches and tools

    def _unwatch(self, call: Message) -> Message:
        self._watches.end(call["watch"])
        return {}

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


def _read_image_servers() -> Message:
    if not MCP_SERVERS.exists():
        return {}
    servers: Message = json.loads(MCP_SERVERS.read_text())["mcpServers"]
    return servers


def _action_output(answer: Message) -> ActionOutput:
    """The toolbox's result: text, and a picture as PNG."""
    picture = answer["picture"]
    return ActionOutput(answer["text"], Attachment(base64.b64decode(picture), "image/png") if picture else None)
