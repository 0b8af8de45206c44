"""The environment that the consumers of exports run in: made when a test first asks for it, beside the trainer's, whose
torch it uses.

harbor asks for Python 3.12 for its servers; its validator, which is all that is run of it, is content with 3.11.
LLaMA-Factory imports torchaudio, of which no picture needs anything: an empty module stands for it.
"""

import subprocess
import sys
from pathlib import Path

from annotation_app.operations.commands import run
from annotation_app.operations.console import Console
from annotation_app.operations.locks import setup_lock
from annotation_app.operations.stack import ROOT
from annotation_app.operations.stamps import digest_of, is_fresh, stamp
from annotation_app.operations.trainer import ensure_trainer
from annotation_app.operations.virtual_environments import python_of, remake_environment, runs

FOLDER = ROOT / ".data" / "venvs" / "consumers"
LOCK = ROOT / ".data" / "consumers.lock"
LOG = ROOT / ".data" / "logs" / "consumers-setup.log"
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
HINT = "Is a package index reachable? `pip config list` shows the one in use."
LIBRARY = "import sysconfig; print(sysconfig.get_paths()['purelib'])"


def ensure_consumers(console: Console, *, folder: Path = FOLDER) -> Path:
    """The interpreter of the consumers' environment, made whole if it is not. OperationsError when it cannot be."""
    trainer = ensure_trainer(console)
    python, done = python_of(folder), folder / "requirements.stamp"
    digest = digest_of([REQUIREMENTS, Path(__file__)], salt=sys.version)
    with setup_lock(LOCK, console):
        if is_fresh(done, digest) and runs(python):
            return python
        remake_environment(folder, what="Making the environment of the exports' consumers", console=console, log=LOG)
        pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check"]
        run("Installing what reads exports (about a minute)",
            [*pip, "--no-deps", "--ignore-requires-python", "--requirement", str(REQUIREMENTS)],
            console=console, log=LOG, hint=HINT)  # fmt: skip
        library = _library(python)
        (library / "trainer.pth").write_text(f"{_library(trainer)}\n")
        (library / "torchaudio.py").write_text('"""Nothing: no picture needs sound."""\n')
        stamp(done, digest)
    return python


def _library(python: Path) -> Path:
    """Where an interpreter has its packages."""
    return Path(subprocess.run([python, "-c", LIBRARY], capture_output=True, text=True, check=True).stdout.strip())
