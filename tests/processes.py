"""Processes as the system lists them, to see that none is left."""

from pathlib import Path

from vm_bridge.hosts.local.sandbox import LocalSandbox
from vm_bridge.hosts.process_sandbox import ProcessSandbox
from vm_bridge.isolation.init_process import InitProcess


def commands_with(words: str) -> list[str]:
    """The command lines that have these words in them."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().decode(errors="replace")
        except OSError:
            continue  # it has just ended
        if words in line:
            found.append(line)
    return found


def first_process(sandbox: LocalSandbox) -> InitProcess:
    """The first process of a sandbox on this machine."""
    assert isinstance(sandbox.tree, ProcessSandbox)
    return sandbox.tree.first
