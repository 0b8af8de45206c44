"""What holders believed of their leases, held against what guests saw: no two may share a machine."""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from protocol.base import FrozenModel
from vm_bridge.simulators.fake.call_log import CallEntry


class OwnershipInterval(FrozenModel):
    """From `at` until `until` (seconds since the epoch) somebody thinks that this machine is theirs, by this token."""

    at: float
    until: float
    machine: str
    token: int


def read_intervals(files: Iterable[Path]) -> tuple[OwnershipInterval, ...]:
    """One for each lease: renewals put its end off, a release (an end in the past) brings it forward."""
    known: dict[tuple[str, int], OwnershipInterval] = {}
    for file in files:
        for line in file.read_text().splitlines():
            parsed = OwnershipInterval.model_validate_json(line)
            first = known.setdefault((parsed.machine, parsed.token), parsed)
            known[parsed.machine, parsed.token] = first.model_copy(update={"until": parsed.until})
    return tuple(known.values())


def count_overlaps(intervals: Iterable[OwnershipInterval]) -> int:
    """How often two believed at once that a machine was theirs."""
    by_machine: defaultdict[str, list[OwnershipInterval]] = defaultdict(list)
    for interval in intervals:
        by_machine[interval.machine].append(interval)
    return sum(
        earlier.until > later.at
        for of_one in by_machine.values()
        for earlier, later in itertools.pairwise(sorted(of_one, key=lambda interval: interval.at))
    )


def count_token_regressions(entries: Sequence[CallEntry]) -> int:
    """How often a guest let a token in after a higher one."""
    highest: defaultdict[str, int] = defaultdict(int)
    count = 0
    for entry in entries:
        if entry.event == "admitted":
            count += entry.token < highest[entry.machine]
            highest[entry.machine] = max(highest[entry.machine], entry.token)
    return count


def count_rejected_holders(entries: Iterable[CallEntry], intervals: Iterable[OwnershipInterval]) -> int:
    """How often a guest refused a call whose lease should have held: somebody else had been let in."""
    by_lease = {(interval.machine, interval.token): interval for interval in intervals}
    return sum(
        entry.event == "refused" and interval.at <= entry.at < interval.until
        for entry in entries
        if (interval := by_lease.get((entry.machine, entry.token))) is not None
    )
