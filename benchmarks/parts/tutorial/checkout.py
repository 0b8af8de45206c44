"""A copy of this repository with its installed packages, in which a tutorial is run as it is written."""

import shutil
from pathlib import Path

from annotation_app.operations.runtime.stack import ROOT

LEFT_OUT = (".git", ".venv*", ".data", "node_modules", "__pycache__", "test-results", ".*_cache", ".hypothesis")
SHARED = (".venv", ".data/venvs", ".data/tools", "frontend/node_modules")
"""Installed once for both: nothing that a tutorial makes is in them."""


def make_checkout(folder: Path) -> Path:
    """The copy, below a new folder. Other users may read it, as desktops' programs do."""
    copy = folder / "pilothouse"
    shutil.copytree(ROOT, copy, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT))
    for name in SHARED:
        source = (ROOT / name).resolve()
        source.mkdir(parents=True, exist_ok=True)
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(source, target_is_directory=True)
    folder.chmod(0o755)
    return copy
