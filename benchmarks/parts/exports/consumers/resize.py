"""`python resize.py SIZES OUT`: the sizes that published code scales pictures to.

SIZES is a JSON list of [height, width, min_pixels, max_pixels]. OUT gets an object: for each package a list of
[height, width], or null where it refuses a size. Imports nothing of the platform.
"""

import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGES = {"ui-tars": "ui_tars.action_parser", "qwen-vl-utils": "qwen_vl_utils.vision_process"}
UNUSED_MODULES = ("jsonschema", "requests", "torchvision", "torchvision.io", "torchvision.transforms")
UNUSED_NAMES = ("validate", "io", "transforms", "InterpolationMode")
"""What these modules import for videos, downloads and replies, and no size needs."""


def published(package: str) -> Callable[..., tuple[int, int]]:
    """A package's `smart_resize`."""
    for name in UNUSED_MODULES:
        module = sys.modules[name] = ModuleType(name)
        vars(module).update(dict.fromkeys(UNUSED_NAMES))
    function: Callable[..., tuple[int, int]] = import_module(PACKAGES[package]).smart_resize
    return function


def sizes(resize: Callable[..., tuple[int, int]], given: list[list[int]]) -> list[Any]:
    """Each size after resizing."""
    found: list[Any] = []
    for height, width, min_pixels, max_pixels in given:
        try:
            found.append(resize(height, width, factor=28, min_pixels=min_pixels, max_pixels=max_pixels))
        except ValueError:
            found.append(None)
    return found


def main() -> None:
    given = json.loads(Path(sys.argv[1]).read_text())
    Path(sys.argv[2]).write_text(json.dumps({package: sizes(published(package), given) for package in PACKAGES}))


if __name__ == "__main__":
    main()
