"""The processes of checks. They end with the run, however it ends."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import IO, NoReturn

from annotation_app.operations.runtime import orphan_guard

GRACE_SECONDS = 20.0
"""How long checks may take to clean up after SIGINT: pytest stops its servers."""
POLL_SECONDS = 0.05
STOP_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class CheckProcesses:
    """Starts checks, each in a process group of its own, and ends all of them at once.

    If this process is killed, a guard process ends them. Thread-safe.
    """

    def __init__(self) -> None:
        self._guard = orphan_guard.start_guard()
        self._lock = threading.Lock()
        self._running: set[int] = set()
        self._stopped = False

    def run(
        self, command: Sequence[str], *, folder: Path, environment: Mapping[str, str], output: IO[bytes] | None
    ) -> int:
        """Run one command to its end.

        Args:
            output: Target of both output streams; None: those of this process.

        Returns:
            The exit status, negative if a signal ended it; -SIGINT if the run was stopped before it began.
        """
        with self._lock:
            if self._stopped:
                return -signal.SIGINT
            process = subprocess.Popen(
                command, cwd=folder, env=environment, stdout=output, stderr=output, start_new_session=True
            )
            self._running.add(process.pid)
            self._tell_guard(f"+ {process.pid} {int(signal.SIGINT)}")
        try:
            return process.wait()
        finally:
            with self._lock:
                if not self._stopped:  # otherwise `stop` ends the rest of its group
                    self._running.discard(process.pid)
                    self._tell_guard(f"- {process.pid}")

    def stop(self) -> None:
        """Interrupt the process group of every running command. Kill those still running after `GRACE_SECONDS`."""
        with self._lock:
            self._stopped = True
            groups = tuple(self._running)
        for group in groups:
            _send(group, signal.SIGINT)
        deadline = time.monotonic() + GRACE_SECONDS
        while any(map(orphan_guard.group_runs, groups)) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        for group in groups:
            _send(group, signal.SIGKILL)

    def close(self) -> None:
        """Stop all commands, then the guard."""
        self.stop()
        assert self._guard.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._guard.stdin.close()
        self._guard.wait()

    def _tell_guard(self, line: str) -> None:
        assert self._guard.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._guard.stdin.write(f"{line}\n")
            self._guard.stdin.flush()


@contextlib.contextmanager
def check_processes() -> Iterator[CheckProcesses]:
    """The processes of a run of checks. SIGTERM and a closed terminal end the run as Ctrl-C does.

    A program that a shell starts in the background ignores SIGINT, and its children inherit that. Checks are stopped by
    SIGINT, so its default handler is restored here.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, _exit) for number in STOP_SIGNALS} if in_main_thread else {}
    if in_main_thread and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
    processes = CheckProcesses()
    try:
        yield processes
    finally:
        processes.close()
        for number, handler in before.items():
            signal.signal(number, handler)


def _exit(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


def _send(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)
