"""Run the flywheel from the command line: an installation's own, or the toy flywheel."""

import contextlib
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from annotation_app.operations.console import Console
from annotation_app.operations.errors import CommandFailed
from annotation_app.operations.install.command_runner import run_with_progress
from annotation_app.operations.runtime.child_processes import child_process
from annotation_app.operations.runtime.model_server import ModelServerFailed, serve_command, wait_until_serving
from annotation_app.operations.runtime.ports import PortAllocator
from annotation_app.operations.runtime.stack import ROOT
from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform, temporary_platform

TOY_POLICY = "toy"
TOY_FLYWHEEL = "small"
ATTEMPTS_PER_CYCLE = 64
"""Attempts imported before each cycle."""
OFFLINE_ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT)}
MANAGE_COMMAND = (sys.executable, str(ROOT / "manage.py"))


def run_toy_flywheel(data: Path, *, cycles: int, python: Path, console: Console) -> None:
    """Run the toy flywheel with its own PostgreSQL, policy server and trainer, all in `data`. After an interruption, a
    rerun resumes. Raises CommandFailed if a cycle fails."""
    log = data / "logs" / "wheel.log"
    start = data / "toy" / "start"
    toy = (str(python), "-m", "trainer.toy")
    if not start.exists():
        run_with_progress(
            "Teaching a toy policy",
            (*toy, "start", str(start)),
            console=console,
            log=log,
            environment=OFFLINE_ENVIRONMENT,
        )
    with temporary_platform(data, storage_only=True) as storage:
        run_with_progress(
            "Making the database tables",
            (*MANAGE_COMMAND, "migrate", "--skip-checks"),
            console=console,
            log=log,
            environment=storage.environment,
        )
        status = _flywheel_status(storage, start)
        with (
            PortAllocator() as allocator,
            _policy_server(python, status, allocator, log=data / "logs" / "model.log") as server,
        ):
            ended = status["ended"] + cycles
            while (status := _flywheel_status(storage, start))["ended"] < ended:
                if not status["running"]:
                    _import_attempts(storage, status, start=start, server=server, toy=toy, console=console)
                cycle_command = (*MANAGE_COMMAND, "run_flywheel", "--skip-checks", TOY_FLYWHEEL)
                run_with_progress("Turning", cycle_command, console=console, log=log, environment=storage.environment)
                console.say(log.read_text().strip().splitlines()[-1])


def _import_attempts(
    storage: TemporaryPlatform,
    status: Mapping[str, Any],
    *,
    start: Path,
    server: str,
    toy: tuple[str, ...],
    console: Console,
) -> None:
    """Run attempts by the active policy with unused seeds, and import them."""
    log, number = storage.data / "logs" / "wheel.log", status["ended"]
    folder = storage.data / "toy" / f"attempts-{number:04}"
    seeds = ("--first-seed", str(number * ATTEMPTS_PER_CYCLE), "--seeds", str(ATTEMPTS_PER_CYCLE))
    policy_options = ("--policy", TOY_POLICY, "--revision", status["revision"])
    words = (*toy, "attempts", status["checkpoint"], "--out", str(folder), *policy_options, *seeds)
    run_with_progress(
        f"{ATTEMPTS_PER_CYCLE} attempts by {status['revision']}",
        words,
        console=console,
        log=log,
        environment=OFFLINE_ENVIRONMENT,
    )
    options = ("--skip-checks", "--server", server, "--attempts", str(folder))
    import_command = (*MANAGE_COMMAND, "toy_flywheel", str(start), *options)
    run_with_progress("Taking them in", import_command, console=console, log=log, environment=storage.environment)


def _flywheel_status(storage: TemporaryPlatform, start: Path) -> dict[str, Any]:
    """The flywheel's status."""
    status: dict[str, Any] = json.loads(storage.manage("toy_flywheel", str(start)).splitlines()[-1])
    return status


@contextlib.contextmanager
def _policy_server(python: Path, status: Mapping[str, Any], allocator: PortAllocator, *, log: Path) -> Iterator[str]:
    """Run the policy's server with the weights of the active policy. The cycle loads newer ones. Yields its address."""
    port_file = log.parent.parent / "model.port"
    # A resumed cycle sends its weights to the address that it began with.
    port = allocator.exact("the policy", int(port_file.read_text())) if port_file.exists() else allocator.any_free()
    port_file.write_text(str(port))
    command = serve_command(python, status["checkpoint"], name=TOY_POLICY, port=port, more=("--dev",))
    log.parent.mkdir(parents=True, exist_ok=True)
    with (
        log.open("ab") as stdout,
        child_process(command, environment=OFFLINE_ENVIRONMENT, stdout=stdout, stderr=stdout) as process,
    ):
        try:
            address = wait_until_serving(process, port)
        except ModelServerFailed as error:
            raise CommandFailed(f"The policy's server did not begin: {error}.", hint=f"All it said: {log}") from None
        yield address
