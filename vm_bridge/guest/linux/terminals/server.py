"""The sandbox's interactive terminals, in their own process: `python -m vm_bridge.guest.linux.terminals.server`.

A program that prints endlessly keeps its terminal busy, and must not keep the guest busy.
"""

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from vm_bridge.guest.common.terminals.registry import OPERATIONS, Message, TerminalRegistry
from vm_bridge.guest.linux.helper_process import serve_calls
from vm_bridge.guest.linux.terminals.completion import complete
from vm_bridge.guest.linux.terminals.terminal import SHELL, PosixTerminal


class Terminals(TerminalRegistry):
    """Terminals whose shell is a program of this machine."""

    def __init__(self, shell: Sequence[str] = SHELL) -> None:
        """`shell` is the program of each terminal."""
        super().__init__(partial(PosixTerminal, shell=shell))
        self._has_bash = tuple(shell) == SHELL

    def complete(self, call: Message) -> Message:
        """Bash's completions of a command line in the folder of that terminal's shell. Uses the home folder without a
        terminal or before it starts. Not offered if the shells are another machine's. Changes no terminal."""
        if not self._has_bash:
            return super().complete(call)
        terminal = self._running(call["session"])
        folder = terminal.folder if isinstance(terminal, PosixTerminal) else Path.home()
        found = complete(call["line"], folder)
        return {"offered": True, "start": found.start, "options": list(found.options), "more": found.more}


def main() -> None:
    """Serve the guest until it closes its end."""
    serve(int(sys.argv[1]), Terminals())


def serve(descriptor: int, terminals: Terminals) -> None:
    """Execute the guest's calls until it closes its end."""
    serve_calls(descriptor, {name: getattr(terminals, name) for name in OPERATIONS})


if __name__ == "__main__":
    main()
