"""Commands to a running recorder: one line of JSON each way over a socket that only its owner can reach."""

import json
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from .errors import RecorderError

SOCKET = "control.sock"
ANSWER_SECONDS = 30.0
QUESTION_SECONDS = 0.5
MAX_BYTES = 4096


class ControlServer:
    """The recorder's end. Made where another recorder runs, it raises RecorderError with `already_recording`."""

    def __init__(self, home: Path) -> None:
        self._path = home / SOCKET
        self._last: socket.socket | None = None
        if _is_answered(self._path):
            raise RecorderError("already_recording", "Another recording runs already.")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._path.unlink(missing_ok=True)
        mask = os.umask(0o177)
        try:
            self._socket.bind(str(self._path))
        finally:
            os.umask(mask)
        self._socket.listen()
        self._socket.setblocking(False)

    def fileno(self) -> int:
        """Readable when a command waits."""
        return self._socket.fileno()

    def serve(self, handle: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        """Answer the command that waits, if any. The answer to `stop` is sent when the server ends."""
        try:
            connection, _ = self._socket.accept()
        except BlockingIOError:
            return
        connection.settimeout(QUESTION_SECONDS)
        with suppress(OSError, ValueError):
            words = json.loads(connection.makefile("rb").readline(MAX_BYTES))
            try:
                answer = handle(words if isinstance(words, dict) else {})
            except RecorderError as error:
                answer = {"code": error.code, "error": str(error)}
            connection.sendall(json.dumps(answer).encode() + b"\n")
            if isinstance(words, dict) and words.get("command") == "stop":
                self._last = connection
                return
        connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._path.unlink(missing_ok=True)
        self._socket.close()
        if self._last is not None:
            self._last.close()


def send_command(home: Path, words: dict[str, Any]) -> dict[str, Any]:
    """Ask the running recorder. Returns when it has done it; `stop` when the session is whole.

    Raises RecorderError with `not_recording`, or what the recorder answers.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(ANSWER_SECONDS)
        try:
            connection.connect(str(home / SOCKET))
            connection.sendall(json.dumps(words).encode() + b"\n")
            lines = connection.makefile("rb").read().splitlines()
        except (FileNotFoundError, ConnectionError):
            raise RecorderError("not_recording", "No recording runs.") from None
        except TimeoutError:
            raise RecorderError("no_answer", "The recorder does not answer.") from None
    answer: dict[str, Any] = json.loads(lines[0]) if lines else {"code": "no_answer", "error": "It ended."}
    if "code" in answer:
        raise RecorderError(answer["code"], answer["error"])
    return answer


def _is_answered(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(QUESTION_SECONDS)
        try:
            connection.connect(str(path))
        except OSError:
            return False
    return True
