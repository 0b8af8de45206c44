"""Everything a machine lacks, installed: system packages, Python packages, the built front-end; nothing twice."""

import enum
import os
import shutil
import subprocess
import sys
from pathlib import Path

from annotation_app.operations.commands import run
from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.frontend import ensure_frontend
from annotation_app.operations.locks import setup_lock
from annotation_app.operations.packages import ensure_packages
from annotation_app.operations.stack import ROOT, TOOLS
from annotation_app.operations.stamps import digest_of, is_fresh, stamp

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
    """What a set-up is for, as the requirement file it needs."""

    RUN = "requirements.txt"
    DEVELOP = "requirements-dev.txt"


def ensure_setup(purpose: Purpose, console: Console) -> None:
    """Make the machine ready. OperationsError says what is missing and what to do."""
    with setup_lock(LOCK, console):
        ensure_packages(console, LOG)
        ensure_python_packages(purpose, console)
        ensure_frontend(console, LOG)
        ensure_tools(console)
    ensure_sandboxes()


def ensure_python_packages(purpose: Purpose, console: Console) -> None:
    """The pinned packages in the running virtual environment."""
    for wanted in (Purpose.RUN, purpose):
        requirements = ROOT / wanted.value
        sources = {ROOT / Purpose.RUN.value, requirements}
        digest = digest_of(sources, salt=sys.version)
        done = Path(sys.prefix) / f"{wanted.value}.stamp"
        if not is_fresh(done, digest):
            command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "-r", str(requirements)]
            what = f"Installing the Python packages of {wanted.value} (about a minute)"
            hint = "Is a package index reachable? `pip config list` shows the one in use."
            run(what, command, console=console, log=LOG, hint=hint)
            stamp(done, digest)


def ensure_tools(console: Console) -> None:
    """Jupyter and the code editor of the desktops; a first start of the bridge would make them otherwise."""
    command = [sys.executable, "-m", "vm_bridge.images.tools", str(TOOLS)]
    run("Making sure of the desktops' tools (about a minute the first time, 700 MB)", command, console=console, log=LOG)


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
