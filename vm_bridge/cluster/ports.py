"""The port of a placed host."""

import socket
from pathlib import Path


def port_of(address: str, note: Path) -> int:
    """The port noted there if it is free, else another, which is noted: leases name it, so it should not change."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, int(note.read_text())))
        except (OSError, ValueError):
            probe.bind((address, 0))
        port: int = probe.getsockname()[1]
    note.write_text(str(port))
    return port
