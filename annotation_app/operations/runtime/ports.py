"""TCP ports: reserve them for the programs of one installation, find free ones, and name the holder of a taken one."""

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError

ANY_ADDRESS = ""
MAX_TRIES = 50
LISTEN_STATE = "0A"
RESERVATION_NAME = "pilothouse-port-{}"
"""The abstract Unix socket of a reserved port."""


class PortAllocator:
    """Reserves ports for the programs of one installation until it is closed or its process ends.

    Two sockets hold each port. An abstract Unix socket with the port in its name tells other installations on the
    machine, of any user, that it is taken. A TCP socket that is bound but not listening keeps the kernel from giving
    the port to others. Linux still permits a program that sets SO_REUSEADDR to bind and listen there. So a port stays
    reserved before its program starts, while it runs and between two runs of it.
    """

    def __init__(self) -> None:
        self._reservations = contextlib.ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release all ports. Programs that listen on them continue."""
        self._reservations.close()

    def first_free(self, name: str, preferred: int, console: Console) -> int:
        """`preferred` or the next free port after it, with a warning that names the holder of the first choice.
        Raises OperationsError after fifty tries."""
        for port in range(preferred, preferred + MAX_TRIES):
            if self._reserve(port):
                if port != preferred:
                    console.warn(f"Port {preferred} is taken by {port_holder(preferred)}: {name} uses {port}.")
                return port
        raise OperationsError(
            f"No free port for {name} from {preferred} to {preferred + MAX_TRIES - 1}.",
            hint=f"Stop what holds them; {preferred} is held by {port_holder(preferred)}.",
        )

    def exact(self, name: str, port: int) -> int:
        """Exactly this port. Raises OperationsError naming its holder when it is taken."""
        if not self._reserve(port):
            raise OperationsError(
                f"Port {port}, wanted for {name}, is taken by {port_holder(port)}.",
                hint="Stop that program, or name another port.",
            )
        return port

    def any_free(self) -> int:
        """A port of the kernel's choice. Raises OperationsError after fifty tries."""
        for _ in range(MAX_TRIES):
            port = free_port()
            if self._reserve(port):
                return port
        raise OperationsError("No port is free on this machine.", hint="Stop programs that hold many ports.")

    def _reserve(self, port: int) -> bool:
        with contextlib.ExitStack() as held:
            name = held.enter_context(socket.socket(socket.AF_UNIX))
            bound = held.enter_context(socket.socket())
            # Without it, closed connections of a program that just ended would count as a holder.
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                name.bind(f"\0{RESERVATION_NAME.format(port)}")
                bound.bind((ANY_ADDRESS, port))
            except OSError:
                return False
            self._reservations.enter_context(held.pop_all())
        return True


def free_ports(count: int) -> list[int]:
    """This many different ports that are free on every address now. They are not reserved."""
    with contextlib.ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind((ANY_ADDRESS, 0))
        return [probe.getsockname()[1] for probe in probes]


def free_port() -> int:
    """One port from `free_ports`."""
    return free_ports(1)[0]


def port_holder(port: int) -> str:
    """The program that listens on a port or reserves it, as `name (process 123)`. Another user's program is not
    visible."""
    wanted = {*_listening_inodes(port), *_reserving_inodes(port)}
    for process in Path("/proc").glob("[0-9]*"):
        if wanted & set(_sockets_of(process)):
            return f"{(process / 'comm').read_text().strip()} (process {process.name})"
    return "another program"


def _sockets_of(process: Path) -> Iterator[str]:
    with contextlib.suppress(PermissionError, FileNotFoundError):
        for descriptor in (process / "fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                yield str(descriptor.readlink())


def _listening_inodes(port: int) -> Iterator[str]:
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(FileNotFoundError):
            for line in Path(table).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == LISTEN_STATE and int(fields[1].rpartition(":")[2], 16) == port:
                    yield f"socket:[{fields[9]}]"


def _reserving_inodes(port: int) -> Iterator[str]:
    with contextlib.suppress(FileNotFoundError):
        for line in Path("/proc/net/unix").read_text(errors="replace").splitlines()[1:]:
            fields = line.split()
            if fields[-1] == f"@{RESERVATION_NAME.format(port)}":
                yield f"socket:[{fields[6]}]"
