"""All of Windows that is no screen; see `MachineIO`."""

from vm_bridge.guest.common.actions import Action, ActionFailed
from vm_bridge.guest.common.machine_io import ActionHandler, CallHandler, MachineIO, Message
from vm_bridge.guest.windows import shell


class WindowsMachineIO(MachineIO):
    """No terminals, no tools, no news of folders: who asks is told so."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._shell = shell.Shell(language)
        self.action_handlers |= {
            "run_command": self._shell.run_command,
            "open_app": shell.open_app,
            "set_clipboard": shell.set_clipboard,
            "get_clipboard": shell.get_clipboard,
        }
        self.call_handlers |= {"files.watch": _unsupported("news of folders"), "files.unwatch": lambda call: {}}

    def interrupt(self) -> None:
        self._shell.interrupt()

    def run_action(self, act: ActionHandler, action: Action) -> Message:
        self._shell.clear()
        return super().run_action(act, action)


def _unsupported(what: str) -> CallHandler:
    def reject(call: Message) -> Message:
        raise ActionFailed("unsupported_action", f"Windows' guest has no {what}")

    return reject
