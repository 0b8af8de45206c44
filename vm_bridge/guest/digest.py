"""One hash over everything below a folder, to tell a fresh one from a used one."""

import hashlib
import os
from pathlib import Path


def tree_digest(folder: Path) -> str:
    """Covers every path, kind, permission and content, in a fixed order; not times and owners."""
    sums = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = os.readlink(path).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        sums.update(f"{path.relative_to(folder)}\0{status.st_mode:o}\0{len(content)}\0".encode() + content)
    return sums.hexdigest()
