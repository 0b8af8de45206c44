"""Managers and clients killed with SIGKILL while they claim: no machine is ever held twice, and none is lost."""

from pathlib import Path

import pytest

from benchmarks.parts.leases import chaos
from benchmarks.parts.leases.ownership_log import (
    OwnershipInterval,
    count_overlaps,
    count_rejected_holders,
    count_token_regressions,
    read_intervals,
)
from vm_bridge.simulators.fake.call_log import CallEntry


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_whoever_is_killed_no_machine_is_held_twice_and_none_is_lost(tmp_path: Path) -> None:
    entries = chaos.measure(tmp_path, seconds=8)
    assert (entries["double_leases"], entries["lost_machines"]) == (0, 0)
    assert entries["chaos_leases"] > 0
    assert entries["chaos_kills"] > 0


def interval(at: float, until: float, token: int, machine: str = "m-1") -> OwnershipInterval:
    return OwnershipInterval(at=at, until=until, machine=machine, token=token)


def entry(at: float, token: int, event: str = "admitted") -> CallEntry:
    return CallEntry.model_validate({"at": at, "machine": "m-1", "token": token, "event": event})


def test_overlapping_intervals_are_counted() -> None:
    assert count_overlaps([interval(0, 2, 1), interval(1, 3, 2)]) == 1
    assert count_overlaps([interval(0, 1, 1), interval(1, 3, 2), interval(0, 9, 3, "m-2")]) == 0


def test_a_lower_token_let_in_after_a_higher_one_is_counted() -> None:
    assert count_token_regressions([entry(0, 1), entry(1, 2), entry(2, 1)]) == 1
    assert count_token_regressions([entry(0, 1), entry(1, 2), entry(2, 1, "refused")]) == 0


def test_a_holder_refused_within_its_lease_is_counted() -> None:
    assert count_rejected_holders([entry(1, 1, "refused")], [interval(0, 2, 1)]) == 1
    assert count_rejected_holders([entry(3, 1, "refused")], [interval(0, 2, 1)]) == 0


def test_a_renewal_extends_an_interval_and_a_release_ends_it(tmp_path: Path) -> None:
    file = tmp_path / "intervals"
    intervals = [interval(0, 2, 1), interval(1, 3, 1), interval(1.5, 1.5, 1)]
    file.write_text("\n".join(one.model_dump_json() for one in intervals[:2]))
    assert read_intervals([file]) == (interval(0, 3, 1),)
    file.write_text("\n".join(one.model_dump_json() for one in intervals))
    assert read_intervals([file]) == (interval(0, 1.5, 1),)
