"""Files of tests in the order that keeps every worker busy to the end."""

from collections import defaultdict
from pathlib import Path

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Those that may take longest begin first, beside the many short ones and not after them."""
    bound, longest = float(config.getini("timeout")), defaultdict[Path, float](float)
    for item in items:
        marker = item.get_closest_marker("timeout")
        longest[item.path] = max(longest[item.path], float(marker.args[0]) if marker else bound)
    items.sort(key=lambda item: -longest[item.path])
