"""All of Windows that is no screen; see `MachineIO`."""

from functools import partial

from vm_bridge.guest.common.actions import Action, ActionOutput
from vm_bridge.guest.common.machine_io import ActionHandler, CallHandler, MachineIO, Message
from vm_bridge.guest.common.polled_folders import PolledFolderWatcher
from vm_bridge.guest.common.terminals.registry import OPERATIONS, TerminalRegistry
from vm_bridge.guest.common.toolbox.client import ToolboxClient
from vm_bridge.guest.windows import shell
from vm_bridge.guest.windows.programs import SHELL_LANGUAGES
from vm_bridge.guest.windows.terminal import WindowsTerminal
from vm_bridge.guest.windows.toolbox import WindowsToolbox
from vm_bridge.guest.windows.window_titles import window_titles


class WindowsMachineIO(MachineIO):
    """Commands of one shell language, terminals, a Python kernel, and the MCP servers of a task."""

    def __init__(self, language: str, terminal: str | None = None) -> None:
        """`terminal` is the command line of an interactive shell, by default that of the language."""
        super().__init__()
        self._shell = shell.Shell(language)
        # A pseudo console sends what it shows, so a program that prints endlessly keeps nothing busy but itself.
        interactive = terminal or SHELL_LANGUAGES[language].interactive
        self._terminals = TerminalRegistry(partial(WindowsTerminal, shell=interactive))
        self._toolbox = ToolboxClient(WindowsToolbox(), {})
        self._watches = PolledFolderWatcher()
        self.action_handlers |= {
            "run_command": self._shell.run_command,
            "type_terminal": self._type_terminal,
            **self._toolbox.action_handlers,
            "open_app": shell.open_app,
            "set_clipboard": shell.set_clipboard,
            "get_clipboard": shell.get_clipboard,
        }
        self.call_handlers |= {f"terminals.{name}": self._forward(name) for name in OPERATIONS}
        self.call_handlers |= {
            "terminals.list": self._terminals.list,
            "files.watch": lambda call: {"changes": self._watches.changes(call["watch"], call["path"], call["wait"])},
            "files.unwatch": self._unwatch,
            "windows.titles": lambda call: {"titles": window_titles()},
            **self._toolbox.call_handlers,
        }

    def interrupt(self) -> None:
        self._shell.interrupt()
        self._terminals.interrupt({})
        self._toolbox.interrupt()

    def run_action(self, act: ActionHandler, action: Action) -> Message:
        self._shell.clear()
        return super().run_action(act, action)

    def _type_terminal(self, action: Action) -> ActionOutput:
        return ActionOutput(self._terminals.type(action)["text"])

    def _forward(self, name: str) -> CallHandler:
        operation: CallHandler = getattr(self._terminals, name)
        return lambda call: operation(call["told"])

    def _unwatch(self, call: Message) -> Message:
        self._watches.end(call["watch"])
        return {}
