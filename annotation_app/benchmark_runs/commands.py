"""The commands behind runs that were started in the web app: how they begin, as processes that outlive workers."""

import contextlib
import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from django.conf import settings

from agent_backend.benchmark.run_lock import try_lock
from annotation_app.benchmark_runs.run_folder import (
    LOCK_FILE,
    LOG_FILE,
    PENDING_FILE,
    RunRequest,
    is_pending,
    is_running,
    pending_runs,
    set_pending,
)
from annotation_app.benchmark_runs.schemas import POOL_PREFIX
from annotation_app.operations.runtime.stack import ROOT
from annotation_app.policies.api_keys import api_key_for
from annotation_app.policies.selectors import provider_key_of
from annotation_app.tasks.selectors import server_secrets_environment

QUEUE_LOCK = ".queue.lock"
"""A file in the folder of runs. Only one worker at a time begins a run, so two cannot take the last place."""
MAX_STARTS = 3
"""How often the command of a run is started when it is killed each time."""
INHERITED_VARIABLES = ("PATH", "HOME", "LANG", "TMPDIR", "TZ", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
"""What a command gets of the worker's environment: no key of the database or of sessions is among it."""
TELEMETRY_PREFIX = "OTEL_"
"""Starts the names of OpenTelemetry's variables, which a command inherits too."""


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
        if not try_lock(lock):
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
