"""Who holds which machine of this host, on disk: put back where Redis loses its data while the bridge is down."""

import json
import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from pydantic import ValidationError

from protocol.base import FrozenModel
from vm_bridge.leases.inventory import LeaseRecord, MachineDescription

logger = logging.getLogger(__name__)


class _LeaseEntry(FrozenModel):
    machine: MachineDescription
    record: LeaseRecord


class _FileContent(FrozenModel):
    capabilities: tuple[str, ...] = ()
    """As their hosts wrote them; most machines of an image have the same."""
    leases: tuple[_LeaseEntry, ...] = ()
    """`machine.capabilities` is a place in `capabilities`."""


class LeaseFile:
    """One file of one host, which the bridge alone reads and writes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._written: dict[str, LeaseRecord] | None = None
        self._capabilities: dict[str, int] = {}
        """Those of all machines written so far, with their places in the file."""
        self._entries: dict[str, str] = {}
        """Each machine's entry as JSON: a host with thousands of machines writes one new entry a claim."""

    def read(self) -> dict[str, tuple[MachineDescription, LeaseRecord]]:
        """The leases as they were last written, by their machines; none where nothing can be read."""
        try:
            content = _FileContent.model_validate_json(self._path.read_bytes())
            return {
                lease.machine.id: (
                    lease.machine._replace(capabilities=content.capabilities[int(lease.machine.capabilities)]),
                    lease.record,
                )
                for lease in content.leases
            }
        except FileNotFoundError:
            return {}
        except (OSError, ValidationError, ValueError, IndexError) as error:
            logger.warning("leases on disk cannot be read: %s", error)
            return {}

    def write(self, leases: Mapping[str, LeaseRecord], describe: Callable[[str], MachineDescription]) -> None:
        """Replace what is there, in one step, where it has changed. A full disk keeps the last leases.

        Args:
            leases: Who holds which machine, by the machine's id.
            describe: Describes a machine, which does not change while it is leased.
        """
        if leases == self._written:
            return
        before = self._written or {}
        self._entries = {
            machine_id: self._entries[machine_id]
            if before.get(machine_id) == record
            else self._entry(describe(machine_id), record)
            for machine_id, record in leases.items()
        }
        capabilities = json.dumps(list(self._capabilities))
        try:
            fresh = self._path.with_suffix(".new")
            fresh.write_text(f'{{"capabilities":{capabilities},"leases":[{",".join(self._entries.values())}]}}')
            fresh.replace(self._path)
        except OSError as error:
            logger.warning("leases cannot be written to disk: %s", error)
            self._written = None
            return
        self._written = dict(leases)

    def clear(self) -> None:
        """No machine is leased any more."""
        self.write({}, _describe_none)

    def _entry(self, machine: MachineDescription, record: LeaseRecord) -> str:
        place = self._capabilities.setdefault(machine.capabilities, len(self._capabilities))
        return _LeaseEntry(machine=machine._replace(capabilities=str(place)), record=record).model_dump_json()


def _describe_none(machine_id: str) -> MachineDescription:
    raise KeyError(machine_id)
