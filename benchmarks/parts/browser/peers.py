"""BrowserGym and plain Playwright beside ours: the same pages, the same clicks, as many processes as fill the box."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.install.virtual_environments import environment_python, python_runs, recreate_venv
from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.figures import percentile, print_progress
from benchmarks.parts.waiting import read_line

TASKS = ("click-test-2", "click-button", "click-link", "click-checkboxes")
"""One a process; every one may be clicked at for long without coming to its end."""
SECONDS = 8.0
READY_SECONDS, MORE_SECONDS = 90.0, 60.0
REQUIREMENTS = ("browsergym-miniwob==0.14.3",)
"""It asks for Playwright 1.44, so it has an environment of its own."""
SHELL = Path("/usr/bin/chromium-headless-shell")
REVISION = "chromium-1117"
"""Where Playwright 1.44 looks for its browser."""
HERE = Path(__file__).parent
LOG = ROOT / ".data" / "logs" / "browsergym-setup.log"


def measure(data: Path, pages: Path) -> dict[str, object]:
    """Steps a second of the whole box, and how long a reset takes."""
    gym = ensure_browsergym(data / "venvs" / "browsergym")
    browsers = gym.parent.parent / "browsers"
    figures: dict[str, object] = {}
    with serve_folder(pages) as address:
        for key, python, script, delays in (
            ("browsergym", gym, "browsergym_worker.py", "quick"),
            ("browsergym_default", gym, "browsergym_worker.py", "delays"),
            ("playwright", Path(sys.executable), "playwright_worker.py", "quick"),
        ):
            command = [str(python), str(HERE / script), address]
            rate, reset = _run_workers(command, delays, {"PLAYWRIGHT_BROWSERS_PATH": str(browsers)})
            print_progress(f"{key}: {rate} steps a second, a reset {reset} ms")
            figures |= {f"{key}_steps_per_s": rate, f"{key}_reset_p50_ms": reset}
    return figures


@contextmanager
def serve_folder(folder: Path) -> Iterator[str]:
    """The address at which the files of a folder can be had meanwhile."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietRequestHandler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


class QuietRequestHandler(SimpleHTTPRequestHandler):
    """Says nothing, and does not mind a browser that goes away."""

    def log_message(self, format: str, *args: object) -> None:
        pass

    def handle(self) -> None:
        with suppress(ConnectionError):
            super().handle()


def _run_workers(command: Sequence[str], delays: str, more: dict[str, str]) -> tuple[float, float | None]:
    """Several processes at once; they begin together, when all are ready."""
    with ExitStack() as stack:
        peers = [stack.enter_context(_start_worker([*command, task, delays, str(SECONDS)], more)) for task in TASKS]
        for peer in peers:
            read_line(peer, "ready", READY_SECONDS)
        told = []
        for peer in peers:
            assert peer.stdin is not None
            peer.stdin.write("\n")
            peer.stdin.flush()
        for peer in peers:
            out, _ = peer.communicate(timeout=SECONDS + MORE_SECONDS)
            told.append(json.loads(out.splitlines()[-1]))
    resets = [reset for one in told for reset in one["resets_ms"]]
    rate = sum(one["steps"] / one["seconds"] for one in told)
    return round(rate, 2), percentile(resets, 0.5) if resets else None


@contextmanager
def _start_worker(command: list[str], more: dict[str, str]) -> Iterator["subprocess.Popen[str]"]:
    variables = {**os.environ, **more}
    process = subprocess.Popen(
        command,
        env=variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, 9)
        process.wait(10)


def ensure_browsergym(folder: Path) -> Path:
    """A Python with BrowserGym, which finds the system's headless Chromium where it looks for its own."""
    python, stamp = environment_python(folder), folder / "complete"
    if not stamp.exists() or not python_runs(python):
        print_progress("installing BrowserGym (about two minutes, once)")
        what = "Making BrowserGym's environment"
        recreate_venv(folder, what=what, console=Console(sys.stderr), log=LOG)
        subprocess.run([python, "-m", "pip", "install", "-q", *REQUIREMENTS], check=True)
        program = folder / "browsers" / REVISION / "chrome-linux" / "chrome"
        program.parent.mkdir(parents=True)
        program.symlink_to(SHELL)
        stamp.touch()
    return python
