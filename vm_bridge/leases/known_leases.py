"""The leases of this host's machines, as last read from the lease store."""

from collections.abc import Callable, Mapping

from vm_bridge.leases.inventory import HostInventory, LeaseRecord, MachineDescription, MachineRecord
from vm_bridge.leases.lease_file import LeaseFile


class KnownLeases:
    """The leases in memory and, with a `file`, on disk: put back where Redis loses its data.

    Args:
        describe: Describes a machine. Raises KeyError for one that this host does not have.
    """

    def __init__(
        self, inventory: HostInventory, file: LeaseFile | None, describe: Callable[[str], MachineDescription]
    ) -> None:
        self.leases: dict[str, LeaseRecord] = {}
        self._inventory, self._file, self._describe = inventory, file, describe
        self._learned: dict[str, int] = {}
        """When the lease of a machine was read by itself, counted by `_order`."""
        self._order = 0

    def __contains__(self, machine_id: str) -> bool:
        return machine_id in self.leases

    async def read_all(self, machines: Mapping[str, object]) -> dict[str, MachineRecord] | None:
        """Read the whole ledger: its records of this host, None where it does not know the host.

        A lease that `learn` read in the meantime stays: the answer may be from before that lease.

        Args:
            machines: Those that this host has, by their ids.
        """
        began = self._order
        known = await self._inventory.machine_records()
        if known is None:
            return None
        leases = _leases_of(known, machines)
        for machine_id, order in self._learned.items():
            if order > began and machine_id in machines:
                learned, read = self.leases[machine_id], leases.get(machine_id)
                leases[machine_id] = learned if read is None or read.token < learned.token else read
        self.leases = leases
        self._learned = {machine_id: order for machine_id, order in self._learned.items() if machine_id in leases}
        if self._file is not None:
            self._file.write(leases, self._describe)
        return known

    async def learn(self, machine_id: str, machines: Mapping[str, object]) -> None:
        """Read the lease of one machine, which takes the same time on a host of thousands."""
        if self._file is not None and not self._file.complete:
            await self.read_all(machines)
            return
        leases = _leases_of(await self._inventory.machine_records(machine_id) or {}, machines)
        self._order += 1
        self._learned |= dict.fromkeys(leases, self._order)
        self.leases |= leases
        if self._file is not None:
            self._file.add(leases, self._describe)


def _leases_of(known: Mapping[str, MachineRecord], machines: Mapping[str, object]) -> dict[str, LeaseRecord]:
    return {each: record.lease for each, record in known.items() if record.lease and each in machines}
