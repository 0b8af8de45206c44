"""A candidate's own server while it is tried: the one that people's desks ask goes on as it is."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from annotation_app.flywheel.programs import POLL, ProgramFailed, Programs, trainer_python
from annotation_app.operations.ports import free_port
from annotation_app.operations.programs import answers
from annotation_app.operations.stack import LOOPBACK

READY = 300.0
"""Seconds a checkpoint may take to load."""


@contextmanager
def served(
    programs: Programs, checkpoint: Path, *, name: str, threads: int, log: Path, version: str = ""
) -> Iterator[str]:
    """The address (with /v1) of a server of these weights. With a `version`, which they are called, others may
    be given to it. Raises ProgramFailed where it does not begin."""
    port = free_port()
    words = ["-m", "trainer.serve", str(checkpoint), "--served-model-name", name, "--port", str(port)]
    words += ["--threads", str(threads), *(["--weight-version", version, "--dev"] if version else [])]
    with programs.beside([trainer_python(), *words], log=log) as process:
        deadline = time.monotonic() + READY
        while not answers(f"http://{LOOPBACK}:{port}/v1/models"):
            if process.poll() is not None or time.monotonic() > deadline:
                raise ProgramFailed(f"The candidate's server did not begin: {log.read_text(errors='replace')[-2000:]}")
            time.sleep(POLL)
        yield f"http://{LOOPBACK}:{port}/v1"
