"""Small disks of a test's own, where they can be mounted."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

Mount = Callable[[Path, str], None]


@contextmanager
def small_disks() -> Iterator[Mount]:
    """Puts a disk of its own where a folder is, or gives one that is there another size. Skips the test where nothing
    can be mounted."""
    made: list[Path] = []

    def mount_at(folder: Path, size: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        options = f"remount,size={size}" if folder in made else f"size={size}"
        command = ["mount", "-t", "tmpfs", "-o", options, "none", str(folder)]
        mounted = subprocess.run(command, capture_output=True, text=True, check=False)
        assert not mounted.returncode or folder not in made, mounted.stderr
        if mounted.returncode:
            pytest.skip(f"no small disk can be mounted here: {mounted.stderr.strip()}")
        made.append(folder)

    try:
        yield mount_at
    finally:
        for folder in dict.fromkeys(made):
            subprocess.run(["umount", "--lazy", str(folder)], check=True)
