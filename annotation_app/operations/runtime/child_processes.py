"""Child processes that end with this process, however it ends."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from annotation_app.operations.runtime import orphan_guard
from annotation_app.operations.runtime.stack import ROOT

GRACE_SECONDS = 20.0


@contextlib.contextmanager
def child_process(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    stdout: IO[bytes],
    stderr: IO[bytes],
    descriptors: Sequence[int] = (),
    folder: Path = ROOT,
) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a program in a folder (default: the project's root) while the block runs. It inherits `descriptors`."""
    guard_process = orphan_guard.start_guard()
    assert guard_process.stdin is not None
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(folder), **environment},
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            pass_fds=descriptors,
            start_new_session=True,
        )
        guard_process.stdin.write(f"+ {process.pid} {int(signal.SIGTERM)}\n")
        guard_process.stdin.flush()
        try:
            yield process
        finally:
            _stop(process)
    finally:
        with contextlib.suppress(BrokenPipeError):
            guard_process.stdin.close()
        guard_process.wait()


def _stop(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
