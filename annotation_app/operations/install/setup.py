"""Install everything that a machine lacks: system packages, Python packages, the built front-end. Rerunning skips
finished steps."""

import enum
import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.errors import CommandFailed, OperationsError
from annotation_app.operations.file_locks import setup_lock
from annotation_app.operations.install import requirement_locks
from annotation_app.operations.install.command_runner import run_with_progress
from annotation_app.operations.install.extra_environments import INSTALL_HINT, ensure_trainer
from annotation_app.operations.install.frontend import ensure_frontend
from annotation_app.operations.install.stamps import digest_files, is_fresh, write_stamp
from annotation_app.operations.install.system_packages import (
    DEVELOPMENT_PACKAGES,
    RUN_PACKAGES,
    SystemPackage,
    ensure_system_packages,
)
from annotation_app.operations.runtime.stack import ROOT, TOOLS_FOLDER
from vm_bridge.python_packages import locked_install

SETUP_LOG = ROOT / ".data" / "logs" / "setup.log"
SETUP_LOCK_FILE = ROOT / ".data" / "setup.lock"
PROBE_TIMEOUT_SECONDS = 20
SANDBOX_PROBE = ("bwrap", "--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true")
SANDBOX_HINT = """\
Desktops live in user namespaces, and this system forbids them. Allow them, then start again:
  Ubuntu 24.04 and later:  sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0
  older Debian kernels:    sudo sysctl kernel.unprivileged_userns_clone=1
  inside Docker:           docker run --privileged …
"""


class SetupPurpose(enum.Enum):
    """The purpose of a setup, as the locked requirements that it needs."""

    RUN = requirement_locks.RUN_LOCK
    DEVELOP = requirement_locks.DEVELOPMENT_LOCK


def ensure_setup(
    purpose: SetupPurpose, console: Console, *, trainer: bool = False, packages: Sequence[SystemPackage] | None = None
) -> None:
    """Prepare the machine. Independent steps run in parallel.

    Args:
        purpose: Determines the Python packages and system packages.
        trainer: Whether the trainer's environment is needed.
        packages: System packages instead of those of the purpose.

    Raises:
        OperationsError: Something is missing. The message says what to do.
    """
    with setup_lock(SETUP_LOCK_FILE, console):
        ensure_system_packages(
            console, SETUP_LOG, packages or (DEVELOPMENT_PACKAGES if purpose is SetupPurpose.DEVELOP else RUN_PACKAGES)
        )
        ensure_python_packages(purpose, console)
        steps: list[Callable[[], object]] = [
            partial(ensure_frontend, console, SETUP_LOG),
            partial(ensure_tools, console),
        ]
        if trainer:
            steps.append(partial(ensure_trainer, console))
        with ThreadPoolExecutor(len(steps)) as threads:
            for step in [threads.submit(step) for step in steps]:
                step.result()
    ensure_sandboxes()


def ensure_python_packages(purpose: SetupPurpose, console: Console) -> None:
    """The pinned packages in the running virtual environment. Raises CommandFailed.

    The development packages include the runtime packages. If they are installed, this does nothing.
    """
    lock = purpose.value
    digest, done = _python_stamp(lock)
    if is_fresh(done, digest):
        return
    if purpose is SetupPurpose.RUN:
        development, stamp = _python_stamp(SetupPurpose.DEVELOP.value)
        if is_fresh(stamp, development):
            return
    ensure_uv(console)
    command = locked_install(sys.executable, lock.path)
    what = f"Installing the Python packages of {lock.source.name}"
    run_with_progress(
        what, command.words, console=console, log=SETUP_LOG, environment=command.environment, hint=INSTALL_HINT
    )
    write_stamp(done, digest)


def _python_stamp(lock: requirement_locks.RequirementLock) -> tuple[str, Path]:
    """The digest of a lock's packages, and the stamp file that records their installation."""
    return digest_files([lock.checked_path()], salt=sys.version), Path(sys.prefix) / f"{lock.source.name}.stamp"


def ensure_uv(console: Console) -> None:
    """The locked uv, which installs everything else. If it is unavailable, pip is used."""
    if importlib.util.find_spec("uv"):
        return
    with tempfile.NamedTemporaryFile("w", prefix="uv-", suffix=".txt") as only:
        only.write(requirement_locks.RUN_LOCK.block("uv"))
        only.flush()
        command = locked_install(sys.executable, Path(only.name))
        try:
            run_with_progress(
                "Installing uv", command.words, console=console, log=SETUP_LOG, environment=command.environment
            )
        except CommandFailed as error:
            console.warn(f"{error} Packages are installed by pip, which takes minutes.")
    importlib.invalidate_caches()


def ensure_tools(console: Console) -> None:
    """The images of the desktops and their tools, Jupyter and the code editor. Raises CommandFailed.

    A bridge makes missing ones when it first starts a desktop, which then has to wait.
    """
    command = [sys.executable, "-m", "vm_bridge.images", str(TOOLS_FOLDER)]
    run_with_progress(
        "Preparing the desktops' images and tools (700 MB the first time)", command, console=console, log=SETUP_LOG
    )


def ensure_sandboxes() -> None:
    """Create namespaces without privileges, as every desktop does. Raises OperationsError if the system refuses."""
    if not shutil.which("bwrap"):
        raise OperationsError("bubblewrap is not installed.", hint="Install the package `bubblewrap`.")
    nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups") if os.geteuid() == 0 else ()
    probe = subprocess.run(
        (*nobody, *SANDBOX_PROBE), capture_output=True, text=True, timeout=PROBE_TIMEOUT_SECONDS, check=False
    )
    if probe.returncode:
        raise OperationsError(f"User namespaces are forbidden here: {probe.stderr.strip()}", hint=SANDBOX_HINT)
