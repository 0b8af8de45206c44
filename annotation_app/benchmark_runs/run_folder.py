"""What the folder of a run that was started in the web app says of it; needs no Django.

A run is pending from its start until its command has ended by itself. A pending run whose command does not run waits
for a place, or was killed: it is begun again.
"""

import contextlib
import filecmp
import os
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from agent_backend.benchmark.run_lock import is_locked, try_lock
from protocol.base import FrozenModel

REQUEST_FILE, LOG_FILE, LOCK_FILE, PENDING_FILE = "request.json", "command.log", "command.lock", "command.pending"
ALL_LEVELS = "all"
CANCELLED = "cancelled: no further attempts were wanted"
"""The last line of a run that was cancelled before its command began."""


class RunRequest(FrozenModel):
    """What a run was started with: the words of its command, and where its model is."""

    benchmark: str
    policy: str
    revision: str
    words: tuple[str, ...]
    at: datetime
    harness: bool = False
    checkpoint: str = ""
    """The folder of weights that is served for it; empty: its model's server runs."""
    base_url: str = ""
    """By which the key of the model's server is found when the command begins; empty: there is none."""
    started_by: int | None = None
    """The user's number; None: it was started before that was noted."""


def read_request(run: Path) -> RunRequest | None:
    """What a run was started with; None where it was not started here."""
    try:
        return RunRequest.model_validate_json((run / REQUEST_FILE).read_bytes())
    except (OSError, ValidationError):
        return None


class RunScope(NamedTuple):
    """Whose attempts a run makes, and at what."""

    benchmark: str
    policy: str
    revision: str
    tasks: frozenset[str]
    """By name; empty: all."""
    levels: frozenset[str]
    """Empty: every level there is."""
    size: str
    """Of the pages, as `640x480`; empty: each task's own."""
    harness: bool


def request_scope(request: RunRequest) -> RunScope:
    """Whose attempts a run that was started here makes, and at what."""
    return RunScope(
        benchmark=request.benchmark,
        policy=request.policy,
        revision=request.revision,
        tasks=frozenset(_option_values(request, "--task")),
        levels=frozenset(_option_values(request, "--level")) - {ALL_LEVELS},
        size=next(iter(_option_values(request, "--size")), ""),
        harness=request.harness,
    )


def have_same_tasks(one: RunRequest, other: RunRequest) -> bool:
    """Whether the files of tasks that two runs were started with, if any, hold the same."""
    files, others = (_option_values(request, "--tasks") for request in (one, other))
    try:
        return len(files) == len(others) and all(
            filecmp.cmp(file, copy, shallow=False) for file, copy in zip(files, others, strict=True)
        )
    except OSError:
        return False


def _option_values(request: RunRequest, option: str) -> tuple[str, ...]:
    return tuple(value for word, value in pairwise(request.words) if word == option)


def last_line(run: Path) -> str:
    """The last line that a run's command wrote; empty where there is none."""
    try:
        lines = (run / LOG_FILE).read_text(errors="replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1][:500] if lines else ""


def is_running(run: Path) -> bool:
    """Whether the command of a run that was started here runs: it holds the run's lock."""
    return is_locked(run / LOCK_FILE) is True


@contextlib.contextmanager
def held(run: Path) -> Iterator[bool]:
    """Hold a run's lock, so that its command cannot begin while the block runs. Gives whether the lock was free."""
    lock = os.open(run / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield try_lock(lock)
    finally:
        os.close(lock)


def set_pending(run: Path, starts: int = 0) -> None:
    """A run is to be made; its command was begun so often."""
    (run / PENDING_FILE).write_text(str(starts))


def cancel_pending(run: Path) -> None:
    """Begin the command of a run no more. Says so in its log where it does not run."""
    if is_pending(run) and not is_running(run):
        with (run / LOG_FILE).open("a") as log:
            log.write(f"{CANCELLED}\n")
    (run / PENDING_FILE).unlink(missing_ok=True)


def is_pending(run: Path) -> bool:
    """Whether a run waits for a place, is made, or was killed."""
    return (run / PENDING_FILE).exists()


def pending_runs(folder: Path) -> list[Path]:
    """The pending runs of a folder of runs, in the order in which they were wanted."""
    return [file.parent for file in sorted(folder.glob(f"*/{PENDING_FILE}"), key=_requested_at)]


def _requested_at(pending: Path) -> float:
    with contextlib.suppress(OSError):
        return pending.with_name(REQUEST_FILE).stat().st_mtime
    return 0.0
