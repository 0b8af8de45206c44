"""The environment of OSWorld's own package, which sets its task files up and judges them; made when asked for."""

import sys
from pathlib import Path

from annotation_app.operations.commands import run
from annotation_app.operations.console import Console
from annotation_app.operations.locks import setup_lock
from annotation_app.operations.stack import ROOT
from annotation_app.operations.stamps import digest_of, is_fresh, stamp

FOLDER = ROOT / ".data" / "venvs" / "osworld"
LOCK = ROOT / ".data" / "osworld.lock"
LOG = ROOT / ".data" / "logs" / "osworld-setup.log"
REQUIREMENTS = ROOT / "vm_bridge" / "hosts" / "osworld_requirements.txt"
PACKAGE = "desktop-env=="
HINT = "Is a package index reachable? `pip config list` shows the one in use."


def ensure_osworld(console: Console, *, folder: Path = FOLDER) -> Path:
    """The interpreter of that environment, made whole if it is not. CommandFailed when it cannot be."""
    python, done = folder / "bin" / "python", folder / "requirements.stamp"
    digest = digest_of([REQUIREMENTS], salt=sys.version)
    with setup_lock(LOCK, console):
        if is_fresh(done, digest):
            return python
        run("Making the environment of OSWorld's package", [sys.executable, "-m", "venv", "--clear", str(folder)],
            console=console, log=LOG)  # fmt: skip
        lines = REQUIREMENTS.read_text().splitlines()
        packages = folder / "requirements.txt"
        packages.write_text("\n".join(line for line in lines if not line.startswith(PACKAGE)))
        pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check"]
        run("Installing what it imports (1.3 GB on disk, one or two minutes)", [*pip, "--requirement", str(packages)],
            console=console, log=LOG, hint=HINT)  # fmt: skip
        own = next(line for line in lines if line.startswith(PACKAGE))
        run(f"Installing {own}", [*pip, "--no-deps", own], console=console, log=LOG, hint=HINT)
        stamp(done, digest)
    return python
