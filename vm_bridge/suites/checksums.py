"""Checksums of verifiers that are Python: of the package that a suite's checks are in."""

import hashlib
from functools import cache
from pathlib import Path

SUITES_FOLDER = Path(__file__).parent


@cache
def package_checksum(suite: str) -> str:
    """The sha256 of all Python files of a suite's package, and of the checks that suites share."""
    whole = hashlib.sha256()
    for path in (SUITES_FOLDER / "checks.py", *sorted((SUITES_FOLDER / suite).glob("*.py"))):
        data = path.read_bytes()
        whole.update(f"{path.name}\0{len(data)}\0".encode() + data)
    return whole.hexdigest()
