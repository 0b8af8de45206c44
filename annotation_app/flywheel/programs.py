"""The programs of a cycle: the trainer, rollouts, model servers and their reloads.

They end with the process that started them.

Only one process runs a cycle at a time. Each program inherits the lock on the cycle's folder. So a worker that takes
the cycle over never starts while programs of its predecessor are running.
"""

import contextlib
import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from annotation_app.operations.install.extra_environments import TRAINER_FOLDER as TRAINER
from annotation_app.operations.runtime.child_processes import child_process

POLL_SECONDS = 0.2
"""Seconds between checks of a program and its cycle."""
TAIL_CHARACTERS = 2_000


class TurnCancelled(Exception):
    """The cycle was cancelled."""


class ProgramFailed(Exception):
    """A program ended with an error; its last lines are the message."""

    code = "program_failed"


class TrainerMissing(ProgramFailed):
    """The trainer's environment does not exist."""

    code = "trainer_missing"


def trainer_python() -> str:
    """The interpreter with torch. Raises TrainerMissing."""
    python = TRAINER / "bin" / "python"
    if not python.exists():
        raise TrainerMissing("The trainer's environment is not there; `./pilothouse flywheel` makes it.")
    return str(python)


@contextlib.contextmanager
def turn_lock(folder: Path, *, patience: float = 0.0) -> Iterator[int | None]:
    """The lock of a cycle's folder, or None if another process has it for longer than `patience` seconds."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        deadline = time.monotonic() + patience
        while not (taken := _try_lock(lock)) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        yield lock if taken else None
    finally:
        os.close(lock)


def _try_lock(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class ProgramRunner:
    """Runs programs for one cycle, in sequence or in parallel."""

    def __init__(self, lock: int, running: Callable[[], bool], environment: Mapping[str, str]) -> None:
        self._lock, self._running = lock, running
        self._environment = {"HF_HUB_OFFLINE": "1", **environment}

    def ignoring_cancellation(self) -> "ProgramRunner":
        """A runner for work that remains after the cycle was cancelled."""
        return ProgramRunner(self._lock, lambda: True, self._environment)

    def run(self, command: Sequence[str], *, log: Path) -> str:
        """Run a program and return the last line of its standard output. Raises ProgramFailed, and TurnCancelled if the
        cycle was cancelled."""
        with self.background(command, log=log) as process:
            self.wait_until(process, lambda: False, log=log)
        return last_line(log)

    def wait_until(self, process: "subprocess.Popen[bytes]", done: Callable[[], bool], *, log: Path) -> None:
        """Return when the condition holds, or when the process has ended successfully. Raises ProgramFailed if it ended
        with an error, and TurnCancelled if the cycle was cancelled."""
        while not done() and process.poll() is None:
            if not self._running():
                raise TurnCancelled
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(POLL_SECONDS)
        if process.returncode:
            assert isinstance(process.args, list)
            raise ProgramFailed(f"{' '.join(process.args[1:4])} ended with {process.returncode}: {_tail(log)}")

    @contextlib.contextmanager
    def background(self, command: Sequence[str], *, log: Path) -> Iterator["subprocess.Popen[bytes]"]:
        """Run a program while the block runs. Its error output is appended to `log`."""
        log.parent.mkdir(parents=True, exist_ok=True)
        with (
            log.open("ab") as stderr,
            log.with_suffix(".out").open("wb") as stdout,
            child_process(
                command, environment=self._environment, stdout=stdout, stderr=stderr, descriptors=(self._lock,)
            ) as process,
        ):
            yield process


def last_line(log: Path) -> str:
    """The last line of the standard output of the program with this log."""
    stdout = log.with_suffix(".out").read_text(errors="replace").strip()
    return stdout.splitlines()[-1] if stdout else ""


def _tail(log: Path) -> str:
    return log.read_text(errors="replace")[-TAIL_CHARACTERS:].strip()


def platform_python() -> str:
    """The interpreter of this process."""
    return sys.executable
