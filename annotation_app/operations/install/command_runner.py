"""Run setup commands: show the purpose and duration, keep the output in a file."""

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.errors import CommandFailed

TICK_SECONDS = 1.0
HEARTBEAT_SECONDS = 20.0
TAIL_BYTES = 2000


def run_with_progress(
    what: str,
    command: Sequence[str],
    *,
    console: Console,
    log: Path,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    timeout_seconds: float = 1800.0,
    hint: str = "",
) -> None:
    """Run `command` in `folder`, and show its purpose (`what`) and the elapsed seconds. Its output is appended to
    `log`. Raises CommandFailed, with its last lines and `hint`, if it cannot be started, fails, or exceeds the timeout
    (seconds)."""
    log.parent.mkdir(parents=True, exist_ok=True)
    console.step(f"{what} …")
    began = time.monotonic()
    with log.open("ab") as out:
        start = out.tell()
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, cwd=folder,
                env={**os.environ, **(environment or {})},
            )  # fmt: skip
        except OSError as error:
            raise CommandFailed(f"{what}: `{command[0]}` cannot be started: {error.strerror}.", hint=hint) from error
        try:
            status = _wait_with_progress(process, what, console, began, timeout_seconds)
        finally:
            process.kill()
            process.wait()
            console.end_progress()
    seconds = time.monotonic() - began
    if status:
        raise CommandFailed(f"{what}: `{command[0]}` failed after {seconds:.0f} s.", hint=_log_tail(log, start) + hint)
    if seconds > TICK_SECONDS:
        console.step(f"{what}: done in {seconds:.0f} s")


def _wait_with_progress(
    process: "subprocess.Popen[bytes]", what: str, console: Console, began: float, timeout_seconds: float
) -> int:
    heartbeat = began + HEARTBEAT_SECONDS
    while True:
        try:
            return process.wait(TICK_SECONDS)
        except subprocess.TimeoutExpired:
            now = time.monotonic()
        if now - began > timeout_seconds:
            return 124
        console.progress(f"  {what}: {now - began:.0f} s")
        if not console.live and now > heartbeat:
            heartbeat = now + HEARTBEAT_SECONDS
            console.say(f"  {what}: {now - began:.0f} s so far")


def _log_tail(log: Path, start: int) -> str:
    with log.open("rb") as text:
        text.seek(max(start, log.stat().st_size - TAIL_BYTES))
        return f"{text.read().decode(errors='replace').strip()}\n(all of it: {log})\n"
