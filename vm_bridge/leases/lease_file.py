"""Who holds which machine of this host, on disk: put back where Redis loses its data while the bridge is down."""

import logging
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
        self._written: dict[str, tuple[MachineDescription, LeaseRecord]] | None = None

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

    def write(self, leases: dict[str, tuple[MachineDescription, LeaseRecord]]) -> None:
        """Replace what is there, in one step, where it has changed. A disk that is full leaves the last ones."""
        if leases == self._written:
            return
        places: dict[str, int] = {}
        kept = tuple(
            _LeaseEntry(
                machine=machine._replace(capabilities=str(places.setdefault(machine.capabilities, len(places)))),
                record=record,
            )
            for machine, record in leases.values()
        )
        try:
            fresh = self._path.with_suffix(".new")
            fresh.write_text(_FileContent(capabilities=tuple(places), leases=kept).model_dump_json())
            fresh.replace(self._path)
        except OSError as error:
            logger.warning("leases cannot be written to disk: %s", error)
            return
        self._written = dict(leases)
