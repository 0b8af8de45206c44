"""Inspect on our machines, in an environment of its own: an evaluation by its command, and its checks of a sandbox."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotation_app.operations.console import Console
from annotation_app.operations.errors import CommandFailed
from annotation_app.operations.install.extra_environments import ENVIRONMENTS_FOLDER, PythonEnvironment
from benchmarks.parts.figures import print_progress
from benchmarks.parts.tasks.peers import PACKAGE_FILES, PeerFailed, copy_package, run_peer

FOLDER = ENVIRONMENTS_FOLDER / "inspect"
REQUIREMENTS = ("inspect-ai==0.3.285", "pytest==9.2.0")
TASK, CHECKS = Path(__file__).with_name("inspect_task.py"), Path(__file__).with_name("inspect_checks.py")
CHECKED_SECONDS = 300.0


def ensure_inspect(console: Console, *, folder: Path = FOLDER) -> Path:
    """The interpreter of Inspect's environment with our package, made if missing. Raises CommandFailed."""

    def fill(environment: PythonEnvironment) -> None:
        package = copy_package(folder / "package")
        environment.install("Inspect (80 packages)", (*REQUIREMENTS, str(package)))

    environment = PythonEnvironment("Inspect", console, folder)
    return environment.ensure(PACKAGE_FILES, fill, salt=" ".join(REQUIREMENTS))


def inspect_works(scratch: Path, url: str, environment: Mapping[str, str]) -> bool | str:
    """Whether Inspect's evaluation and its checks pass; "absent" where it cannot be installed."""
    try:
        python = ensure_inspect(Console())
    except CommandFailed as error:
        print_progress(f"Inspect is absent: {error}")
        return "absent"
    told = {**environment, "PILOTHOUSE_OPENENV_URL": url}
    try:
        scores = evaluation_accuracy(python, scratch / "inspect-logs", told)
        run_checks(python, told)
    except PeerFailed as error:
        print_progress(f"Inspect fails: {error}")
        return False
    print_progress(f"Inspect: accuracy {scores}, its checks pass")
    return scores == 1.0


def evaluation_accuracy(python: Path, logs: Path, environment: Mapping[str, str]) -> float:
    """The accuracy that `inspect eval` records. Raises PeerFailed."""
    command = (python.with_name("inspect"), "eval", TASK.name, "--sandbox", "pilothouse:terminal", "--display", "plain")
    run_peer((*command, "--log-dir", logs, "--log-format", "json"), environment, cwd=TASK.parent)
    (log,) = logs.glob("*.json")
    found: dict[str, Any] = json.loads(log.read_text())
    if found["status"] != "success":
        raise PeerFailed(f"the evaluation ended as {found['status']}: {(found.get('error') or {}).get('message')}")
    return float(found["results"]["scores"][0]["metrics"]["accuracy"]["value"])


def run_checks(python: Path, environment: Mapping[str, str]) -> str:
    """pytest's report of Inspect's checks. Raises PeerFailed where a check fails that is not a known failure."""
    command = (python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", CHECKS.parent)
    return run_peer((*command, CHECKS), environment, seconds=CHECKED_SECONDS)
