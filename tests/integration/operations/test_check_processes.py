"""A run of checks that is ended ends all its processes: pytest, what pytest started, and the other lane's."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from annotation_app.operations.runtime.stack import ROOT
from tests.waiting import wait_until

RUN = """
import io, sys
from pathlib import Path
from annotation_app.operations.console import Console
from annotation_app.operations.testing import checks
checks.REPORTS_FOLDER = Path(sys.argv[1])
options = ("-q", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", sys.argv[1])
pytest = checks.Check("pytest", (sys.executable, "-m", "pytest", *options, sys.argv[2]), live=True)
other = checks.Check("other", (sys.executable, "-c", sys.argv[3], sys.argv[4]))
checks.run_checks([[pytest], [other]], Console(io.StringIO()))
"""
IN_BACKGROUND = ("sh", "-c", """trap '' INT; exec "$@" """, "sh")
"""What it runs ignores SIGINT, as a program that a shell started in the background."""
SLEEPER = "import time; time.sleep(600)"
OTHER = f"""
import pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {SLEEPER!r}])
pathlib.Path(sys.argv[1]).write_text(str(child.pid))
time.sleep(600)
"""
TEST = f"""
import pathlib, subprocess, sys, time
import pytest

@pytest.fixture
def server():
    process = subprocess.Popen([sys.executable, "-c", {SLEEPER!r}], start_new_session=True)
    yield process
    process.kill()
    process.wait()

def test_something(server):
    pathlib.Path({{file!r}}).write_text(str(server.pid))
    time.sleep(600)
"""


def lives(pid: int) -> bool:
    """Whether a process runs; one that ended and was not yet waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def pid_in(file: Path) -> int:
    """The process a file names; 0 before it is written."""
    return int(file.read_text() or 0) if file.exists() else 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_all_processes_of_a_run_end_with_it(tmp_path: Path, number: signal.Signals) -> None:
    """The server of the test is in a session of its own: only the test itself, torn down, can end it."""
    server, child = tmp_path / "server.pid", tmp_path / "child.pid"
    (tmp_path / "test_it.py").write_text(TEST.format(file=str(server)))
    words = [str(tmp_path), str(tmp_path / "test_it.py"), OTHER, str(child)]
    run = subprocess.Popen([*IN_BACKGROUND, sys.executable, "-c", RUN, *words], cwd=ROOT)
    try:
        wait_until(lambda: (pid_in(server) and pid_in(child)) or run.poll() is not None)
        pids = (pid_in(server), pid_in(child))
        assert all(map(lives, pids))
        run.send_signal(number)
        run.wait()
        wait_until(lambda: not any(map(lives, pids)))
    finally:
        run.kill()
        run.wait()
    assert run.returncode == (-signal.SIGKILL if number is signal.SIGKILL else 128 + number)
