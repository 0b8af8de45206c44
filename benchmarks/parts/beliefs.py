"""What holders believed of their leases, held against what guests saw: no two may share a machine."""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from vm_bridge.simulators.fake.call_log import CallEntry
from vocabulary.base import Frozen


class Belief(Frozen):
    """From `at` until `until` (seconds since the epoch) somebody thinks that this machine is theirs, by this token."""

    at: float
    until: float
    machine: str
    token: int


def beliefs(files: Iterable[Path]) -> tuple[Belief, ...]:
    """One for each lease: renewals put its end off, a release (an end in the past) brings it forward."""
    known: dict[tuple[str, int], Belief] = {}
    for file in files:
        for line in file.read_text().splitlines():
            said = Belief.model_validate_json(line)
            first = known.setdefault((said.machine, said.token), said)
            known[said.machine, said.token] = first.model_copy(update={"until": said.until})
    return tuple(known.values())


def shared(held: Iterable[Belief]) -> int:
    """How often two believed at once that a machine was theirs."""
    by_machine: defaultdict[str, list[Belief]] = defaultdict(list)
    for belief in held:
        by_machine[belief.machine].append(belief)
    return sum(
        earlier.until > later.at
        for of_one in by_machine.values()
        for earlier, later in itertools.pairwise(sorted(of_one, key=lambda belief: belief.at))
    )


def fallen(seen: Sequence[CallEntry]) -> int:
    """How often a guest let a token in after a higher one."""
    highest: defaultdict[str, int] = defaultdict(int)
    count = 0
    for entry in seen:
        if entry.event == "admitted":
            count += entry.token < highest[entry.machine]
            highest[entry.machine] = max(highest[entry.machine], entry.token)
    return count


def barred(seen: Iterable[CallEntry], held: Iterable[Belief]) -> int:
    """How often a guest refused a call whose lease should have held: somebody else had been let in."""
    by_lease = {(belief.machine, belief.token): belief for belief in held}
    return sum(
        entry.event == "refused" and belief.at <= entry.at < belief.until
        for entry in seen
        if (belief := by_lease.get((entry.machine, entry.token))) is not None
    )
