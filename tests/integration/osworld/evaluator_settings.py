"""What task files are judged with, where OSWorld's package can be had."""

from typing import Any

import pytest

from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.install.extra_environments import ensure_osworld
from vm_bridge.hosts.osworld.evaluator_settings import EvaluatorSettings


def means_ensured(**given: Any) -> EvaluatorSettings:
    """Skips the test where OSWorld's package cannot be installed."""
    try:
        return EvaluatorSettings(ensure_osworld(Console()), **given)
    except OperationsError as error:
        pytest.skip(f"OSWorld's package cannot be installed: {error}")
