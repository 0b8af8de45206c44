"""The front-end: install its packages and build its pages, only when their sources have changed."""

from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.install.command_runner import run_with_progress
from annotation_app.operations.install.node import Node, ensure_node
from annotation_app.operations.install.stamps import digest_files, is_fresh, write_stamp
from annotation_app.operations.runtime.stack import ROOT

FRONTEND_FOLDER = ROOT / "frontend"
PACKAGE_FILES = ("package.json", "package-lock.json")
SOURCE_PATTERNS = (*PACKAGE_FILES, "src/**/*", "public/**/*", "index.html", "tsconfig*.json", "vite.config.*")


def ensure_frontend(console: Console, log: Path) -> None:
    """The pages under `frontend/dist`, built from the current sources. Raises CommandFailed when npm or the build
    fails."""
    digest = digest_files(frontend_files(*SOURCE_PATTERNS))
    done = FRONTEND_FOLDER / "dist" / ".stamp"
    if is_fresh(done, digest):
        return
    node = ensure_frontend_packages(console, log)
    build = (*node.npm, "run", "build")
    run_with_progress(
        "Building the front-end", build, console=console, log=log, environment=node.environment, folder=FRONTEND_FOLDER
    )
    write_stamp(done, digest)


def ensure_frontend_packages(console: Console, log: Path) -> Node:
    """Install exactly what `package-lock.json` names under `frontend/node_modules`. Returns the Node to use with it."""
    node = ensure_node(console, log)
    digest = digest_files(frontend_files(*PACKAGE_FILES), salt=node.npm[0])
    done = FRONTEND_FOLDER / "node_modules" / ".stamp"
    if not is_fresh(done, digest):
        clean = (*node.npm, "ci", "--no-audit", "--no-fund", "--loglevel=error")
        what = "Installing the front-end's packages (about half a minute)"
        run_with_progress(what, clean, console=console, log=log, environment=node.environment, folder=FRONTEND_FOLDER)
        write_stamp(done, digest)
    return node


def frontend_files(*patterns: str) -> list[Path]:
    """The front-end's files that match these patterns."""
    return [path for pattern in patterns for path in FRONTEND_FOLDER.glob(pattern) if path.is_file()]
