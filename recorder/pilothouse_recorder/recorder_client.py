"""The window's client of a recorder, on its own thread: the window never waits for an answer."""

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .audio.capture import check_microphone
from .control import send_command
from .errors import RecorderError
from .own_window import WINDOW_PID

POLL_SECONDS = 0.5
CHECK_SECONDS = 3.0
Answer = tuple[str, Any]
"""An event and its result: `status`, `done`, `failed`, `ended`, `microphone`."""


class RecorderClient:
    """Starts a recorder and sends it commands. `answers` has the events, in order."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._wanted: queue.Queue[Callable[[], Answer] | None] = queue.Queue()
        self.answers: queue.Queue[Answer] = queue.Queue()
        self._process: subprocess.Popen[str] | None = None
        self._thread = threading.Thread(target=self._work, daemon=True, name="recorder-client")
        self._thread.start()

    def start(self, options: Sequence[str]) -> None:
        """Start recording, with the options of `record`."""
        self._wanted.put(lambda: self._start(options))

    def send(self, command: str, **more: Any) -> None:
        """Send a command. Its name comes back with `done`."""
        self._wanted.put(lambda: (send_command(self._home, {"command": command, **more}), ("done", command))[1])

    def check(self) -> None:
        """Listen to the microphone for a moment."""
        self._wanted.put(lambda: ("microphone", check_microphone("", CHECK_SECONDS)))

    def close(self) -> None:
        """Stop the thread after the pending requests."""
        self._wanted.put(None)
        self._thread.join()

    def _work(self) -> None:
        while True:
            try:
                wanted = self._wanted.get(timeout=POLL_SECONDS)
            except queue.Empty:
                wanted = self._status
            if wanted is None:
                return
            try:
                self.answers.put(wanted())
            except (RecorderError, OSError) as error:
                self.answers.put(("failed", f"{getattr(error, 'code', 'storage')}: {error}"))

    def _status(self) -> Answer:
        try:
            return "status", send_command(self._home, {"command": "status"})
        except RecorderError as error:
            if error.code != "not_recording":
                raise
        process = self._process
        if process is not None and process.poll() is not None:
            self._process = None
            assert process.stderr is not None
            message = process.stderr.read().strip().rpartition("\n")[2]
            process.stderr.close()
            if process.returncode:
                return "failed", message
            return "ended", None
        return "status", None

    def _start(self, options: Sequence[str]) -> Answer:
        command = [sys.executable, "-m", __package__ or "pilothouse_recorder", "record", *options]
        environment = {**os.environ, WINDOW_PID: str(os.getpid())}
        self._process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
        )
        return "done", "start"
