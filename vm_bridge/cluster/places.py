"""Where placed hosts are: which of the hosts each is, on which node of the cluster, and which of them are no more."""

import re
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import NamedTuple, Self

from vm_bridge.fleet import HostInfo

MOVED = timedelta(seconds=3)
"""Of two places of one host the one that has been silent for so much longer is no more; a bridge ends within less."""
NODE_DIGITS = 12
"""So many of a node's id are written."""
PATTERN = re.compile(rf"(ray-\d{{1,4}})\.([0-9a-f]{{{NODE_DIGITS}}})")


class Place(NamedTuple):
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
        found = PATTERN.fullmatch(host_id)
        return cls(*found.groups()) if found else None

    @property
    def host_id(self) -> str:
        """The name under which the ledger knows it."""
        return f"{self.name}.{self.node}"


def gone(hosts: Iterable[HostInfo], nodes: Mapping[str, bool]) -> list[tuple[str, str]]:
    """The ids of placed hosts that are no more, each with what their holders are told.

    `nodes` are those that this cluster has or had, as `Place` writes them, and whether each lives. A host on any other
    is another cluster's, over the same Redis.
    """
    placed = [(place, host) for host in hosts if (place := Place.read(host.id)) is not None and place.node in nodes]
    heard = {place.name: host.last_seen for place, host in sorted(placed, key=lambda each: each[1].last_seen)}
    found = []
    for place, host in placed:
        if not nodes[place.node]:
            found.append((host.id, f"the node {place.node} of its host died"))
        elif host.last_seen < heard[place.name] - MOVED:
            found.append((host.id, f"its host {place.name} was started again on another node"))
    return found
