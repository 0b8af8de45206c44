"""The front-end: its packages and its built pages, each made again only when its sources have changed."""

from pathlib import Path

from annotation_app.operations.commands import run
from annotation_app.operations.console import Console
from annotation_app.operations.node import Node, ensure_node
from annotation_app.operations.stack import ROOT
from annotation_app.operations.stamps import digest_of, is_fresh, stamp

FOLDER = ROOT / "frontend"
PACKAGES = ("package.json", "package-lock.json")
SOURCES = (*PACKAGES, "src/**/*", "public/**/*", "index.html", "tsconfig*.json", "vite.config.*")


def ensure_frontend(console: Console, log: Path) -> None:
    """The pages under `frontend/dist`, built from the present sources. CommandFailed when npm or the build fails."""
    digest = digest_of(files(*SOURCES))
    done = FOLDER / "dist" / ".stamp"
    if is_fresh(done, digest):
        return
    node = ensure_frontend_packages(console, log)
    build = (*node.npm, "run", "build")
    run("Building the front-end", build, console=console, log=log, environment=node.environment, folder=FOLDER)
    stamp(done, digest)


def ensure_frontend_packages(console: Console, log: Path) -> Node:
    """Exactly what `package-lock.json` names under `frontend/node_modules`; gives the Node to use them with."""
    node = ensure_node(console, log)
    digest = digest_of(files(*PACKAGES), salt=node.npm[0])
    done = FOLDER / "node_modules" / ".stamp"
    if not is_fresh(done, digest):
        clean = (*node.npm, "ci", "--no-audit", "--no-fund", "--loglevel=error")
        what = "Installing the front-end's packages (about half a minute)"
        run(what, clean, console=console, log=log, environment=node.environment, folder=FOLDER)
        stamp(done, digest)
    return node


def files(*patterns: str) -> list[Path]:
    """The front-end's files of these patterns."""
    return [path for pattern in patterns for path in FOLDER.glob(pattern) if path.is_file()]
