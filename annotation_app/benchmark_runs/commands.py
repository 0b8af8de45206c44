"""The commands behind runs that were started in the web app: how they are noted, and processes that outlive workers.

A run is pending from its start until its command has ended by itself. A pending run whose command does not run waits
for a place, or was killed: it is begun again.
"""

import contextlib
import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from django.conf import settings
from pydantic import ValidationError

from annotation_app.benchmark_runs.schemas import POOL_PREFIX
from annotation_app.operations.runtime.stack import ROOT
from annotation_app.policies.api_keys import api_key_for
from annotation_app.policies.selectors import provider_key_of
from annotation_app.tasks.selectors import server_secrets_environment
from protocol.base import FrozenModel

REQUEST_FILE, LOG_FILE, LOCK_FILE, PENDING_FILE = "request.json", "command.log", "command.lock", "command.pending"
QUEUE_LOCK = ".queue.lock"
"""Of the folder of runs: whoever begins one holds it, so that no two take the last place."""
MAX_STARTS = 3
"""How often the command of a run is begun that is killed each time."""
CANCELLED = "cancelled: no further attempts were wanted"
"""The last line of a run that was cancelled before its command began."""
INHERITED_VARIABLES = ("PATH", "HOME", "LANG", "TMPDIR", "TZ", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
"""What a command gets of the worker's environment: no key of the database or of sessions is among it."""
TELEMETRY_PREFIX = "OTEL_"
"""Starts the names of OpenTelemetry's variables, which a command inherits too."""


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


def read_request(run: Path) -> RunRequest | None:
    """What a run was started with; None where it was not started here."""
    try:
        return RunRequest.model_validate_json((run / REQUEST_FILE).read_bytes())
    except (OSError, ValidationError):
        return None


def last_line(run: Path) -> str:
    """The last line that a run's command wrote; empty where there is none."""
    try:
        lines = (run / LOG_FILE).read_text(errors="replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1][:500] if lines else ""


def is_running(run: Path) -> bool:
    """Whether the command of a run that was started here runs: it holds the run's lock."""
    if not (run / LOCK_FILE).exists():
        return False
    lock = os.open(run / LOCK_FILE, os.O_RDWR | os.O_CLOEXEC)
    try:
        return not _try_lock(lock)
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


def spawn_next(folder: Path, run: Path, request: RunRequest, *, most: int) -> bool:
    """Begin or resume a pending run unless its command runs, or those of so many others do. Returns whether one was
    begun. A run that was killed `MAX_STARTS` times is pending no more."""
    with _locked(folder / QUEUE_LOCK):
        if not is_pending(run) or sum(map(is_running, pending_runs(folder))) >= most:
            return False
        starts = int((run / PENDING_FILE).read_text() or 0)
        if starts >= MAX_STARTS and not is_running(run):
            (run / PENDING_FILE).unlink()
            return False
        return spawn(run, request, starts)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def spawn(run: Path, request: RunRequest, starts: int = 0) -> bool:
    """Begin or resume a run, unless its command runs. Returns whether one was begun.

    Its process has a session of its own and goes on when this one ends; it ends where the bridge does.
    """
    command = [sys.executable, "-m", "annotation_app.benchmark_runs.program", str(run), *request.words]
    lock = os.open(run / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not _try_lock(lock):
            return False
        set_pending(run, starts + 1)
        with (run / LOG_FILE).open("ab") as log:
            subprocess.Popen(
                command,
                cwd=ROOT,
                env=command_environment(request),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(lock,),
                start_new_session=True,
            )
    finally:
        os.close(lock)
    return True


def _try_lock(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def command_environment(request: RunRequest) -> Mapping[str, str]:
    """The environment of a command, with the key of its model's server and the secrets of its pool's MCP servers."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name in INHERITED_VARIABLES or name.startswith(TELEMETRY_PREFIX)
    }
    of_pool = request.benchmark.startswith(POOL_PREFIX)
    key = provider_key_of(request.base_url) or api_key_for(request.base_url) if request.base_url else ""
    return {
        **inherited,
        "PYTHONPATH": str(ROOT),
        "PILOTHOUSE_DATA": str(settings.ENV.data),
        "PILOTHOUSE_BRIDGE_URL": settings.ENV.bridge_url,
        "PILOTHOUSE_BRIDGE_MASTER_KEY": settings.ENV.bridge_master,
        **({"PILOTHOUSE_POLICY_API_KEY": key} if key else {}),
        **(server_secrets_environment(pool=request.benchmark.removeprefix(POOL_PREFIX)) if of_pool else {}),
    }
