"""A real X server of its own, without a desktop."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SIZE = (1280, 720)


@contextmanager
def x_server(folder: Path, size: tuple[int, int] = SIZE) -> Iterator[str]:
    """An Xtigervnc; gives its display, which the caller puts into DISPLAY."""
    authority = folder / "authority"
    authority.touch()
    read, write = os.pipe()
    command = ["Xtigervnc", "-displayfd", str(write), "-geometry", f"{size[0]}x{size[1]}", "-depth", "24"]
    command += ["-rfbport=-1", f"-rfbunixpath={folder / 'rfb'}", "-SecurityTypes", "None", "-nolisten", "tcp"]
    with (folder / "x.log").open("w") as log:
        server = subprocess.Popen(command, pass_fds=(write,), stderr=log)
    os.close(write)
    try:
        with os.fdopen(read) as numbers:
            yield f":{numbers.readline().strip()}"
    finally:
        server.terminate()
        server.wait(10)
