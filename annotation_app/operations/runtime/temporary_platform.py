"""A temporary platform, started and stopped from Python: for integration tests, end-to-end tests, benchmarks."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from annotation_app.operations.errors import StartFailed
from annotation_app.operations.runtime.demo import ANY_PORT
from annotation_app.operations.runtime.platform_info import PlatformInfo, read_platform_info_of
from annotation_app.operations.runtime.stack import ROOT

START_TIMEOUT_SECONDS = 240.0
STOP_TIMEOUT_SECONDS = 60.0
MANAGE_TIMEOUT_SECONDS = 300.0
POLL_SECONDS = 0.05
TAIL_BYTES = 4000
UNCHECKED_COMMANDS = ("shell",)
"""Management commands that never run the system checks."""


@dataclass(frozen=True, slots=True)
class TemporaryPlatform(PlatformInfo):
    """A running platform and its data folder."""

    data: Path

    def pid(self, program: str) -> int:
        """The current PID of one program. Raises FileNotFoundError while it is down."""
        return int((self.data / "run" / f"{program}.pid").read_text())

    def log(self, program: str) -> str:
        """The output of a program so far."""
        return (self.data / "logs" / f"{program}.log").read_text()

    def manage(self, command: str, *words: str) -> str:
        """The output of a management command on its database, without the system checks, which take half of its time.
        Raises CalledProcessError, TimeoutExpired."""
        unchecked = () if command in UNCHECKED_COMMANDS else ("--skip-checks",)
        return subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), command, *unchecked, *words],
            env={**os.environ, **self.environment}, capture_output=True, text=True,
            timeout=MANAGE_TIMEOUT_SECONDS, check=True,
        ).stdout  # fmt: skip


@contextlib.contextmanager
def temporary_platform(
    data: Path,
    *,
    port: int | None = ANY_PORT,
    storage_only: bool = False,
    nano: bool = False,
    variables: Mapping[str, str] | None = None,
) -> Iterator[TemporaryPlatform]:
    """Run the complete platform, with the bundled policy (`nano`) or without, or only its PostgreSQL and Redis, in
    `data`. It stops on exit. It uses any free ports, or the demo's if `port` is None, and adds `variables` to its
    environment. Raises StartFailed with its last lines when it does not start."""
    data.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "annotation_app.operations", "serve", "--data", str(data)]
    options = [*(["--storage-only"] if storage_only else []), *(["--nano"] if nano else [])]
    if port is not None:
        options += ["--port", str(port)]
    with (data / "platform.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, *options],
            cwd=ROOT, env={**os.environ, **(variables or {})}, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
    try:
        yield _wait_until_published(data, process)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()  # the guard ends what it leaves
            process.wait()


def _wait_until_published(data: Path, process: "subprocess.Popen[bytes]") -> TemporaryPlatform:
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while (note := read_platform_info_of(data, process.pid)) is None:
        if process.poll() is not None or time.monotonic() > deadline:
            last = (data / "platform.log").read_bytes()[-TAIL_BYTES:].decode(errors="replace")
            raise StartFailed("The platform did not come up.", hint=last)
        time.sleep(POLL_SECONDS)
    return TemporaryPlatform(**asdict(note), data=data)
