"""A program that runs beside this one, and ends with it however that ends."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from typing import IO

from annotation_app.operations import guard
from annotation_app.operations.stack import ROOT

GRACE_SECONDS = 20.0


@contextlib.contextmanager
def child(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    said: IO[bytes],
    told: IO[bytes],
    descriptors: Sequence[int] = (),
) -> Iterator["subprocess.Popen[bytes]"]:
    """A program in the project's root while the block runs. What it prints goes to `said`, what it says of errors to
    `told`; it keeps these `descriptors` open."""
    standing = guard.begin()
    assert standing.stdin is not None
    try:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=told,
            pass_fds=descriptors,
            start_new_session=True,
        )
        standing.stdin.write(f"+ {process.pid} {int(signal.SIGTERM)}\n")
        standing.stdin.flush()
        try:
            yield process
        finally:
            _end(process)
    finally:
        with contextlib.suppress(BrokenPipeError):
            standing.stdin.close()
        standing.wait()


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
