"""The environment that the consumers of exports run in: made when a test first asks for it, beside the trainer's, whose
torch it uses.

harbor asks for Python 3.12 for its servers; its validator, which is all that is run of it, is content with 3.11.
LLaMA-Factory imports torchaudio, of which no picture needs anything: an empty module stands for it.
"""

import subprocess
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.install.extra_environments import (
    ENVIRONMENTS_FOLDER,
    INSTALL_HINT,
    PythonEnvironment,
    ensure_trainer,
)
from vm_bridge.python_packages import PIP, Command

FOLDER = ENVIRONMENTS_FOLDER / "consumers"
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
LIBRARY = "import sysconfig; print(sysconfig.get_paths()['purelib'])"


def ensure_consumers(console: Console, *, folder: Path = FOLDER) -> Path:
    """The interpreter of the consumers' environment, made if missing. Raises CommandFailed when it cannot be."""
    trainer = ensure_trainer(console)

    def fill(environment: PythonEnvironment) -> None:
        # By pip: uv cannot be told to ignore the Python that a package asks for.
        install = (*PIP, "--python", str(environment.python), "install", "--no-compile", "--no-deps")
        command = Command((*install, "--ignore-requires-python", "--requirement", str(REQUIREMENTS)))
        environment.run("Installing what reads exports", command, hint=INSTALL_HINT)
        library = _library(environment.python)
        (library / "trainer.pth").write_text(f"{_library(trainer)}\n")
        (library / "torchaudio.py").write_text('"""Nothing: no picture needs sound."""\n')

    return PythonEnvironment("the exports' consumers", console, folder).ensure([REQUIREMENTS, Path(__file__)], fill)


def _library(python: Path) -> Path:
    """Where an interpreter has its packages."""
    return Path(subprocess.run([python, "-c", LIBRARY], capture_output=True, text=True, check=True).stdout.strip())
