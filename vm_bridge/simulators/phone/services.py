"""What a computer may open on the phone, by name."""

from functools import partial

from vm_bridge.simulators.phone.daemon import Service
from vm_bridge.simulators.phone.shell import Shell
from vm_bridge.simulators.phone.sync import serve_sync

SHELL_V2 = "v2"
"""The option of `shell` that asks for its second protocol."""


def find_service(name: str, shell: Shell) -> Service | None:
    """The service `name` asks for; None where there is no such."""
    kind, _, argument = name.partition(":")
    kind, *options = kind.split(",")
    if kind == "sync":
        return serve_sync
    if kind == "shell" and SHELL_V2 in options:
        return partial(shell.packets, command=argument)
    if kind in ("shell", "exec"):
        return partial(shell.plain, command=argument)
    return None
