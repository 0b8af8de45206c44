"""A simulated OSWorld guest in a process of its own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REVERT = (sys.executable, "-m", "vm_bridge.osworld", "revert")
"""What a provider's command is for a real one."""
STOP_SECONDS = 60.0


@contextmanager
def simulated_guest(folder: Path) -> Iterator[str]:
    """Its address."""
    argv = [sys.executable, "-m", "vm_bridge.osworld", "serve", str(folder)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            assert address, "the simulated guest did not start"
            yield address
        finally:
            process.terminate()
            process.wait(STOP_SECONDS)
