"""The terminals of one container: `python -m vm_bridge.hosts.docker.task_terminals NAME DESCRIPTOR`.

Their output is drawn here, on the bridge's side: a container may have no program that could.
"""

import os
import sys

from vm_bridge.guest.linux.terminals.server import Terminals, serve

NICENESS = 15
"""A program that prints without end must not keep the bridge from its other machines."""
CONTROLLED = ("env", "--default-signal", "setsid", "--ctty")
"""The program gets the terminal for its own, so that it hears of another size and of its end."""


def main() -> None:
    """Serve the guest until it closes its end."""
    os.nice(NICENESS)
    shell = (*CONTROLLED, sys.executable, "-m", "vm_bridge.hosts.docker.container_terminal", sys.argv[1])
    serve(int(sys.argv[2]), Terminals(shell))


if __name__ == "__main__":
    main()
