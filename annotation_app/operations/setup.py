"""Everything a machine lacks, installed: system packages, Python packages, the built front-end; nothing twice."""

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

from annotation_app.operations import requirement_locks
from annotation_app.operations.commands import run
from annotation_app.operations.console import Console
from annotation_app.operations.environments import HINT
from annotation_app.operations.errors import CommandFailed, OperationsError
from annotation_app.operations.frontend import ensure_frontend
from annotation_app.operations.locks import setup_lock
from annotation_app.operations.packages import DEVELOPMENT, NEEDS, Need, ensure_packages
from annotation_app.operations.stack import ROOT, TOOLS
from annotation_app.operations.stamps import digest_of, is_fresh, stamp
from annotation_app.operations.trainer import ensure_trainer
from vm_bridge.python_packages import locked_install

LOG = ROOT / ".data" / "logs" / "setup.log"
LOCK = ROOT / ".data" / "setup.lock"
PROBE_SECONDS = 20
SANDBOX_PROBE = ("bwrap", "--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true")
SANDBOX_HINT = """\
Desktops live in user namespaces, and this system forbids them. Allow them, then start again:
  Ubuntu 24.04 and later:  sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0
  older Debian kernels:    sudo sysctl kernel.unprivileged_userns_clone=1
  inside Docker:           docker run --privileged …
"""


class Purpose(enum.Enum):
    """What a set-up is for, as the locked requirements it needs."""

    RUN = requirement_locks.RUN
    DEVELOP = requirement_locks.DEVELOP


def ensure_setup(
    purpose: Purpose, console: Console, *, trainer: bool = False, needs: Sequence[Need] | None = None
) -> None:
    """Make the machine ready. Steps that do not need each other run side by side.

    Args:
        purpose: Whose Python packages and system packages are needed.
        trainer: Whether the trainer's environment is.
        needs: System packages instead of those of the purpose.

    Raises:
        OperationsError: It says what is missing and what to do.
    """
    with setup_lock(LOCK, console):
        ensure_packages(console, LOG, needs or (DEVELOPMENT if purpose is Purpose.DEVELOP else NEEDS))
        ensure_python_packages(purpose, console)
        steps: list[Callable[[], object]] = [partial(ensure_frontend, console, LOG), partial(ensure_tools, console)]
        if trainer:
            steps.append(partial(ensure_trainer, console))
        with ThreadPoolExecutor(len(steps)) as threads:
            for step in [threads.submit(step) for step in steps]:
                step.result()
    ensure_sandboxes()


def ensure_python_packages(purpose: Purpose, console: Console) -> None:
    """The pinned packages in the running virtual environment. Raises CommandFailed."""
    lock = purpose.value
    digest = digest_of([lock.checked_path()], salt=sys.version)
    done = Path(sys.prefix) / f"{lock.source.name}.stamp"
    if is_fresh(done, digest):
        return
    ensure_uv(console)
    command = locked_install(sys.executable, lock.path)
    what = f"Installing the Python packages of {lock.source.name}"
    run(what, command.words, console=console, log=LOG, environment=command.environment, hint=HINT)
    stamp(done, digest)


def ensure_uv(console: Console) -> None:
    """The locked uv, which installs everything else. Where it cannot be had, pip does."""
    if importlib.util.find_spec("uv"):
        return
    with tempfile.NamedTemporaryFile("w", prefix="uv-", suffix=".txt") as only:
        only.write(requirement_locks.RUN.block("uv"))
        only.flush()
        command = locked_install(sys.executable, Path(only.name))
        try:
            run("Installing uv", command.words, console=console, log=LOG, environment=command.environment)
        except CommandFailed as error:
            console.warn(f"{error} Packages are installed by pip, which takes minutes.")
    importlib.invalidate_caches()


def ensure_tools(console: Console) -> None:
    """The images of the desktops and their tools, Jupyter and the code editor. Raises CommandFailed.

    A bridge makes what is missing when it first starts a desktop, which then waits for it.
    """
    command = [sys.executable, "-m", "vm_bridge.images", str(TOOLS)]
    run("Preparing the desktops' images and tools (700 MB the first time)", command, console=console, log=LOG)


def ensure_sandboxes() -> None:
    """Really make namespaces, unprivileged as every desktop does; OperationsError when the system refuses."""
    if not shutil.which("bwrap"):
        raise OperationsError("bubblewrap is not installed.", hint="Install the package `bubblewrap`.")
    nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups") if os.geteuid() == 0 else ()
    probe = subprocess.run(
        (*nobody, *SANDBOX_PROBE), capture_output=True, text=True, timeout=PROBE_SECONDS, check=False
    )
    if probe.returncode:
        raise OperationsError(f"User namespaces are forbidden here: {probe.stderr.strip()}", hint=SANDBOX_HINT)
