"""The environment of OSWorld's own package, which sets its task files up and judges them; made when asked for."""

import sys
from pathlib import Path

from annotation_app.operations.commands import run
from annotation_app.operations.console import Console
from annotation_app.operations.locks import setup_lock
from annotation_app.operations.stack import ROOT
from annotation_app.operations.stamps import digest_of, is_fresh, stamp
from annotation_app.operations.trainer import install_torch
from annotation_app.operations.virtual_environments import python_of, remake_environment, runs

FOLDER = ROOT / ".data" / "venvs" / "osworld"
LOCK = ROOT / ".data" / "osworld.lock"
LOG = ROOT / ".data" / "logs" / "osworld-setup.log"
REQUIREMENTS = ROOT / "vm_bridge" / "hosts" / "osworld_requirements.txt"
OCR = REQUIREMENTS.with_name("osworld_ocr_requirements.txt")
PACKAGE = "desktop-env=="
HINT = "Is a package index reachable? `pip config list` shows the one in use."


def ensure_osworld(console: Console, *, ocr: bool = False, folder: Path = FOLDER) -> Path:
    """The interpreter of that environment, made whole if it is not; with `ocr` it reads text in pictures too.
    OperationsError when it cannot be."""
    python = python_of(folder)
    pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check"]
    with setup_lock(LOCK, console):
        done, digest = folder / "requirements.stamp", digest_of([REQUIREMENTS], salt=sys.version)
        if not is_fresh(done, digest) or not runs(python):
            _make(folder, pip, console)
            stamp(done, digest)
        done, digest = folder / "ocr.stamp", digest_of([OCR], salt=sys.version)
        if ocr and not is_fresh(done, digest):
            bounds = folder / "ocr-constraints.txt"
            bounds.write_text(f"{install_torch(pip, console)}\n{_packages()}")
            run("Installing EasyOCR (100 MB)", [*pip, "--constraint", str(bounds), "--requirement", str(OCR)],
                console=console, log=LOG, hint=HINT)  # fmt: skip
            stamp(done, digest)
    return python


def _make(folder: Path, pip: list[str], console: Console) -> None:
    """The package without what it asks for, and what its judging half imports."""
    remake_environment(folder, what="Making the environment of OSWorld's package", console=console, log=LOG)
    packages = folder / "requirements.txt"
    packages.write_text(_packages())
    run("Installing what it imports (1.3 GB on disk, one or two minutes)", [*pip, "--requirement", str(packages)],
        console=console, log=LOG, hint=HINT)  # fmt: skip
    own = next(line for line in REQUIREMENTS.read_text().splitlines() if line.startswith(PACKAGE))
    run(f"Installing {own}", [*pip, "--no-deps", own], console=console, log=LOG, hint=HINT)


def _packages() -> str:
    """All but the package itself."""
    return "\n".join(line for line in REQUIREMENTS.read_text().splitlines() if not line.startswith(PACKAGE))
