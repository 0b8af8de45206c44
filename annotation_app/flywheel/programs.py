"""The programs a turn is made of: the trainer, attempts, the policy server's reload. They end with who began them.

A turn is turned by one process at a time. The lock on its folder is handed to each program, so that a worker that
takes the turn up never begins beside what its predecessor left running.
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
"""Seconds between two looks at a program and its turn."""
TAIL_CHARACTERS = 2_000


class TurnCancelled(Exception):
    """The turn was cancelled."""


class ProgramFailed(Exception):
    """A program ended with an error; its last lines are the message."""

    code = "program_failed"


class TrainerMissing(ProgramFailed):
    """The trainer's environment has not been made."""

    code = "trainer_missing"


def trainer_python() -> str:
    """The interpreter that has torch. Raises TrainerMissing."""
    python = TRAINER / "bin" / "python"
    if not python.exists():
        raise TrainerMissing("The trainer's environment is not there; `./pilothouse flywheel` makes it.")
    return str(python)


@contextlib.contextmanager
def turn_lock(folder: Path, *, patience: float = 0.0) -> Iterator[int | None]:
    """The lock of a turn's folder, or None where somebody has it for longer than `patience` seconds."""
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
    """Runs programs one after another, or one beside others, for one turn."""

    def __init__(self, lock: int, running: Callable[[], bool], environment: Mapping[str, str]) -> None:
        self._lock, self._running = lock, running
        self._environment = {"HF_HUB_OFFLINE": "1", **environment}

    def ignoring_cancellation(self) -> "ProgramRunner":
        """The same, for what is still to be done once the turn was cancelled."""
        return ProgramRunner(self._lock, lambda: True, self._environment)

    def run(self, command: Sequence[str], *, log: Path) -> str:
        """Its standard output's last line. Raises ProgramFailed, and TurnCancelled where the turn was cancelled."""
        with self.background(command, log=log) as process:
            self.wait_until(process, lambda: False, log=log)
        return last_line(log)

    def wait_until(self, process: "subprocess.Popen[bytes]", done: Callable[[], bool], *, log: Path) -> None:
        """Returns when something is done, or the process has ended well. Raises ProgramFailed where it ended with an
        error, and Halted where the turn was cancelled."""
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
        """A program that runs while the block does; what it says of errors is added to `log`."""
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
    """Of the standard output of the program with this log."""
    stdout = log.with_suffix(".out").read_text(errors="replace").strip()
    return stdout.splitlines()[-1] if stdout else ""


def _tail(log: Path) -> str:
    return log.read_text(errors="replace")[-TAIL_CHARACTERS:].strip()


def platform_python() -> str:
    """The interpreter of this process."""
    return sys.executable
