"""The environment of OSWorld's own package, which sets its task files up and judges them."""

import sys
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.environments import ENVIRONMENTS, Environment
from annotation_app.operations.locks import setup_lock
from annotation_app.operations.requirement_locks import OSWORLD, OSWORLD_PACKAGE
from annotation_app.operations.stamps import digest_of, is_fresh, stamp
from annotation_app.operations.trainer import install_torch

FOLDER = ENVIRONMENTS / "osworld"
OCR = OSWORLD.source.with_name("osworld_ocr_requirements.txt")


def ensure_osworld(console: Console, *, ocr: bool = False, folder: Path = FOLDER) -> Path:
    """The interpreter of that environment, made whole if it is not; with `ocr` it reads text in pictures too.

    Raises CommandFailed when it cannot be made.
    """
    environment = Environment("OSWorld's package", console, folder)
    python = environment.ensure([OSWORLD.path, OSWORLD_PACKAGE.path], _fill)
    if ocr:
        with setup_lock(folder.with_suffix(".ocr.lock"), console):
            _add_ocr(environment)
    return python


def _fill(environment: Environment) -> None:
    """Install the package without its dependencies, and the ones that its judging half imports."""
    environment.install_locked("what it imports (1.3 GB on disk)", OSWORLD, compiled=True)
    environment.install_locked("OSWorld's package", OSWORLD_PACKAGE, compiled=True)


def _add_ocr(environment: Environment) -> None:
    done, digest = environment.folder / "ocr.stamp", digest_of([OCR], salt=sys.version)
    if is_fresh(done, digest):
        return
    bounds = environment.folder / "ocr-constraints.txt"
    bounds.write_text(f"{install_torch(environment)}\n{OSWORLD.source.read_text()}")
    environment.install("EasyOCR (100 MB)", ["--constraint", str(bounds), "--requirement", str(OCR)], compiled=True)
    stamp(done, digest)
