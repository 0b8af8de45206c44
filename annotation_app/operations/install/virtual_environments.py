"""Virtual environments: create one, add pip to one without it, and check whether one works."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.install.command_runner import run_with_progress
from annotation_app.operations.install.system_packages import SystemPackage, ensure_system_packages

MIN_PYTHON_VERSION = (3, 11)
VERSION_CODE = "import sys; print(*sys.version_info[:2])"
LIBRARY_CODE = "import sysconfig; print(sysconfig.get_path('stdlib'))"
PROBE_TIMEOUT_SECONDS = 60


def environment_python(folder: Path) -> Path:
    """The interpreter path of an environment; it may not exist."""
    return folder / "bin" / "python"


def python_runs(python: Path, code: str = "") -> bool:
    """Whether an interpreter runs `code` without an error; False also if it does not exist."""
    return _output(python, code) is not None


def create_venv(folder: Path, *, what: str, console: Console, log: Path) -> None:
    """Create an environment with pip, using the running Python, in a folder that is missing or empty.

    If that Python has no `ensurepip`, uv creates it. If there is no uv either, Debian's package with `ensurepip` is
    installed first. Raises OperationsError with the missing package; CommandFailed when a command fails.
    """
    python, uv = Path(sys.executable), shutil.which("uv")
    if uv and not python_runs(python, "import ensurepip"):
        command = [uv, "venv", "--seed", "--python", str(python), str(folder)]
    else:
        _ensure_ensurepip(python, console, log)
        command = [str(python), "-m", "venv", str(folder)]
    run_with_progress(what, command, console=console, log=log)


def recreate_venv(folder: Path, *, what: str, console: Console, log: Path) -> None:
    """Create an environment of the project in place of an existing one. Raises what `create_venv` does."""
    shutil.rmtree(folder, ignore_errors=True)
    create_venv(folder, what=what, console=console, log=log)


def ensure_venv(folder: Path, *, console: Console, log: Path) -> Path:
    """The interpreter of a person's environment with pip in it. Nothing is deleted.

    A missing environment is created. One without pip gets it. One whose interpreter does not run is moved aside, with
    a message. Raises OperationsError if its Python is too old or it cannot be created, CommandFailed if a command
    fails.
    """
    python = environment_python(folder)
    if _exists(folder) and not python_runs(python):
        aside = _move_aside(folder)
        console.warn(f"The interpreter of {folder.name} does not run. The folder is now {aside}; a new one is made.")
    if not _exists(folder):
        create_venv(folder, what=f"Making the Python environment {folder.name}", console=console, log=log)
    version = tuple(map(int, (_output(python, VERSION_CODE) or "0").split()))
    if version < MIN_PYTHON_VERSION:
        wanted, found = (".".join(map(str, each)) for each in (MIN_PYTHON_VERSION, version))
        raise OperationsError(
            f"{folder} has Python {found}; Pilothouse needs {wanted} or newer.",
            hint="Move it away, then start again.",
        )
    if not python_runs(python, "import pip"):
        _ensure_pip(folder, console, log)
    return python


def _ensure_pip(folder: Path, console: Console, log: Path) -> None:
    python, uv, what = environment_python(folder), shutil.which("uv"), f"Adding pip to {folder.name}"
    if uv and not python_runs(python, "import ensurepip"):
        command = [uv, "pip", "install", "--python", str(python), "pip"]
    else:
        _ensure_ensurepip(python, console, log)
        command = [str(python), "-m", "ensurepip"]
    run_with_progress(what, command, console=console, log=log)


def _ensure_ensurepip(python: Path, console: Console, log: Path) -> None:
    """Debian packages `ensurepip` separately from Python."""
    if python_runs(python, "import ensurepip"):
        return
    version, library = (_output(python, code) or "" for code in (VERSION_CODE, LIBRARY_CODE))
    package = f"python{'.'.join(version.split())}-venv"
    ensure_system_packages(console, log, [SystemPackage(package, files=(f"{library.strip()}/ensurepip/__init__.py",))])


def _exists(folder: Path) -> bool:
    """Whether anything exists at this path; an empty folder does not count."""
    if folder.is_dir():
        return any(folder.iterdir())
    return os.path.lexists(folder)


def _move_aside(folder: Path) -> Path:
    names = (f"{folder.name}-broken{number}" for number in ("", *(f"-{count}" for count in range(2, 100))))
    aside = next(path for path in map(folder.with_name, names) if not os.path.lexists(path))
    try:
        return folder.rename(aside)
    except OSError as error:
        raise OperationsError(
            f"The interpreter of {folder} does not run, and the folder cannot be moved aside: {error}",
            hint="Move it away, then start again.",
        ) from error


def _output(python: Path, code: str) -> str | None:
    try:
        done = subprocess.run(
            [python, "-c", code], capture_output=True, text=True, timeout=PROBE_TIMEOUT_SECONDS, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if done.returncode else done.stdout
