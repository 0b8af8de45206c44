"""Commands to a running recorder: one line of JSON in each direction over a socket that only its owner can reach.

Windows has no such sockets for Python, so there it is a TCP socket on this computer. Its port and a random key are in a
file that only its owner can read. Every command must include the key.
"""

import hmac
import json
import os
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from .errors import RecorderError

SOCKET, ADDRESS = "control.sock", "control.json"
UNIX: int = getattr(socket, "AF_UNIX", 0)
HAS_UNIX_SOCKETS = bool(UNIX)
LOOPBACK = "127.0.0.1"
ANSWER_SECONDS = 30.0
QUESTION_SECONDS = 0.5
MAX_BYTES = 4096


class ControlServer:
    """The recorder's end. Raises RecorderError with `already_recording` if another recorder runs."""

    def __init__(self, home: Path) -> None:
        self._path = home / (SOCKET if HAS_UNIX_SOCKETS else ADDRESS)
        self._last: socket.socket | None = None
        if _is_answered(home):
            raise RecorderError("already_recording", "Another recording runs already.")
        self._path.unlink(missing_ok=True)
        self._key = ""
        if HAS_UNIX_SOCKETS:
            self._socket = _bind_unix(self._path)
        else:
            self._key = secrets.token_urlsafe()
            self._socket = socket.create_server((LOOPBACK, 0))
            self._path.touch(mode=0o600)
            self._path.write_text(json.dumps({"port": self._socket.getsockname()[1], "key": self._key}))
        self._socket.listen()
        self._socket.setblocking(False)

    def fileno(self) -> int:
        """File descriptor that is readable when a command waits."""
        return self._socket.fileno()

    def serve(self, handle: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        """Answer the waiting command, if any. The answer to `stop` is sent when the server closes."""
        try:
            connection, _ = self._socket.accept()
        except BlockingIOError:
            return
        connection.settimeout(QUESTION_SECONDS)
        with suppress(OSError, ValueError):
            words = json.loads(connection.makefile("rb").readline(MAX_BYTES))
            try:
                answer = handle(self._checked(words))
            except RecorderError as error:
                answer = {"code": error.code, "error": str(error)}
            connection.sendall(json.dumps(answer).encode() + b"\n")
            if isinstance(words, dict) and words.get("command") == "stop":
                self._last = connection
                return
        connection.close()

    def _checked(self, words: Any) -> dict[str, Any]:
        """The command, if it includes the key. Raises RecorderError with `wrong_key`."""
        found = words if isinstance(words, dict) else {}
        if not hmac.compare_digest(str(found.pop("key", "")).encode(), self._key.encode()):
            raise RecorderError("wrong_key", "Only commands of the same person are taken.")
        return found

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
    """Send a command to the running recorder. Returns when it is done; `stop` returns when the session is complete.

    Raises RecorderError with `not_recording`, or with the recorder's own error code.
    """
    try:
        connection, key = _connect(home, ANSWER_SECONDS)
        with connection:
            connection.sendall(json.dumps({**words, **key}).encode() + b"\n")
            lines = connection.makefile("rb").read().splitlines()
    except (FileNotFoundError, ConnectionError):
        raise RecorderError("not_recording", "No recording runs.") from None
    except TimeoutError:
        raise RecorderError("no_answer", "The recorder does not answer.") from None
    answer: dict[str, Any] = json.loads(lines[0]) if lines else {"code": "no_answer", "error": "It ended."}
    if "code" in answer:
        raise RecorderError(answer["code"], answer["error"])
    return answer


def _bind_unix(path: Path) -> socket.socket:
    server = socket.socket(UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        server.bind(str(path))
    finally:
        os.umask(mask)
    return server


def _connect(home: Path, seconds: float) -> tuple[socket.socket, dict[str, str]]:
    """Connect to the recorder. Returns the socket and the key for commands. Raises OSError."""
    if not HAS_UNIX_SOCKETS:
        address = json.loads((home / ADDRESS).read_bytes())
        return socket.create_connection((LOOPBACK, address["port"]), seconds), {"key": address["key"]}
    connection = socket.socket(UNIX, socket.SOCK_STREAM)
    connection.settimeout(seconds)
    try:
        connection.connect(str(home / SOCKET))
    except OSError:
        connection.close()
        raise
    return connection, {}


def _is_answered(home: Path) -> bool:
    try:
        _connect(home, QUESTION_SECONDS)[0].close()
    except (OSError, ValueError):
        return False
    return True
