"""The environment of OSWorld's own package, which sets its task files up and judges them."""

import sys
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.environments import ENVIRONMENTS, Environment
from annotation_app.operations.locks import setup_lock
from annotation_app.operations.stack import ROOT
from annotation_app.operations.stamps import digest_of, is_fresh, stamp
from annotation_app.operations.trainer import install_torch

FOLDER = ENVIRONMENTS / "osworld"
REQUIREMENTS = ROOT / "vm_bridge" / "hosts" / "osworld_requirements.txt"
OCR = REQUIREMENTS.with_name("osworld_ocr_requirements.txt")
PACKAGE = "desktop-env=="


def ensure_osworld(console: Console, *, ocr: bool = False, folder: Path = FOLDER) -> Path:
    """The interpreter of that environment, made whole if it is not; with `ocr` it reads text in pictures too.

    Raises CommandFailed when it cannot be made.
    """
    environment = Environment("OSWorld's package", console, folder)
    python = environment.ensure([REQUIREMENTS], _fill)
    if ocr:
        with setup_lock(folder.with_suffix(".ocr.lock"), console):
            _add_ocr(environment)
    return python


def _fill(environment: Environment) -> None:
    """Install the package without its dependencies, and the ones that its judging half imports."""
    packages = environment.folder / "requirements.txt"
    packages.write_text(_packages())
    environment.install("what it imports (1.3 GB on disk)", ["--requirement", str(packages)], compiled=True)
    own = next(line for line in REQUIREMENTS.read_text().splitlines() if line.startswith(PACKAGE))
    environment.install(own, ["--no-deps", own], compiled=True)


def _add_ocr(environment: Environment) -> None:
    done, digest = environment.folder / "ocr.stamp", digest_of([OCR], salt=sys.version)
    if is_fresh(done, digest):
        return
    bounds = environment.folder / "ocr-constraints.txt"
    bounds.write_text(f"{install_torch(environment)}\n{_packages()}")
    environment.install("EasyOCR (100 MB)", ["--constraint", str(bounds), "--requirement", str(OCR)], compiled=True)
    stamp(done, digest)


def _packages() -> str:
    """The requirements without the package itself."""
    return "\n".join(line for line in REQUIREMENTS.read_text().splitlines() if not line.startswith(PACKAGE))
