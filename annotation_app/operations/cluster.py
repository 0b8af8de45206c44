"""Ray's environment: what tests and benchmarks place hosts with, made when first asked for."""

import sys
import sysconfig
from pathlib import Path

from annotation_app.operations.commands import run
from annotation_app.operations.console import Console
from annotation_app.operations.locks import setup_lock
from annotation_app.operations.stack import ROOT
from annotation_app.operations.stamps import digest_of, is_fresh, stamp
from annotation_app.operations.virtual_environments import python_of, remake_environment, runs

FOLDER = ROOT / ".data" / "venvs" / "ray"
LOCK = ROOT / ".data" / "ray.lock"
LOG = ROOT / ".data" / "logs" / "ray-setup.log"
REQUIREMENTS = ROOT / "vm_bridge" / "cluster" / "requirements.txt"
HINT = "Is a package index reachable? `pip config list` shows the one in use."


def ensure_ray(console: Console, *, folder: Path = FOLDER) -> Path:
    """The interpreter of Ray's environment, made whole if it is not; it sees the platform's packages behind its own.
    OperationsError when it cannot be made."""
    python, done = python_of(folder), folder / "requirements.stamp"
    platform = sysconfig.get_paths()["purelib"]
    digest = digest_of([REQUIREMENTS], salt=f"{sys.version} {platform}")
    with setup_lock(LOCK, console):
        if is_fresh(done, digest) and runs(python):
            return python
        remake_environment(folder, what="Making Ray's environment", console=console, log=LOG)
        run("Installing Ray (70 MB)",
            [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--requirement", str(REQUIREMENTS)],
            console=console, log=LOG, hint=HINT)  # fmt: skip
        library = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
        (library / "platform.pth").write_text(f"{platform}\n")
        stamp(done, digest)
    return python
