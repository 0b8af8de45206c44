"""Commands inside a container, by the engine's exec: as the image's user, in its folder, with its variables."""

import select
import signal
import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from vm_bridge.errors import MachineGone
from vm_bridge.guest.common.actions import ActionFailed
from vm_bridge.guest.linux.shell import InterruptFlag
from vm_bridge.hosts.docker.engine import CONFLICT, NOT_FOUND, ContainerEngine

MAX_STREAM_BYTES = 64 * 1024 + 1
"""Kept of a command's output, unless a caller wants more."""
KILL_SECONDS = 10.0
EXIT_SECONDS, EXIT_POLL_SECONDS = 10.0, 0.01
HEADER = struct.Struct(">BxxxI")
"""Before each piece of output: which stream it is of, and its length."""
STDOUT = 1
SESSION_SCRIPT = 'echo $$; exec "$@"'
"""Tells the number of the command's session first, by which it can be ended."""
KILL_SCRIPT = 'kill -"$1" "-$2" 2> /dev/null; true'


@dataclass
class ExecResult:
    """What a command left; `code` is None where its time ran out or it was cut short."""

    code: int | None
    output: bytes
    """Both streams as they came, bounded."""
    stdout: bytes = b""
    stderr: bytes = b""
    cut_short: bool = False


@dataclass
class _Streams:
    """What has come out so far, at most so many bytes of each."""

    most: int
    session: int | None = None
    output: bytearray = field(default_factory=bytearray)
    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    _pending: bytearray = field(default_factory=bytearray)
    _first_line: bytearray = field(default_factory=bytearray)

    def feed(self, data: bytes) -> None:
        """Take what the engine sent."""
        self._pending += data
        while len(self._pending) >= HEADER.size:
            stream, length = HEADER.unpack_from(self._pending)
            if len(self._pending) < HEADER.size + length:
                return
            self._take(stream, bytes(self._pending[HEADER.size : HEADER.size + length]))
            del self._pending[: HEADER.size + length]

    def _take(self, stream: int, data: bytes) -> None:
        if self.session is None and stream == STDOUT:
            self._first_line += data
            line, end, data = bytes(self._first_line).partition(b"\n")
            if not end:
                return
            # What is no number comes of the engine, where the command could not be started.
            self.session, data = (int(line), data) if line.isdigit() else (0, line + end + data)
        self.output += data[: self.most - len(self.output)]
        own, most = (self.stdout, self.most) if stream == STDOUT else (self.stderr, MAX_STREAM_BYTES)
        own += data[: most - len(own)]

    def end(self) -> None:
        """Nothing more comes."""
        if self.session is None:
            self.output = self._first_line + self.output


class ContainerExec:
    """Runs commands in one container. Raises ActionFailed where there is none, MachineGone where it has ended."""

    def __init__(self, engine: ContainerEngine, name: str) -> None:
        self._engine, self.name = engine, name

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout: float,
        stdin: bytes | None = None,
        user: str = "",
        most: int = MAX_STREAM_BYTES,
        interrupt: InterruptFlag | None = None,
    ) -> ExecResult:
        """Run a command to its end; when its time runs out, or it is cut short, it is killed with its session."""
        ends = time.monotonic() + timeout
        number = self.create(argv, stdin=stdin is not None, user=user)
        connection = self._engine.hijack(f"/exec/{number}/start", {"Detach": False, "Tty": False})
        streams = _Streams(most)
        with connection:
            ended = _exchange(connection, stdin, streams, ends, interrupt)
        streams.end()
        cut_short = not ended and time.monotonic() < ends
        if not ended and streams.session:
            self.kill(streams.session, user=user)
        code = self.exit_code(number) if ended else None
        return ExecResult(code, bytes(streams.output), bytes(streams.stdout), bytes(streams.stderr), cut_short)

    def create(self, argv: Sequence[str], *, stdin: bool, user: str = "", tty: bool = False) -> str:
        """The engine's number of a command that can be started."""
        plan: dict[str, Any] = {
            "AttachStdin": stdin,
            "AttachStdout": True,
            "AttachStderr": True,
            "Tty": tty,
            "Cmd": ["sh", "-c", SESSION_SCRIPT, "sh", *argv],
        }
        plan |= {"User": user} if user else {}
        plan |= {"Env": ["TERM=xterm-256color"]} if tty else {}
        path = f"/containers/{self.name}/exec"
        status, said = self._engine.ask("POST", path, body=plan, expected={NOT_FOUND, CONFLICT})
        if status == NOT_FOUND:
            raise ActionFailed("no_container", "no task has been prepared, so there is nothing to act on")
        if status == CONFLICT:
            raise MachineGone("the task's container has ended")
        return str(said["Id"])

    def exit_code(self, number: str) -> int:
        """How a command ended whose output has."""
        ends = time.monotonic() + EXIT_SECONDS
        while True:
            _, said = self._engine.ask("GET", f"/exec/{number}/json")
            if not said["Running"]:
                return int(said["ExitCode"] or 0)
            if time.monotonic() > ends:
                raise MachineGone("the container engine does not say how a command ended")
            time.sleep(EXIT_POLL_SECONDS)  # the engine hears of the end a moment later

    def kill(self, session: int, signal_number: int = signal.SIGKILL, *, user: str = "") -> None:
        """End the processes of a session."""
        argv = ("sh", "-c", KILL_SCRIPT, "sh", str(int(signal_number)), str(session))
        self.run(argv, timeout=KILL_SECONDS, user=user)


def _exchange(
    connection: socket.socket, stdin: bytes | None, streams: _Streams, ends: float, interrupt: InterruptFlag | None
) -> bool:
    """Give what goes in and take what comes out until the end; False where time ran out first or it was cut short."""
    connection.setblocking(False)
    left = memoryview(stdin or b"")
    if stdin == b"":
        connection.shutdown(socket.SHUT_WR)
    waited: list[Any] = [connection, *([interrupt] if interrupt is not None else [])]
    while (remaining := ends - time.monotonic()) > 0:
        readable, writable, _ = select.select(waited, [connection] if left else [], [], remaining)
        if connection in readable:
            data = _received(connection)
            if data == b"":
                return True
            streams.feed(data or b"")
        elif readable:
            return False
        if writable:
            left = _send_some(connection, left)
    return False


def _received(connection: socket.socket) -> bytes | None:
    """What has come, empty at the end; None where nothing has. Raises MachineGone."""
    try:
        return connection.recv(65_536)
    except BlockingIOError:
        return None
    except ConnectionResetError:  # the command has ended without reading all that was meant for it
        return b""
    except OSError as error:
        raise MachineGone(f"the container engine hung up: {error}") from error


def _send_some(connection: socket.socket, left: memoryview) -> memoryview:
    """Give what is taken now; the rest. A command that reads no more gets no more."""
    try:
        left = left[connection.send(left[:65_536]) :]
        if not left:
            connection.shutdown(socket.SHUT_WR)
    except BlockingIOError:
        return left
    except OSError:
        return memoryview(b"")
    return left
