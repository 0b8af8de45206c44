"""Which node each placed bridge host is on, which hosts are gone, and the port each one uses."""

import re
import socket
from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple, Self

from vm_bridge.fleet import HostInfo

MOVED_AFTER = timedelta(seconds=3)
"""Of two places of one host the one that has been silent for so much longer is no more; a bridge ends within less."""
NODE_DIGITS = 12
"""So many of a node's id are written."""
HOST_ID_PATTERN = re.compile(rf"(ray-\d{{1,4}})\.([0-9a-f]{{{NODE_DIGITS}}})")


class HostPlacement(NamedTuple):
    """The same host on another node is another place: what lived on the first is not on the second."""

    name: str
    node: str

    @classmethod
    def of(cls, number: int, node_id: str) -> Self:
        """The place of the host with this number on the node with this id."""
        return cls(f"ray-{number}", node_id[:NODE_DIGITS])

    @classmethod
    def read(cls, host_id: str) -> Self | None:
        """The place that a host id tells of; None for a host that nobody placed."""
        found = HOST_ID_PATTERN.fullmatch(host_id)
        return cls(*found.groups()) if found else None

    @property
    def host_id(self) -> str:
        """The name under which the ledger knows it."""
        return f"{self.name}.{self.node}"


def find_lost_hosts(hosts: Iterable[HostInfo], nodes: Mapping[str, bool]) -> list[tuple[str, str]]:
    """The ids of placed hosts that are no more, each with what their holders are told.

    `nodes` are those that this cluster has or had, as `Place` writes them, and whether each lives. A host on any other
    is another cluster's, over the same Redis.
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
