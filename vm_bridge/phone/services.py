"""What a computer may open on the phone, by name."""

from functools import partial

from vm_bridge.phone.daemon import Service
from vm_bridge.phone.shell import Shell
from vm_bridge.phone.sync import sync

PACKETS = "v2"
"""The option of `shell` that asks for its second protocol."""


def service_named(name: str, shell: Shell) -> Service | None:
    """The service `name` asks for; None where there is no such."""
    kind, _, argument = name.partition(":")
    kind, *options = kind.split(",")
    if kind == "sync":
        return sync
    if kind == "shell" and PACKETS in options:
        return partial(shell.packets, command=argument)
    if kind in ("shell", "exec"):
        return partial(shell.plain, command=argument)
    return None
