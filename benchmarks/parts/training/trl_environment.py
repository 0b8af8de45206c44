"""TRL in an environment of its own over the trainer's packages, and programs that print figures from within it."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.install.command_runner import run_with_progress
from annotation_app.operations.install.virtual_environments import environment_python, python_runs, recreate_venv
from annotation_app.operations.runtime.stack import ROOT

FOLDER = ROOT / ".data" / "venvs" / "trl"
LOG = ROOT / ".data" / "logs" / "trl-setup.log"
REQUIREMENTS = ("trl==1.9.0",)
TIMEOUT_SECONDS = 420.0


class PeerUnavailable(Exception):
    """TRL cannot be installed here."""


class MeasurementFailed(Exception):
    """A program that measures failed, or did not end in time; the message has the end of what it said."""


def ensure_trl(console: Console, trainer: Path) -> Path:
    """The interpreter of TRL's environment, made if it is not there. Raises PeerUnavailable."""
    python, done = environment_python(FOLDER), FOLDER / "done"
    if done.exists() and done.read_text() == "\n".join(REQUIREMENTS) and python_runs(python):
        return python
    try:
        recreate_venv(FOLDER, what="Making TRL's environment", console=console, log=LOG)
        for packages in (FOLDER / "lib").glob("python3*/site-packages"):
            (packages / "trainer.pth").write_text(f"{next(trainer.parents[1].glob('lib/python3*/site-packages'))}\n")
        constraints = trainer.parents[1] / "constraints.txt"
        install = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--constraint", str(constraints)]
        run_with_progress("Installing TRL (a minute)", [*install, *REQUIREMENTS], console=console, log=LOG)
    except OperationsError as error:
        raise PeerUnavailable(str(error)) from None
    done.write_text("\n".join(REQUIREMENTS))
    return python


def run_measurement(python: Path, module: str, folder: Path) -> dict[str, Any]:
    """What a program prints as its last line. Raises MeasurementFailed."""
    try:
        done = subprocess.run(
            [python, "-m", module, folder],
            cwd=ROOT,
            env={**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise MeasurementFailed(f"{module} did not end within {TIMEOUT_SECONDS:g} s") from None
    if done.returncode:
        raise MeasurementFailed(f"{module}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
