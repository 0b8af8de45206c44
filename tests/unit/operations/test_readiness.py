"""Serving without a set-up says what is missing, and what to run first, before anything is started."""

import io
from pathlib import Path

import pytest

from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.install import readiness
from annotation_app.operations.install.readiness import check_installed
from annotation_app.operations.install.system_packages import SystemPackage

ABSENT = SystemPackage("no-such-storage", programs=("no-such-program",))


def test_missing_python_packages_are_named() -> None:
    with pytest.raises(OperationsError, match="no_such_module") as refused:
        check_installed(Console(io.StringIO()), modules=("json", "no_such_module"))
    assert refused.value.hint is not None
    assert "./pilothouse setup" in refused.value.hint


def test_missing_storage_is_named_unless_it_comes_as_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "EMBEDDED_MODULES", ("no_such_module",))
    with pytest.raises(OperationsError, match="no-such-storage"):
        check_installed(Console(io.StringIO()), packages=(ABSENT,), storage_only=True)
    monkeypatch.setattr(readiness, "EMBEDDED_MODULES", ("json",))
    check_installed(Console(io.StringIO()), packages=(ABSENT,), storage_only=True)


def test_pages_that_are_not_built_are_a_warning(tmp_path: Path) -> None:
    said = io.StringIO()
    check_installed(Console(said), modules=(), packages=(), pages=tmp_path / "index.html")
    assert "./pilothouse setup" in said.getvalue()
    (tmp_path / "index.html").touch()
    check_installed(Console(said := io.StringIO()), modules=(), packages=(), pages=tmp_path / "index.html")
    assert said.getvalue() == ""
