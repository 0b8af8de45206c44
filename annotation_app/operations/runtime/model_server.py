"""The bundled model server as a child program: the command that serves weights, and the wait for readiness."""

import subprocess
import time
from pathlib import Path

from annotation_app.operations.runtime.programs import POLL_SECONDS, responds
from annotation_app.operations.runtime.stack import LOOPBACK

READY_TIMEOUT_SECONDS = 300.0
"""Longest time to load weights."""


class ModelServerFailed(Exception):
    """The server ended, or did not answer in time; see its log."""


def serve_command(python: Path | str, weights: Path | str, *, name: str, port: int, more: tuple[str, ...]) -> list[str]:
    """The command that serves these weights as the model `name`, with further server options in `more`."""
    words = ["--served-model-name", name, "--port", str(port), *more]
    return [str(python), "-m", "trainer.serve", str(weights), *words]


def wait_until_serving(
    process: "subprocess.Popen[bytes]", port: int, *, timeout_seconds: float = READY_TIMEOUT_SECONDS
) -> str:
    """The server's address, once it answers. Raises ModelServerFailed."""
    address = f"http://{LOOPBACK}:{port}"
    deadline = time.monotonic() + timeout_seconds
    while not responds(f"{address}/v1/models"):
        if process.poll() is not None:
            raise ModelServerFailed(f"the model server ended with {process.returncode}")
        if time.monotonic() > deadline:
            raise ModelServerFailed(f"the model server did not answer within {timeout_seconds:g} s")
        time.sleep(POLL_SECONDS)
    return address
