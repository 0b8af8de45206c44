"""A shell in a container on the terminal it runs in: `python -m vm_bridge.hosts.docker.container_terminal NAME`."""

import fcntl
import os
import select
import signal
import struct
import sys
import termios
import tty
from contextlib import suppress
from types import FrameType

from vm_bridge.errors import MachineGone
from vm_bridge.guest.common.actions import ActionFailed
from vm_bridge.hosts.docker.container_exec import ContainerExec
from vm_bridge.hosts.docker.engine import ContainerEngine

SHELL = ("sh", "-c", "command -v bash > /dev/null && exec bash; exec sh")
CHUNK = 16 * 1024


class ContainerTerminal:
    """A shell on a terminal of the container's; when it is hung up, what runs there is ended."""

    def __init__(self, engine: ContainerEngine, name: str) -> None:
        """Raises ActionFailed where there is no container, MachineGone where it has ended."""
        self._engine, self._container = engine, ContainerExec(engine, name)
        self._number = self._container.create(SHELL, stdin=True, tty=True)
        self._connection = engine.hijack(f"/exec/{self._number}/start", {"Detach": False, "Tty": True})
        self._session = 0

    def run(self) -> int:
        """Carry bytes both ways until the shell ends; its exit status."""
        signal.signal(signal.SIGWINCH, self._resize)
        signal.signal(signal.SIGHUP, _hang_up)
        self._connection.settimeout(None)
        try:
            self._read_session()
            self._resize()
            self._carry()
        finally:
            self._connection.close()
            if self._session:
                with suppress(MachineGone, ActionFailed):
                    self._container.kill(self._session, signal.SIGHUP)
                    self._container.kill(self._session)
        return self._container.exit_code(self._number)

    def _read_session(self) -> None:
        """The first line that comes is the number of the shell's session."""
        line = b""
        while not line.endswith(b"\n"):
            byte = self._connection.recv(1)
            if not byte:
                break
            line += byte
        if line.strip().isdigit():
            self._session = int(line)
        else:
            os.write(sys.stdout.fileno(), line)

    def _carry(self) -> None:
        keyboard, screen = sys.stdin.fileno(), sys.stdout.fileno()
        while True:
            ready, _, _ = select.select([keyboard, self._connection], [], [])
            if self._connection in ready:
                data = self._connection.recv(CHUNK)
                if not data:
                    return
                _write_all(screen, data)
            if keyboard in ready:
                typed = os.read(keyboard, CHUNK)
                if not typed:
                    return
                self._connection.sendall(typed)

    def _resize(self, _signal: int = 0, _frame: FrameType | None = None) -> None:
        """Give the container's terminal the size of this one."""
        rows, columns, _, _ = struct.unpack("HHHH", fcntl.ioctl(sys.stdin, termios.TIOCGWINSZ, bytes(8)))
        with suppress(MachineGone):
            query = {"h": str(rows), "w": str(columns)}
            self._engine.ask("POST", f"/exec/{self._number}/resize", query=query)


def _hang_up(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + signal.SIGHUP)


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def main() -> int:
    """The shell's exit status."""
    try:
        terminal = ContainerTerminal(ContainerEngine(), sys.argv[1])
        tty.setraw(sys.stdin)
        return terminal.run()
    except (ActionFailed, MachineGone, OSError) as error:
        print(error, end="\r\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
