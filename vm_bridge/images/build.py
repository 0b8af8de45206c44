"""Makes an image's folder ready to be mounted: its files, the guest's code and the guest's libraries."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from vm_bridge.errors import NoMachine
from vm_bridge.images.manifest import MANIFEST_FILE, read_manifest
from vm_bridge.python_packages import Command, locked_install

PACKAGE = Path(__file__).parent.parent
IMAGES = PACKAGE / "images"
GUEST_SOURCES = (
    "__init__.py",
    "settle.py",
    "guest/__init__.py",
    *(
        path.relative_to(PACKAGE).as_posix()
        for folder in ("common", "linux")
        for path in sorted((PACKAGE / "guest" / folder).rglob("*.py"))
    ),
)
"""What of this package runs inside every sandbox."""
REQUIREMENTS = PACKAGE / "guest" / "requirements.lock"
IMAGE_REQUIREMENTS = "requirements.lock"
"""In an image's folder: what its programs need beside the guest's packages."""
GUEST_PYTHON = "/usr/bin/python3"
"""The distribution's Python: unlike the developer's it can be read by every user."""
INSTALL_SECONDS = 300
KEEP_FILE = ".keep"
"""Stands in the repository for a folder without files, and is left out of images."""
FOLDERS = ("home", "etc", "tools")
"""What every image has, empty or not."""
HOME_TIME = 1_767_225_600
"""Modification time of every file of an image's home folder: the start of 2026 in UTC, in seconds. The desktop orders
its icons by time and then by name, so the times of a checkout must not decide."""


def prepare_image(name: str, data: Path, installed: Path | None = None) -> Path:
    """The folder of an image, as `installed` has it or under `data`: made there on first use and whenever its sources
    change.

    Raises NoMachine when there is no such image or the guest's libraries cannot be installed.
    """
    if name not in list_images():
        raise NoMachine(f"there is no image {name!r}; there are {', '.join(list_images())}")
    place = Path("images", f"{name}-{_fingerprint(name)}")
    if installed is not None and (installed / place).is_dir():
        return installed / place
    folder = data / place
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=folder.parent) as scratch:
            made = Path(scratch) / "image"
            _make(name, made)
            try:
                made.rename(folder)
            except OSError:
                if not folder.is_dir():  # otherwise another process was faster
                    raise
    return folder


def list_images() -> tuple[str, ...]:
    """Every image there is."""
    return tuple(sorted(path.name for path in IMAGES.iterdir() if (path / MANIFEST_FILE).is_file()))


def _make(name: str, folder: Path) -> None:
    base = read_manifest(IMAGES / name).base
    if base is not None:
        for part in ("home", "etc"):
            shutil.copytree(IMAGES / base / part, folder / part, ignore=shutil.ignore_patterns("Desktop"))
    shutil.copytree(IMAGES / name, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(KEEP_FILE))
    for needed in FOLDERS:
        (folder / needed).mkdir(exist_ok=True)
    for path in (folder / "home").rglob("*"):
        os.utime(path, (HOME_TIME, HOME_TIME), follow_symlinks=False)
    site = folder / "site"
    for source in _sources(name):
        target = site / "vm_bridge" / source
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PACKAGE / source, target)
    for lock in (REQUIREMENTS, folder / IMAGE_REQUIREMENTS):
        if lock.exists():
            run_command_step(locked_install(sys.executable, lock, "--quiet", "--target", str(site)))
    # The image is mounted read-only, so the guest could not keep compiled files itself.
    run_step(GUEST_PYTHON, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", str(site))
    make_readable(folder)


def _sources(name: str) -> tuple[str, ...]:
    """What of this package runs inside the sandboxes of an image."""
    modules = read_manifest(IMAGES / name).modules
    own = {path for module in modules for path in (PACKAGE / module).rglob("*.py")}
    packages = {PACKAGE / parent / "__init__.py" for module in modules for parent in Path(module).parents[:-1]}
    return (*GUEST_SOURCES, *(path.relative_to(PACKAGE).as_posix() for path in sorted(own | packages)))


def run_step(*words: str, folder: Path | None = None) -> None:
    """Do one step of making an image. Raises NoMachine with what it said when it fails."""
    run_command_step(Command(words), folder)


def run_command_step(command: Command, folder: Path | None = None) -> None:
    """The same with what the command needs in its environment."""
    done = subprocess.run(
        command.words,
        env=command.merged_environment(),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=INSTALL_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise NoMachine(f"cannot prepare the image: {command.words[0]} failed: {done.stderr.strip()[-500:]}")


def make_readable(folder: Path) -> None:
    """Sandboxes run as users of their own: everything must be readable whatever the umask was."""
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent, name)
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
    folder.chmod(0o755)


def _fingerprint(name: str) -> str:
    sums = hashlib.sha256()
    base = read_manifest(IMAGES / name).base
    folders = [IMAGES / each for each in (name, base) if each is not None]
    sources = [*(PACKAGE / source for source in _sources(name)), REQUIREMENTS]
    sources += [path for folder in folders for path in folder.rglob("*")]
    for path in sorted(sources):
        if path.is_file():
            sums.update(f"{path.relative_to(PACKAGE)} {path.stat().st_mode:o}\n".encode() + path.read_bytes())
    return sums.hexdigest()[:16]
