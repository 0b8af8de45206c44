"""OSWorld's way beside ours: a PyAutoGUI act in a new Python process, then a PyAutoGUI PNG screenshot, both over HTTP.

After OSWorld's `desktop_env` (its server's `/execute` and `/screenshot`, its environment's pause of 2 s after an act),
rebuilt here over the same X server, window manager and screen size as ours. The server is this module's own child.
"""

import http.client
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.install.virtual_environments import environment_python, python_runs, recreate_venv
from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.figures import percentile, print_progress
from benchmarks.parts.waiting import read_line

ACTS, PAUSED_ACTS, PAUSE = 20, 5, 2.0
REQUIREMENTS = ("pyautogui==0.9.54", "pillow==13.0.0", "pyscreeze==1.0.1", "python3-xlib==0.15", "pytweening==1.2.0")
"""All that is used of PyAutoGUI; without its optional MouseInfo, which ends the process where tkinter is missing."""
CODE = "import pyautogui; pyautogui.FAILSAFE = False; pyautogui.click({x}, {y})"
SERVER = Path(__file__).with_name("osworld_peer_server.py")
START_SECONDS = 30.0
LOG = ROOT / ".data" / "logs" / "peer-setup.log"


def measure(data: Path) -> dict[str, float]:
    """Act → picture received, at the client: without a pause, and with OSWorld's."""
    python = ensure_pyautogui(data / "venvs" / "peer")
    with ExitStack() as stack:
        display = stack.enter_context(run_display("1280x720"))
        port = stack.enter_context(run_peer_server(python, display))
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        _perform_action(connection, 0)  # the first start of Python reads its files from disk
        quick = [_time_action(connection, number, 0.0) for number in range(ACTS)]
        paused = [_time_action(connection, number, PAUSE) for number in range(PAUSED_ACTS)]
    print_progress(f"peer {percentile(quick, 0.5)} ms, with its pause {percentile(paused, 0.5)} ms")
    return {
        "peer_act_to_step_p50_ms": percentile(quick, 0.5),
        "peer_with_pause_p50_ms": percentile(paused, 0.5),
    }


def _time_action(connection: http.client.HTTPConnection, number: int, pause: float) -> float:
    began = time.perf_counter()
    _perform_action(connection, number)
    time.sleep(pause)
    connection.request("GET", "/screenshot")
    picture = connection.getresponse().read()
    assert picture.startswith(b"\x89PNG"), picture[:100]
    return (time.perf_counter() - began) * 1000


def _perform_action(connection: http.client.HTTPConnection, number: int) -> None:
    command = ["python", "-c", CODE.format(x=300 + number, y=300)]
    connection.request("POST", "/execute", json.dumps({"command": command}), {"Content-Type": "application/json"})
    answer = json.loads(connection.getresponse().read())
    assert answer["returncode"] == 0, answer


def ensure_pyautogui(folder: Path) -> Path:
    python = environment_python(folder)
    stamp = folder / "complete"
    if not stamp.exists() or not python_runs(python):
        print_progress("installing the peer's packages")
        what = "Making PyAutoGUI's environment"
        recreate_venv(folder, what=what, console=Console(sys.stderr), log=LOG)
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", *REQUIREMENTS], check=True)
        stamp.touch()
    return python


@contextmanager
def run_display(size: str) -> Iterator[str]:
    """An X server of a size like "1280x720", with a window manager and something to look at."""
    reader, writer = os.pipe()
    server = subprocess.Popen(
        [
            *("Xtigervnc", "-displayfd", str(writer), "-geometry", size, "-depth", "24"),
            *("-rfbport", "-1", "-SecurityTypes", "None", "-nolisten", "tcp"),
        ],
        pass_fds=(writer,),
        stderr=subprocess.DEVNULL,
    )
    os.close(writer)
    with os.fdopen(reader) as told:
        number = told.readline().strip() if select.select([told], [], [], START_SECONDS)[0] else ""
    if not number:
        server.kill()
        server.wait()
        raise RuntimeError(f"Xtigervnc gave no display within {START_SECONDS:g} seconds")
    display = f":{number}"
    programs = [
        subprocess.Popen(argv, env={**os.environ, "DISPLAY": display}, stderr=subprocess.DEVNULL)
        for argv in (["openbox"], ["xterm", "-geometry", "100x30+200+100"])
    ]
    try:
        yield display
    finally:
        # Stop the server first. It resets when its last client leaves, and a reset drops a SIGTERM.
        for process in (server, *programs):
            process.terminate()
            process.wait(10)


@contextmanager
def run_peer_server(python: Path, display: str) -> Iterator[int]:
    variables = {**os.environ, "DISPLAY": display, "PATH": f"{python.parent}:{os.environ['PATH']}"}
    process = subprocess.Popen([python, SERVER], env=variables, stdout=subprocess.PIPE, text=True)
    try:
        # python-xlib prints its warnings first.
        yield int(read_line(process, "port ", START_SECONDS).split()[1])
    finally:
        process.terminate()
        process.wait(10)
