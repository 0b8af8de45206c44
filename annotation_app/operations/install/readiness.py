"""Check, before anything starts, that `serve` has what `setup` installs."""

import importlib.util
import sys
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.install.frontend import FRONTEND_FOLDER
from annotation_app.operations.install.system_packages import EMBEDDED_MODULES, STORAGE_PACKAGES, SystemPackage

NEEDED_MODULES = ("django", "channels", "daphne", "celery", "psycopg", "redis", "pydantic", "httpx", "uvicorn")
"""Packages that every program of the platform needs."""
SETUP_HINT = (
    "Install everything first: ./pilothouse setup (once). Or let ./pilothouse demo set everything up and start."
)


def check_installed(
    console: Console,
    *,
    storage_only: bool = False,
    modules: tuple[str, ...] = NEEDED_MODULES,
    packages: tuple[SystemPackage, ...] = STORAGE_PACKAGES,
    pages: Path = FRONTEND_FOLDER / "dist" / "index.html",
) -> None:
    """Raise if a required package is missing, and warn if the pages are not built.

    Args:
        storage_only: Only PostgreSQL and Redis are started.

    Raises:
        OperationsError: Python packages, or PostgreSQL or Redis, are not installed; the hint says what to run first.
    """
    if not storage_only:
        check_modules(modules)
    embedded = all(importlib.util.find_spec(name) is not None for name in EMBEDDED_MODULES)
    missing = [] if embedded else [each.package for each in packages if not each.is_installed()]
    if missing:
        raise OperationsError(f"System packages are missing: {', '.join(missing)}.", hint=SETUP_HINT)
    if not storage_only and not pages.is_file():
        console.warn("The pages are not built: the address will show none. Build them first: ./pilothouse setup")


def check_modules(modules: tuple[str, ...] = NEEDED_MODULES) -> None:
    """Raises OperationsError if a module is missing from the running environment."""
    absent = [name for name in modules if importlib.util.find_spec(name) is None]
    if absent:
        raise OperationsError(f"Python packages are missing in {sys.prefix}: {', '.join(absent)}.", hint=SETUP_HINT)
