"""The node of each placed bridge host, lost hosts, and the port of each host."""

import re
import socket
from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple, Self

from vm_bridge.fleet import HostInfo

MOVED_AFTER = timedelta(seconds=3)
"""Of two placements of one host, the one that has been silent for this much longer is lost; a bridge ends in less time.
"""
NODE_DIGITS = 12
"""Number of characters of a node's id that are used."""
HOST_ID_PATTERN = re.compile(rf"(ray-\d{{1,4}})\.([0-9a-f]{{{NODE_DIGITS}}})")


class HostPlacement(NamedTuple):
    """A host's placement. The same host on another node is another placement: nothing moves between them."""

    name: str
    node: str

    @classmethod
    def of(cls, number: int, node_id: str) -> Self:
        """The placement of the host with this number on the node with this id."""
        return cls(f"ray-{number}", node_id[:NODE_DIGITS])

    @classmethod
    def read(cls, host_id: str) -> Self | None:
        """Parse the placement from a host id. Returns None for a host that was not placed by this cluster code."""
        found = HOST_ID_PATTERN.fullmatch(host_id)
        return cls(*found.groups()) if found else None

    @property
    def host_id(self) -> str:
        """Its host id in the lease store."""
        return f"{self.name}.{self.node}"


def find_lost_hosts(hosts: Iterable[HostInfo], nodes: Mapping[str, bool]) -> list[tuple[str, str]]:
    """The ids of lost hosts, each with the reason for their holders.

    `nodes` are those that this cluster has or had, as `HostPlacement` writes them, and whether each is alive. A host on
    any other node belongs to another cluster over the same Redis.
    """
    placements = [
        (placement, host)
        for host in hosts
        if (placement := HostPlacement.read(host.id)) is not None and placement.node in nodes
    ]
    heard = {
        placement.name: host.last_seen for placement, host in sorted(placements, key=lambda each: each[1].last_seen)
    }
    found = []
    for placement, host in placements:
        if not nodes[placement.node]:
            found.append((host.id, f"the node {placement.node} of its host died"))
        elif host.last_seen < heard[placement.name] - MOVED_AFTER:
            found.append((host.id, f"its host {placement.name} was started again on another node"))
    return found


def reserve_port(address: str, note: Path) -> int:
    """The port stored in `note` if it is free, else a new one, which is stored: leases contain it, so it should not
    change.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, int(note.read_text())))
        except (OSError, ValueError):
            probe.bind((address, 0))
        port: int = probe.getsockname()[1]
    note.write_text(str(port))
    return port
