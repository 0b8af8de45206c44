"""openadapt-capture beside our recorder: the same clicks and keys at the same X server, in the same run."""

import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from annotation_app.operations.console import Console
from annotation_app.operations.errors import CommandFailed
from annotation_app.operations.install.extra_environments import ENVIRONMENTS_FOLDER, PythonEnvironment
from annotation_app.operations.install.requirement_locks import RECORDER_PEER_LOCK
from benchmarks.parts.figures import floor_share, percentile, print_progress
from benchmarks.parts.recorder.desktop import Desktop
from benchmarks.parts.recorder.scripted_input import PLACE, counted_color, match_inputs, send_inputs, time_errors_ms
from benchmarks.parts.waiting import read_line

FOLDER = ENVIRONMENTS_FOLDER / "recorder-peer"
RECORD = Path(__file__).with_name("record.py")
READY_SECONDS, END_SECONDS = 60.0, 300.0
NEAR_NS = 1_000_000_000
"""An event of the peer counts as stored where its time is this near: it has the time of its receipt."""
QUERY = "SELECT name, timestamp, mouse_pressed FROM action_event ORDER BY id"
KINDS = {"move": "pointer.move", "scroll": "scroll", "press": "key.down", "release": "key.up"}


def measure_peer(folder: Path, desktop: Desktop, environment: dict[str, str]) -> dict[str, Any]:
    """The peer's share of lost inputs and the error of its times; `peer_skipped` says what is missing instead."""
    if shutil.which("ffmpeg") is None:
        return {"peer_skipped": "ffmpeg is not installed"}
    try:
        python = ensure_peer(Console())
    except CommandFailed as error:
        return {"peer_skipped": str(error)}
    folder.mkdir()
    window = desktop.open_window("form", "form", counted_color(0), place=PLACE)
    with _recording(python, folder, environment) as process:
        send_inputs(desktop, window)
        process.communicate("\n", timeout=END_SECONDS)
    window.destroy()
    desktop.display.sync()
    stored = stored_events(folder / "recording" / "recording.db", offset_ns=time.time_ns() - time.monotonic_ns())
    matched = match_inputs(desktop.sent, stored, near_ns=NEAR_NS)
    errors = time_errors_ms(matched)
    print_progress(f"the peer stored {len(matched)} of {len(desktop.sent)} inputs")
    return {
        "peer_event_loss_share": round(1 - floor_share(len(matched), len(desktop.sent)), 4),
        "peer_time_error_p50_ms": percentile(errors, 0.5),
        "peer_time_error_p95_ms": percentile(errors, 0.95),
    }


def ensure_peer(console: Console, *, folder: Path = FOLDER) -> Path:
    """The interpreter of the peer's environment, made if missing. Raises CommandFailed."""

    def fill(environment: PythonEnvironment) -> None:
        environment.install_locked("openadapt-capture (40 packages)", RECORDER_PEER_LOCK)

    return PythonEnvironment("openadapt-capture", console, folder).ensure([RECORDER_PEER_LOCK.source], fill)


@contextmanager
def _recording(python: Path, folder: Path, environment: dict[str, str]) -> Iterator["subprocess.Popen[str]"]:
    own = {**environment, "HOME": str(folder)}
    with (folder / "peer.log").open("w") as log:
        command = [python, RECORD, folder / "recording"]
        process = subprocess.Popen(
            command, env=own, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
    try:
        read_line(process, "ready", READY_SECONDS)
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def stored_events(database: Path, *, offset_ns: int) -> list[dict[str, Any]]:
    """The peer's events by our names. Their `t_ns` is its wall clock (seconds) less `offset_ns`."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        rows = connection.execute(QUERY).fetchall()
    return [{"kind": _kind(name, pressed), "t_ns": round(seconds * 1e9) - offset_ns} for name, seconds, pressed in rows]


def _kind(name: str, pressed: int | None) -> str:
    if name == "click":
        return "pointer.down" if pressed else "pointer.up"
    return KINDS[name]
