"""The trainer's environment: torch and what goes with it, beside the platform's own."""

import shutil
from pathlib import Path

from annotation_app.operations import requirement_locks
from annotation_app.operations.console import Console
from annotation_app.operations.environments import ENVIRONMENTS, Environment
from annotation_app.operations.errors import CommandFailed

FOLDER = ENVIRONMENTS / "trainer"
REQUIREMENTS = requirement_locks.TRAINER.source


def ensure_trainer(console: Console, *, folder: Path = FOLDER) -> Path:
    """The interpreter of the trainer's environment, made whole if it is not. Raises CommandFailed when it cannot be."""
    return Environment("the trainer", console, folder).ensure([requirement_locks.TRAINER.path, REQUIREMENTS], _fill)


def install_torch(environment: Environment) -> str:
    """Install the build of torch that this machine can use, and return it as a requirement.

    The plain build may bring gigabytes of CUDA that only a card can use. Raises CommandFailed.
    """
    plain = next(line for line in REQUIREMENTS.read_text().splitlines() if line.startswith("torch=="))
    builds = [plain] if shutil.which("nvidia-smi") else [f"{plain}+cpu", plain]
    for build in builds:
        try:
            environment.install(f"{build} (200 MB or more)", [build])
        except CommandFailed:
            if build == builds[-1]:
                raise
        else:
            return build
    raise AssertionError("the last build returns or raises")


def _fill(environment: Environment) -> None:
    # Locked packages first: of what torch needs they leave its own build alone to install.
    environment.install_locked("the trainer's packages", requirement_locks.TRAINER)
    install_torch(environment)
