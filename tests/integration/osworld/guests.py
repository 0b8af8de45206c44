"""A simulated OSWorld guest in a process of its own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.osworld import ensure_osworld
from vm_bridge.hosts.osworld_means import Means

REVERT = (sys.executable, "-m", "vm_bridge.osworld", "revert")
"""What a provider's command is for a real one."""
STOP_SECONDS = 60.0


def means_ensured(**given: Any) -> Means:
    """What task files are judged with; skips the test where OSWorld's package cannot be installed."""
    try:
        return Means(ensure_osworld(Console()), **given)
    except OperationsError as error:
        pytest.skip(f"OSWorld's package cannot be installed: {error}")


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
