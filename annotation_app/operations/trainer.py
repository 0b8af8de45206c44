"""The trainer's environment: torch and what goes with it, beside the platform's own and made when first asked for."""

import shutil
import sys
from pathlib import Path

from annotation_app.operations.commands import run
from annotation_app.operations.console import Console
from annotation_app.operations.errors import CommandFailed
from annotation_app.operations.locks import setup_lock
from annotation_app.operations.stack import ROOT
from annotation_app.operations.stamps import digest_of, is_fresh, stamp
from annotation_app.operations.virtual_environments import python_of, remake_environment, runs

FOLDER = ROOT / ".data" / "venvs" / "trainer"
LOCK = ROOT / ".data" / "trainer.lock"
LOG = ROOT / ".data" / "logs" / "trainer-setup.log"
REQUIREMENTS = ROOT / "trainer" / "requirements.txt"
HINT = "Is a package index reachable? `pip config list` shows the one in use."


def ensure_trainer(console: Console, *, folder: Path = FOLDER) -> Path:
    """The interpreter of the trainer's environment, made whole if it is not. OperationsError when it cannot be."""
    python = python_of(folder)
    done = folder / "requirements.stamp"
    digest = digest_of([REQUIREMENTS], salt=sys.version)
    with setup_lock(LOCK, console):
        if is_fresh(done, digest) and runs(python):
            return python
        remake_environment(folder, what="Making the trainer's environment", console=console, log=LOG)
        # What is imported is compiled then; to compile all of it takes longer than to unpack it.
        pip = [str(python), "-m", "pip", "install", "--no-compile", "--disable-pip-version-check"]
        torch = install_torch(pip, console)
        bounds = folder / "constraints.txt"
        bounds.write_text(f"{torch}\n")
        run("Installing the trainer's packages (about a minute)",
            [*pip, "--constraint", str(bounds), "--requirement", str(REQUIREMENTS)],
            console=console, log=LOG, hint=HINT)  # fmt: skip
        stamp(done, digest)
    return python


def install_torch(pip: list[str], console: Console) -> str:
    """Install the build this machine can use; the plain one may bring gigabytes of CUDA that only a card can use."""
    plain = next(line for line in REQUIREMENTS.read_text().splitlines() if line.startswith("torch=="))
    builds = [plain] if shutil.which("nvidia-smi") else [f"{plain}+cpu", plain]
    for build in builds:
        try:
            run(f"Installing {build} (200 MB or more)", [*pip, build], console=console, log=LOG, hint=HINT)
        except CommandFailed:
            if build == builds[-1]:
                raise
        else:
            return build
    raise AssertionError("the last build returns or raises")
