"""`./pilothouse docs`: build the documentation site from docs/ with Sphinx, and serve it on this machine.

It needs no network once its packages are installed: search, fonts and styles are part of the site.
"""

import argparse
import contextlib
import functools
import os
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from annotation_app.operations.console import Console
from annotation_app.operations.documents.pictures import refresh_pictures
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.install.command_runner import run_with_progress
from annotation_app.operations.install.extra_environments import ENVIRONMENTS_FOLDER, PythonEnvironment
from annotation_app.operations.install.requirement_locks import DOCS_LOCK
from annotation_app.operations.install.setup import SetupPurpose, ensure_python_packages
from annotation_app.operations.runtime.stack import LOOPBACK, ROOT

SOURCE = ROOT / "docs"
SITE = ROOT / ".data" / "docs"
PICTURES, SCREENSHOTS = SOURCE / "images", ROOT / "test-results" / "screenshots"
GENERATED = Path("reference", "generated")
"""Pages generated from the code before each build, below the source. Git ignores them."""
BUILD_LOG = ROOT / ".data" / "logs" / "docs.log"


def add_docs_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `./pilothouse docs`."""
    parser.add_argument("--port", type=int, default=8020, help="of this machine (8020); 0: any")
    parser.add_argument("--build", type=Path, metavar="FOLDER", help="only build it, into a folder")
    about = "only replace the pages' pictures by the last screenshots of these names, or of all that pages have"
    parser.add_argument("--pictures", nargs="*", metavar="NAME", help=about)


def docs(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    """Build the site, and serve it until Ctrl-C unless only a build was requested. Returns the exit status."""
    ensure_python_packages(SetupPurpose.RUN, console)
    if arguments.pictures is not None:
        changed = refresh_pictures(PICTURES, SCREENSHOTS, arguments.pictures)
        console.step(f"{len(changed)} pictures changed in {PICTURES.relative_to(ROOT)}")
        return 0
    build_site(arguments.build or SITE, console)
    if arguments.build is None:
        with served_site(SITE, arguments.port) as address:
            console.step(f"The documentation is at {address}. Ctrl-C ends it.")
            threading.Event().wait()
    return 0


def build_site(folder: Path, console: Console) -> None:
    """Write the pages to `folder`. The reference is generated from the current code.

    A broken link, or a page that Sphinx cannot read, fails. Raises CommandFailed.
    """
    python = PythonEnvironment("the documentation", console, ENVIRONMENTS_FOLDER / "docs").ensure(
        [DOCS_LOCK.path], lambda environment: environment.install_locked("Sphinx (120 MB on disk)", DOCS_LOCK)
    )
    run_with_progress(
        "Writing the reference from the code",
        [sys.executable, "-m", "annotation_app.reference", str(SOURCE / GENERATED)],
        console=console, log=BUILD_LOG,
    )  # fmt: skip
    options = ("--fail-on-warning", "--keep-going", "--quiet", "--builder", "html")
    run_with_progress(
        "Building the documentation", [str(python), "-m", "sphinx", *options, str(SOURCE), str(folder)],
        console=console, log=BUILD_LOG,
    )  # fmt: skip


@contextlib.contextmanager
def served_site(folder: Path, port: int) -> Iterator[str]:
    """Serve `folder` to this machine while the block runs, and yield the address. Port 0 is any free one.

    Raises OperationsError when the port is taken.
    """
    handler = functools.partial(_QuietHandler, directory=os.fspath(folder))
    try:
        server = ThreadingHTTPServer((LOOPBACK, port), handler)
    except OSError as error:
        raise OperationsError(f"Port {port} cannot be used: {error.strerror}.", hint="--port 0 takes any.") from error
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://localhost:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *values: Any) -> None:
        """Log nothing: requests of a single reader are not interesting."""
