"""Additional Python environments: the trainer's, Ray's, OSWorld's and that of the client of Kubernetes.

Each is created when it is first needed, and recreated when its requirements change.
"""

import shutil
import sys
import sysconfig
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.errors import CommandFailed
from annotation_app.operations.file_locks import setup_lock
from annotation_app.operations.install import requirement_locks
from annotation_app.operations.install.command_runner import run_with_progress
from annotation_app.operations.install.requirement_locks import (
    CLUSTER_LOCK,
    KUBERNETES_LOCK,
    OSWORLD_LOCK,
    OSWORLD_PACKAGE_LOCK,
    RequirementLock,
)
from annotation_app.operations.install.stamps import digest_files, is_fresh, write_stamp
from annotation_app.operations.install.virtual_environments import environment_python, python_runs
from annotation_app.operations.runtime.stack import ROOT
from vm_bridge.python_packages import Command, create_environment, locked_install, pip_install

INSTALL_HINT = "Is a package index reachable? `pip config list` shows the one in use."
ENVIRONMENTS_FOLDER = ROOT / ".data" / "venvs"
Installer = Callable[["PythonEnvironment"], None]


@dataclass(frozen=True, slots=True)
class PythonEnvironment:
    """One environment: its name in messages, its folder, and where progress is shown."""

    name: str
    console: Console
    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return environment_python(self.folder)

    def ensure(self, sources: Iterable[Path], fill: Installer, *, salt: str = "") -> Path:
        """Create it, unless it works and was made from these `sources` by this Python. `fill` installs its packages.

        Returns its interpreter. Raises CommandFailed, and OperationsError when another setup does not end.
        """
        done, digest = self.folder / "requirements.stamp", digest_files(sources, salt=f"{sys.version} {salt}")
        with setup_lock(self.folder.with_suffix(".lock"), self.console):
            if not (is_fresh(done, digest) and python_runs(self.python)):
                self.run(f"Making the environment of {self.name}", create_environment(self.folder))
                fill(self)
                write_stamp(done, digest)
        return self.python

    def install(self, what: str, arguments: Sequence[str], *, compiled: bool = False) -> None:
        """Install packages; `arguments` are those that pip and uv share. Raises CommandFailed.

        Pass `compiled` if another user imports them who cannot write bytecode.
        """
        self.run(f"Installing {what}", pip_install(self.python, *arguments, compiled=compiled), hint=INSTALL_HINT)

    def install_locked(self, what: str, lock: RequirementLock, *, compiled: bool = False) -> None:
        """Install exactly what a lock names. Raises CommandFailed, and OperationsError when the lock is stale.

        Pass `compiled` if another user imports them who cannot write bytecode.
        """
        command = locked_install(self.python, lock.checked_path(), compiled=compiled)
        self.run(f"Installing {what}", command, hint=INSTALL_HINT)

    def run(self, what: str, command: Command, *, hint: str = "") -> None:
        """One step, with its progress. Raises CommandFailed."""
        log = ROOT / ".data" / "logs" / f"{self.folder.name}-setup.log"
        run_with_progress(
            what, command.words, console=self.console, log=log, environment=command.environment, hint=hint
        )


TRAINER_FOLDER = ENVIRONMENTS_FOLDER / "trainer"
TRAINER_REQUIREMENTS = requirement_locks.TRAINER_LOCK.source


def ensure_trainer(console: Console, *, folder: Path = TRAINER_FOLDER) -> Path:
    """The interpreter of the trainer's environment, created or completed if necessary. Raises CommandFailed if that
    fails."""
    return PythonEnvironment("the trainer", console, folder).ensure(
        [requirement_locks.TRAINER_LOCK.path, TRAINER_REQUIREMENTS], _install_trainer
    )


def install_torch(environment: PythonEnvironment) -> str:
    """Install the build of torch that this machine can use, and return it as a requirement.

    The plain build may include gigabytes of CUDA libraries that only a GPU can use. Raises CommandFailed.
    """
    plain = next(line for line in TRAINER_REQUIREMENTS.read_text().splitlines() if line.startswith("torch=="))
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


def _install_trainer(environment: PythonEnvironment) -> None:
    # Locked packages first, so that torch installs only its own build.
    environment.install_locked("the trainer's packages", requirement_locks.TRAINER_LOCK)
    install_torch(environment)


RAY_FOLDER = ENVIRONMENTS_FOLDER / "ray"


def ensure_ray(console: Console, *, folder: Path = RAY_FOLDER) -> Path:
    """The interpreter of Ray's environment, created or completed if necessary. It also sees the platform's packages.

    Raises CommandFailed if that fails.
    """
    platform = sysconfig.get_paths()["purelib"]

    def fill(environment: PythonEnvironment) -> None:
        environment.install_locked("Ray (70 MB)", CLUSTER_LOCK)
        library = sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)})
        Path(library, "platform.pth").write_text(f"{platform}\n")

    return PythonEnvironment("Ray", console, folder).ensure([CLUSTER_LOCK.path], fill, salt=platform)


KUBERNETES_FOLDER = ENVIRONMENTS_FOLDER / "kubernetes"


def load_kubernetes(console: Console, *, folder: Path = KUBERNETES_FOLDER) -> None:
    """Let this process import the client of Kubernetes, from an environment that is made if necessary. Packages of the
    platform come first.

    Raises CommandFailed if that fails.
    """

    def fill(environment: PythonEnvironment) -> None:
        environment.install_locked("the client of Kubernetes (20 MB)", KUBERNETES_LOCK)

    PythonEnvironment("the client of Kubernetes", console, folder).ensure([KUBERNETES_LOCK.path], fill)
    library = sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)})
    if library not in sys.path:
        sys.path.append(library)


OSWORLD_FOLDER = ENVIRONMENTS_FOLDER / "osworld"
OCR_REQUIREMENTS = OSWORLD_LOCK.source.with_name("osworld_ocr_requirements.txt")


def ensure_osworld(console: Console, *, ocr: bool = False, folder: Path = OSWORLD_FOLDER) -> Path:
    """The interpreter of OSWorld's environment, created or completed if necessary. With `ocr` it also reads text in
    pictures.

    Raises CommandFailed if that fails.
    """
    environment = PythonEnvironment("OSWorld's package", console, folder)
    python = environment.ensure([OSWORLD_LOCK.path, OSWORLD_PACKAGE_LOCK.path], _install_osworld)
    if ocr:
        with setup_lock(folder.with_suffix(".ocr.lock"), console):
            _install_ocr(environment)
    return python


def _install_osworld(environment: PythonEnvironment) -> None:
    """Install the package without its dependencies, and the dependencies that its evaluators import."""
    environment.install_locked("what it imports (1.3 GB on disk)", OSWORLD_LOCK, compiled=True)
    environment.install_locked("OSWorld's package", OSWORLD_PACKAGE_LOCK, compiled=True)


def _install_ocr(environment: PythonEnvironment) -> None:
    done, digest = environment.folder / "ocr.stamp", digest_files([OCR_REQUIREMENTS], salt=sys.version)
    if is_fresh(done, digest):
        return
    bounds = environment.folder / "ocr-constraints.txt"
    bounds.write_text(f"{install_torch(environment)}\n{OSWORLD_LOCK.source.read_text()}")
    environment.install(
        "EasyOCR (100 MB)", ["--constraint", str(bounds), "--requirement", str(OCR_REQUIREMENTS)], compiled=True
    )
    write_stamp(done, digest)
