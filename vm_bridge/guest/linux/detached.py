"""Starts programs of a desktop that live on without the one that started them."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def start_detached(
    command: str | Sequence[str],
    *,
    shell: bool = False,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    descriptors: Sequence[int] = (),
) -> "subprocess.Popen[bytes]":
    """Start a program in a session of its own, with nothing to read and nowhere to write. Raises OSError."""
    return subprocess.Popen(
        command,
        shell=shell,
        cwd=folder,
        env=environment,
        pass_fds=descriptors,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
