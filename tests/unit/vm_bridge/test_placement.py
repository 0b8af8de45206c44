"""Which placed hosts are no more."""

import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path

from vm_bridge.cluster.placement import HostPlacement, find_lost_hosts, reserve_port
from vm_bridge.fleet import HostInfo

NOW = datetime(2026, 11, 23, tzinfo=UTC)
FIRST, SECOND = "a" * 56, "b" * 56
BOTH = {FIRST[:12]: True, SECOND[:12]: True}


def host(name: str, *, silent: float = 0) -> HostInfo:
    return HostInfo(
        id=name, url="http://host", images=("desktop",), capacity=1, machines=0, draining=False,
        last_seen=NOW - timedelta(seconds=silent),
    )  # fmt: skip


def test_a_place_is_read_as_it_is_written() -> None:
    place = HostPlacement.of(12, FIRST)
    assert HostPlacement.read(place.host_id) == place == ("ray-12", "a" * 12)


def test_hosts_that_nobody_placed_are_left_alone() -> None:
    assert find_lost_hosts([host("workstation"), host("ray-1"), host("ray-1.workstation")], {}) == []


def test_a_host_goes_with_its_node() -> None:
    hosts = [host(HostPlacement.of(0, FIRST).host_id), host(HostPlacement.of(1, SECOND).host_id)]
    ((lost, reason),) = find_lost_hosts(hosts, {FIRST[:12]: False, SECOND[:12]: True})
    assert lost == hosts[0].id
    assert FIRST[:12] in reason


def test_a_host_that_was_started_elsewhere_is_gone_from_where_it_was_silent() -> None:
    old, new = HostPlacement.of(0, FIRST).host_id, HostPlacement.of(0, SECOND).host_id
    assert [lost for lost, _ in find_lost_hosts([host(old, silent=4), host(new)], BOTH)] == [old]
    assert find_lost_hosts([host(old, silent=2), host(new)], BOTH) == [], "it may be about to end"


def test_hosts_of_another_cluster_over_the_same_redis_are_left_to_it() -> None:
    ours, theirs = HostPlacement.of(0, FIRST).host_id, HostPlacement.of(0, SECOND).host_id
    assert find_lost_hosts([host(ours), host(theirs, silent=4)], {FIRST[:12]: True}) == [], (
        "of one number, on different nodes"
    )
    assert [lost for lost, _ in find_lost_hosts([host(ours), host(theirs)], {FIRST[:12]: False})] == [ours]


def test_a_silent_host_without_another_place_is_left_to_the_managers() -> None:
    assert find_lost_hosts([host(HostPlacement.of(0, FIRST).host_id, silent=30)], BOTH) == []


def test_a_port_stays_while_it_is_free(tmp_path: Path) -> None:
    note = tmp_path / "port"
    first = reserve_port("127.0.0.1", note)
    assert reserve_port("127.0.0.1", note) == first
    with socket.create_server(("127.0.0.1", first)):
        second = reserve_port("127.0.0.1", note)
    assert second != first
    assert reserve_port("127.0.0.1", note) == second
