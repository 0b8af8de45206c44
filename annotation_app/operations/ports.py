"""Free TCP ports with stable first choices, and who holds one that is taken."""

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError

ANY_ADDRESS = ""
TRIES = 50
LISTENING = "0A"


def free_ports(count: int) -> list[int]:
    """So many different ports that nobody listens on, at any address, at this moment."""
    with contextlib.ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind((ANY_ADDRESS, 0))
        return [probe.getsockname()[1] for probe in probes]


def free_port() -> int:
    """One of these."""
    return free_ports(1)[0]


def first_free_port(name: str, preferred: int, console: Console) -> int:
    """`preferred`, or the next free one after it, saying who holds the first; OperationsError after fifty tries."""
    for port in range(preferred, preferred + TRIES):
        if _is_free(port):
            if port != preferred:
                console.warn(f"Port {preferred} is taken by {holder(preferred)}: {name} uses {port}.")
            return port
    raise OperationsError(
        f"No free port for {name} from {preferred} to {preferred + TRIES - 1}.",
        hint=f"Stop what holds them; {preferred} is held by {holder(preferred)}.",
    )


def exact_port(name: str, port: int) -> int:
    """This very port, asked for by a person; OperationsError naming its holder when it is taken."""
    if not _is_free(port):
        raise OperationsError(
            f"Port {port}, asked for {name}, is taken by {holder(port)}.",
            hint="Stop that program, or name another port.",
        )
    return port


def holder(port: int) -> str:
    """The program that listens on a port, as `name (process 123)`; another user's is not visible."""
    wanted = set(_listening_inodes(port))
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
                if fields[3] == LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                    yield f"socket:[{fields[9]}]"


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ANY_ADDRESS, port))
        except OSError:
            return False
        return True
