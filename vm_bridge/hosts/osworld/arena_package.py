"""What a copy of WindowsAgentArena's package has, read from its source without running it.

The package is no release of an index: labs have a copy of its repository, or of one that was made from it.
"""

import ast
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from vm_bridge.drivers.osworld.task_files import PackageNames

METRICS, GETTERS = "desktop_env/evaluators/metrics/__init__.py", "desktop_env/evaluators/getters/__init__.py"
STEPS = "desktop_env/controllers/setup.py"
GETTER_PREFIX, STEP_SUFFIX = "get_", "_setup"


@lru_cache(maxsize=4)
def read_package_names(client: Path) -> PackageNames | None:
    """Its metrics, getters and set-up steps; None where it is no such package, or cannot be read."""
    try:
        metrics, getters, steps = (frozenset(_names(client / path)) for path in (METRICS, GETTERS, STEPS))
    except (OSError, SyntaxError, ValueError):
        return None
    return {
        "metrics": metrics,
        "getters": frozenset(name.removeprefix(GETTER_PREFIX) for name in getters if name.startswith(GETTER_PREFIX)),
        "steps": frozenset(
            name[1:].removesuffix(STEP_SUFFIX) for name in steps if name.startswith("_") and name.endswith(STEP_SUFFIX)
        ),
    }


def _names(path: Path) -> Iterator[str]:
    """Names that a module imports from others, and functions that it defines anywhere. Raises OSError, SyntaxError."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield from (each.asname or each.name for each in node.names)
        elif isinstance(node, ast.FunctionDef):
            yield node.name
