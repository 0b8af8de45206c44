"""One hash over everything below a folder, to tell a fresh one from a used one."""

import hashlib
import os
from contextlib import suppress
from pathlib import Path


def tree_digest(folder: Path, *, hidden: bool = True) -> str:
    """Covers every path, kind, permission and content, in a fixed order; not times and owners.

    Without `hidden` what begins with a dot is left out, and what vanishes meanwhile is not there.
    """
    sums = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if hidden or not any(part.startswith(".") for part in path.relative_to(folder).parts):
            with suppress(FileNotFoundError):
                sums.update(_entry(path, path.relative_to(folder)))
    return sums.hexdigest()


def _entry(path: Path, name: Path) -> bytes:
    mode = path.lstat().st_mode
    content = os.readlink(path).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else b""
    return f"{name}\0{mode:o}\0{len(content)}\0".encode() + content
