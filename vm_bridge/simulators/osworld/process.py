"""A simulated guest in a process of its own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vm_bridge.errors import MachineGone

PROGRAM = (sys.executable, "-m", "vm_bridge.simulators.osworld")
REVERT = (*PROGRAM, "revert")
"""What a provider's command is for a real one."""
STOP_SECONDS = 60.0


@contextmanager
def simulated_guest(folder: Path, system: str = "Linux") -> Iterator[str]:
    """Its address, while the block runs. `system` is the operating system that it reports.

    Raises MachineGone when it does not start.
    """
    with subprocess.Popen(
        (*PROGRAM, "serve", str(folder), "--system", system), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            if not address:
                raise MachineGone("the simulated guest did not start")
            yield address
        finally:
            process.terminate()
            process.wait(STOP_SECONDS)
