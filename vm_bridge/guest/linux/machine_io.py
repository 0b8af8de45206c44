"""The screen-independent part of a sandbox: actions, and calls of programs."""

import json
import sys
from pathlib import Path

from vm_bridge.guest.common.actions import Action, ActionOutput
from vm_bridge.guest.common.machine_io import MachineIO, Message
from vm_bridge.guest.common.toolbox.client import ToolboxClient
from vm_bridge.guest.linux import shell
from vm_bridge.guest.linux.folder_watcher import FolderWatcher
from vm_bridge.guest.linux.helper_process import HelperProcess
from vm_bridge.guest.linux.terminals.client import TerminalClient
from vm_bridge.guest.linux.window_titles import window_titles

TERMINALS = (sys.executable, "-s", "-m", "vm_bridge.guest.linux.terminals.server")
TOOLBOX = ("/image/tools/bin/python", "-P", "-s", "-m", "vm_bridge.guest.linux.toolbox.server")
MCP_SERVERS = Path("/image/mcp.json")
"""MCP servers of the image, in the shape `{"mcpServers": {name: {command, args, env}}}`."""


class LinuxMachineIO(MachineIO):
    """See `MachineIO`; this one is Linux's."""

    def __init__(self, terminals: tuple[str, ...] = TERMINALS, toolbox: tuple[str, ...] = TOOLBOX) -> None:
        super().__init__()
        self._terminals = TerminalClient(terminals)
        self._toolbox = ToolboxClient(HelperProcess("the toolbox", toolbox), _read_image_servers())
        self._watches = FolderWatcher()
        self._interrupt_flag = shell.InterruptFlag()
        self.action_handlers |= {
            "run_command": self._run_command,
            "type_terminal": self._terminals.type,
            **self._toolbox.action_handlers,
        }
        self.call_handlers |= self._terminals.call_handlers | {
            "files.watch": lambda call: {"changes": self._watches.changes(call["watch"], call["path"], call["wait"])},
            "files.unwatch": self._unwatch,
            "windows.titles": lambda call: {"titles": window_titles()},
            **self._toolbox.call_handlers,
        }

    def interrupt(self) -> None:
        """Interrupt a running action."""
        self._interrupt_flag.set()
        self._terminals.interrupt()
        self._toolbox.interrupt()

    def terminal(self) -> str:
        """The text of the first terminal, or why it shows nothing. The first call starts it."""
        return self._terminals.text()

    # --- actions

    def _run_command(self, action: Action) -> ActionOutput:
        self._interrupt_flag.clear()  # the interrupted action is over
        return shell.run_command(action, self._interrupt_flag)

    # --- watches

    def _unwatch(self, call: Message) -> Message:
        self._watches.end(call["watch"])
        return {}


def _read_image_servers() -> Message:
    if not MCP_SERVERS.exists():
        return {}
    servers: Message = json.loads(MCP_SERVERS.read_text())["mcpServers"]
    return servers
