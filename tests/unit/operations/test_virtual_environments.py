"""Making an environment, and giving one pip, by what the machine has."""

import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.install import virtual_environments
from annotation_app.operations.install.virtual_environments import (
    create_venv,
    ensure_venv,
    environment_python,
    python_runs,
    recreate_venv,
)

UV = "/opt/uv"
SILENT = Console(io.StringIO())


class Machine:
    """What programs were run, and which modules its interpreters have."""

    def __init__(self) -> None:
        self.modules = {"ensurepip"}
        self.commands: list[list[str]] = []
        self.packages: list[str] = []
        self.uv: str | None = None

    def python_runs(self, python: Path, code: str = "") -> bool:
        return python.exists() and set(code.split()[1:]) <= self.modules

    def run_with_progress(self, what: str, command: Sequence[str], **_: Any) -> None:
        self.commands.append(list(command))

    def ensure_system_packages(self, console: Console, log: Path, needs: Sequence[Any]) -> None:
        self.packages += [need.package for need in needs]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine()
    for name in ("python_runs", "run_with_progress", "ensure_system_packages"):
        monkeypatch.setattr(virtual_environments, name, getattr(machine, name))
    monkeypatch.setattr("shutil.which", lambda program: machine.uv if program == "uv" else None)
    return machine


def write_environment(folder: Path) -> Path:
    """An environment with something of a person's in it."""
    python = environment_python(folder)
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    (folder / "own").touch()
    return python


def test_an_environment_is_made_by_venv(machine: Machine, tmp_path: Path) -> None:
    create_venv(tmp_path / "new", what="Making", console=SILENT, log=tmp_path / "log")
    assert machine.commands == [[sys.executable, "-m", "venv", str(tmp_path / "new")]]


def test_uv_makes_it_where_the_python_has_no_ensurepip(machine: Machine, tmp_path: Path) -> None:
    machine.modules, machine.uv = set(), UV
    create_venv(tmp_path / "new", what="Making", console=SILENT, log=tmp_path / "log")
    assert machine.commands == [[UV, "venv", "--seed", "--python", sys.executable, str(tmp_path / "new")]]


def test_debians_package_is_installed_where_there_is_neither(machine: Machine, tmp_path: Path) -> None:
    machine.modules = set()
    create_venv(tmp_path / "new", what="Making", console=SILENT, log=tmp_path / "log")
    assert machine.packages == ["python{}.{}-venv".format(*sys.version_info)]
    assert machine.commands == [[sys.executable, "-m", "venv", str(tmp_path / "new")]]


def test_a_whole_environment_is_left_alone(machine: Machine, tmp_path: Path) -> None:
    python = write_environment(tmp_path / "there")
    machine.modules.add("pip")
    assert ensure_venv(tmp_path / "there", console=SILENT, log=tmp_path / "log") == python
    assert machine.commands == []


@pytest.mark.parametrize("uv", [None, UV])
def test_pip_comes_from_ensurepip_where_there_is_one(machine: Machine, tmp_path: Path, uv: str | None) -> None:
    python = write_environment(tmp_path / "there")
    machine.uv = uv
    ensure_venv(tmp_path / "there", console=SILENT, log=tmp_path / "log")
    assert machine.commands == [[str(python), "-m", "ensurepip"]]
    assert (tmp_path / "there" / "own").exists()


def test_pip_comes_from_uv_where_there_is_no_ensurepip(machine: Machine, tmp_path: Path) -> None:
    python = write_environment(tmp_path / "there")
    machine.modules, machine.uv = set(), UV
    ensure_venv(tmp_path / "there", console=SILENT, log=tmp_path / "log")
    assert machine.commands == [[UV, "pip", "install", "--python", str(python), "pip"]]
    assert (tmp_path / "there" / "own").exists()


def test_an_environment_of_an_old_python_is_refused_and_kept(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_environment(tmp_path / "there")
    monkeypatch.setattr(virtual_environments, "MIN_PYTHON_VERSION", (99, 0))
    with pytest.raises(OperationsError, match=r"needs 99\.0 or newer"):
        ensure_venv(tmp_path / "there", console=SILENT, log=tmp_path / "log")
    assert machine.commands == []
    assert (tmp_path / "there" / "own").exists()


def test_broken_environments_are_all_kept(machine: Machine, tmp_path: Path) -> None:
    for _ in range(2):
        (tmp_path / "there").mkdir()
        (tmp_path / "there" / "own").touch()
        with pytest.raises(OperationsError):  # the venv that this machine makes is no folder
            ensure_venv(tmp_path / "there", console=SILENT, log=tmp_path / "log")
    assert (tmp_path / "there-broken" / "own").exists()
    assert (tmp_path / "there-broken-2" / "own").exists()


def test_the_projects_own_environment_is_made_again(machine: Machine, tmp_path: Path) -> None:
    write_environment(tmp_path / "there")
    recreate_venv(tmp_path / "there", what="Making", console=SILENT, log=tmp_path / "log")
    assert not (tmp_path / "there").exists()
    assert len(machine.commands) == 1


def test_an_interpreter_runs_or_does_not(tmp_path: Path) -> None:
    assert python_runs(Path(sys.executable))
    assert not python_runs(Path(sys.executable), "import no_such_module")
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    assert not python_runs(tmp_path / "dangling")
