"""All of Windows that is no screen; see `Holdings`."""

from vm_bridge.guest.act import ActFailed, Action
from vm_bridge.guest.holdings import Act, Call, Holdings, Message
from vm_bridge.guest.win32 import shell


class WindowsInside(Holdings):
    """No terminals, no tools, no news of folders: who asks is told so."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._shell = shell.Shell(language)
        self.acts |= {
            "run_command": self._shell.run_command,
            "open_app": shell.open_app,
            "set_clipboard": shell.set_clipboard,
            "get_clipboard": shell.get_clipboard,
        }
        self.calls |= {"files.watch": _lacking("news of folders"), "files.unwatch": lambda call: {}}

    def cut(self) -> None:
        self._shell.cut()

    def attempt(self, act: Act, action: Action) -> Message:
        self._shell.clear()
        return super().attempt(act, action)


def _lacking(what: str) -> Call:
    def refuse(call: Message) -> Message:
        raise ActFailed("unsupported_action", f"Windows' guest has no {what}")

    return refuse
