"""What task files are judged with, where OSWorld's package can be had."""

from typing import Any

import pytest

from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.osworld import ensure_osworld
from vm_bridge.hosts.osworld_means import Means


def means_ensured(**given: Any) -> Means:
    """Skips the test where OSWorld's package cannot be installed."""
    try:
        return Means(ensure_osworld(Console()), **given)
    except OperationsError as error:
        pytest.skip(f"OSWorld's package cannot be installed: {error}")
