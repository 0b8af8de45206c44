"""Leases that a host knows of: one that is learned while the whole ledger is read is not lost."""

import asyncio
from pathlib import Path
from typing import cast

import pytest

from vm_bridge.leases.inventory import HostInventory, LeaseRecord, MachineDescription, MachineRecord
from vm_bridge.leases.known_leases import KnownLeases
from vm_bridge.leases.lease_file import LeaseFile

MACHINES = dict.fromkeys(("a", "b"))


def record(token: int) -> LeaseRecord:
    return LeaseRecord(token, "r", "ada", "", "", "s")


def describe(machine_id: str) -> MachineDescription:
    return MachineDescription(machine_id, "desktop", "", "{}")


class Ledger:
    """Answers a read of everything with what was there when it began, once `answered` is set."""

    def __init__(self) -> None:
        self.tokens: dict[str, int] = {}
        self.answered = asyncio.Event()
        self.answered.set()

    async def machine_records(self, *machine_ids: str) -> dict[str, MachineRecord]:
        records = {each: MachineRecord("leased", record(token)) for each, token in self.tokens.items()}
        if machine_ids:
            return {each: records[each] for each in machine_ids if each in records}
        await self.answered.wait()
        return records


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "leases.json"


@pytest.fixture
def known(ledger: Ledger, path: Path) -> KnownLeases:
    return KnownLeases(cast(HostInventory, ledger), LeaseFile(path), describe)


def tokens(known: KnownLeases, path: Path) -> dict[str, int]:
    """Those in memory, which are those on disk."""
    found = {each: lease.token for each, lease in known.leases.items()}
    assert {each: lease.token for each, (_, lease) in LeaseFile(path).read().items()} == found
    return found


@pytest.mark.parametrize(("before", "after"), [({}, {"a": 5}), ({"a": 3}, {"a": 5}), ({"b": 2}, {"a": 5, "b": 2})])
async def test_a_lease_learned_during_a_whole_read_stays(
    ledger: Ledger, known: KnownLeases, path: Path, before: dict[str, int], after: dict[str, int]
) -> None:
    await known.read_all(MACHINES)
    ledger.tokens = before
    ledger.answered.clear()
    reading = asyncio.create_task(known.read_all(MACHINES))
    await asyncio.sleep(0)
    ledger.tokens = after
    await known.learn("a", MACHINES)
    ledger.answered.set()
    await reading
    assert tokens(known, path) == after
    ledger.tokens = {}
    await known.read_all(MACHINES)
    assert tokens(known, path) == {}, "the next read tells of ended leases"


async def test_a_machine_that_is_gone_is_forgotten(ledger: Ledger, known: KnownLeases, path: Path) -> None:
    await known.read_all(MACHINES)
    ledger.tokens = {"a": 1, "b": 2}
    await known.learn("a", MACHINES)
    await known.read_all({"b": None})
    assert tokens(known, path) == {"b": 2}


async def test_without_a_complete_file_all_is_read(ledger: Ledger, known: KnownLeases, path: Path) -> None:
    ledger.tokens = {"a": 1, "b": 2}
    await known.learn("a", MACHINES)
    assert tokens(known, path) == {"a": 1, "b": 2}
