"""Stamps: repeat a setup step only when its inputs have changed."""

import hashlib
from collections.abc import Iterable
from pathlib import Path


def digest_files(files: Iterable[Path], *, salt: str = "") -> str:
    """A digest of the names and contents of these files, in any order, and of `salt`."""
    total = hashlib.sha256(salt.encode())
    for file in sorted(files):
        total.update(f"\0{file.name}\0".encode())
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def is_fresh(stamp_file: Path, digest: str) -> bool:
    """Whether the step was last done for exactly this digest."""
    return stamp_file.exists() and stamp_file.read_text() == digest


def write_stamp(stamp_file: Path, digest: str) -> None:
    """Record that the step was done for this digest (written, then renamed)."""
    stamp_file.parent.mkdir(parents=True, exist_ok=True)
    fresh = stamp_file.with_name(f"{stamp_file.name}.new")
    fresh.write_text(digest)
    fresh.rename(stamp_file)
