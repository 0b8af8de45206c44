"""`./pilothouse` in a folder of its own: which commands make `.venv`, and what becomes of one that is there."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from annotation_app.operations.install.virtual_environments import environment_python, python_runs
from annotation_app.operations.runtime.stack import ROOT

COMMANDS = (
    "demo",
    "serve",
    "test",
    "setup",
    "check",
    "types",
    "manage",
    "backup",
    "restore",
    "flywheel",
    "osworld",
    "bench",
)
INSTALLING = ("bench", "no-such-benchmark")
"""Ends after the environment is there, with nothing installed into it."""
BOUND = 100.0

pytestmark = pytest.mark.skipif(
    not python_runs(Path("/usr/bin/python3"), "import sys, ensurepip; assert sys.version_info >= (3, 11)"),
    reason="needs /usr/bin/python3 from 3.11 on, with ensurepip",
)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What the script needs of this repository; a benchmark cannot be found there."""
    package = tmp_path / "annotation_app"
    package.mkdir()
    shutil.copy(ROOT / "pilothouse", tmp_path)
    shutil.copy(ROOT / "annotation_app" / "__init__.py", package)
    shutil.copytree(
        ROOT / "annotation_app" / "operations", package / "operations", ignore=shutil.ignore_patterns("__pycache__")
    )
    for name in (
        "vm_bridge/__init__.py",
        "vm_bridge/host_keys.py",
        "vm_bridge/python_packages.py",
        "protocol/__init__.py",
        "protocol/legacy_names.py",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def pilothouse(clone: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [clone / "pilothouse", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=BOUND,
        check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "words", [(), ("-h",), ("--help",), *((command, "--help") for command in COMMANDS)], ids=" ".join
)
def test_help_needs_no_environment(clone: Path, words: tuple[str, ...]) -> None:
    done = pilothouse(clone, *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: ./pilothouse")
    assert not (clone / ".venv").exists()


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("no-such-command",), 2, "invalid choice"),
        (("flywheel", "--cicles", "2"), 2, "unknown: --cicles"),
        (("serve",), 1, "no working Python environment"),
        (("manage", "run_flywheel", "--help"), 1, "no working Python environment"),
        (("backup", "copy"), 1, "There is no installation"),
        (("restore", "copy"), 1, "is no backup"),
    ],
)
def test_what_installs_nothing_makes_no_environment(
    clone: Path, words: tuple[str, ...], status: int, said: str
) -> None:
    done = pilothouse(clone, *words)
    assert done.returncode == status
    assert said in done.stdout + done.stderr
    assert not (clone / ".venv").exists()


def test_a_missing_environment_is_made(clone: Path) -> None:
    (clone / ".venv").mkdir()  # an empty folder is none: it may be a mount
    done = pilothouse(clone, *INSTALLING)
    assert done.returncode == 1
    assert "There is no benchmark" in done.stdout
    assert python_runs(environment_python(clone / ".venv"), "import pip")


def test_an_environment_without_pip_is_kept_and_given_pip(clone: Path) -> None:
    folder = clone / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (folder / "own").touch()
    assert "--help" in pilothouse(clone, "--help").stdout
    assert not python_runs(environment_python(folder), "import pip")
    done = pilothouse(clone, *INSTALLING)
    assert "Adding pip to .venv" in done.stdout
    assert "There is no benchmark" in done.stdout
    assert (folder / "own").exists()
    assert python_runs(environment_python(folder), "import pip")


def test_an_environment_whose_interpreter_is_gone_is_moved_aside_which_is_said(clone: Path) -> None:
    python = environment_python(clone / ".venv")
    python.parent.mkdir(parents=True)
    python.symlink_to("/no/such/python")
    assert pilothouse(clone, "--help").returncode == 0
    assert python.is_symlink()
    done = pilothouse(clone, *INSTALLING)
    aside = clone / ".venv-broken"
    assert f"The interpreter of .venv does not run. The folder is now {aside}" in done.stdout
    assert environment_python(aside).is_symlink()
    assert python_runs(python, "import pip")
