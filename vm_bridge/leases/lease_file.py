"""The leases of this host's machines, on disk: restored if Redis loses its data while the bridge is down."""

import json
import logging
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from protocol.base import FrozenModel
from vm_bridge.leases.inventory import LeaseRecord, MachineDescription

logger = logging.getLogger(__name__)

MIN_CHANGES = 1_000
"""After so many changes, and as many as there are leases, the whole file is replaced."""


class _LeaseEntry(FrozenModel):
    machine: MachineDescription
    record: LeaseRecord


class _FileContent(FrozenModel):
    capabilities: tuple[str, ...] = ()
    """As their hosts wrote them; most machines of an image have the same."""
    leases: tuple[_LeaseEntry, ...] = ()
    """`machine.capabilities` is a place in `capabilities`."""


class _Change(FrozenModel):
    """A lease that was given, or the machine whose lease has ended."""

    given: _LeaseEntry | None = None
    ended: str = ""


class LeaseFile:
    """One file of one host, which the bridge alone reads and writes.

    Its first line holds the leases of one moment, each later line a change. One lease costs one line, whatever the
    number of machines.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._written: dict[str, LeaseRecord] | None = None
        self._capabilities: dict[str, int] = {}
        """Those of all machines written so far, with their places in the file."""
        self._entries: dict[str, str] = {}
        """Each machine's entry as JSON."""
        self._changes = 0
        """Lines after the first."""

    @property
    def complete(self) -> bool:
        """Whether the file has what was last given to `write`, so that `add` may follow."""
        return self._written is not None

    def read(self) -> dict[str, tuple[MachineDescription, LeaseRecord]]:
        """The leases as they were last written, by their machines; none where nothing can be read."""
        try:
            first, *changes = self._path.read_bytes().split(b"\n")
            content = _FileContent.model_validate_json(first)
            entries = {lease.machine.id: lease for lease in content.leases}
            for change in _parse_changes(changes):
                if change.given is not None:
                    entries[change.given.machine.id] = change.given
                else:
                    entries.pop(change.ended, None)
            return {
                machine_id: (lease.machine._replace(capabilities=found), lease.record)
                for machine_id, lease in entries.items()
                if (found := _find_capabilities(lease, content.capabilities)) is not None
            }
        except FileNotFoundError:
            return {}
        except (OSError, ValidationError, ValueError) as error:
            logger.warning("leases on disk cannot be read: %s", error)
            return {}

    def write(self, leases: Mapping[str, LeaseRecord], describe: Callable[[str], MachineDescription]) -> None:
        """Store exactly these leases. Where the disk is full, the file keeps the leases that were stored before.

        Args:
            leases: Who holds which machine, by the machine's id.
            describe: Describes a machine, which does not change while it is leased.
        """
        if leases == self._written:
            return
        whole, known = self._written is None, self._written or {}
        given = {machine_id: record for machine_id, record in leases.items() if known.get(machine_id) != record}
        ended = [machine_id for machine_id in known if machine_id not in leases]
        self._change(known, given, ended, describe, whole=whole)

    def add(self, leases: Mapping[str, LeaseRecord], describe: Callable[[str], MachineDescription]) -> None:
        """Store these leases too, and drop the earlier ones of their machines. Does nothing unless `complete`."""
        if self._written is None:
            return
        given = {machine_id: record for machine_id, record in leases.items() if self._written.get(machine_id) != record}
        self._change(self._written, given, (), describe)

    def clear(self) -> None:
        """Store that no machine is leased."""
        self.write({}, _describe_none)

    def _change(
        self,
        known: dict[str, LeaseRecord],
        given: Mapping[str, LeaseRecord],
        ended: Collection[str],
        describe: Callable[[str], MachineDescription],
        *,
        whole: bool = False,
    ) -> None:
        """Append what has changed, or replace the file where that is due. `known` is what was stored so far.

        Where `describe` raises, nothing has changed.
        """
        capabilities = dict(self._capabilities)
        entries = {machine_id: _entry(describe(machine_id), given[machine_id], capabilities) for machine_id in given}
        fresh_capabilities = len(capabilities) != len(self._capabilities)
        self._written, self._capabilities = known, capabilities
        for machine_id in ended:
            del self._entries[machine_id], self._written[machine_id]
        self._entries |= entries
        self._written |= given
        lines = [*map(_ended_line, ended), *map(_given_line, entries.values())]
        if not lines and not whole:
            return
        due = self._changes + len(lines) > max(MIN_CHANGES, len(self._entries))
        whole = whole or due or fresh_capabilities
        try:
            if whole:
                self._replace_file()
            else:
                # Without O_CREAT: if the file was removed, a new one would lack the leases of the first line.
                with open(os.open(self._path, os.O_WRONLY | os.O_APPEND), "w", encoding="utf-8") as file:
                    file.write("".join(lines))
        except OSError as error:
            # The next time all is written, since the last line may be half of one.
            logger.warning("leases cannot be written to disk: %s", error)
            self._written = None
            self._entries.clear()
            return
        self._changes = 0 if whole else self._changes + len(lines)

    def _replace_file(self) -> None:
        capabilities = json.dumps(list(self._capabilities))
        fresh = self._path.with_suffix(".new")
        fresh.write_text(f'{{"capabilities":{capabilities},"leases":[{",".join(self._entries.values())}]}}\n')
        fresh.replace(self._path)


def _entry(machine: MachineDescription, record: LeaseRecord, capabilities: dict[str, int]) -> str:
    """A machine's entry as JSON; its capabilities are added to those with a place where they are new."""
    place = capabilities.setdefault(machine.capabilities, len(capabilities))
    return _LeaseEntry(machine=machine._replace(capabilities=str(place)), record=record).model_dump_json()


def _find_capabilities(lease: _LeaseEntry, capabilities: Sequence[str]) -> str | None:
    """Those at the place that an entry names; None where there is no such place."""
    place = lease.machine.capabilities
    if place.isdecimal() and int(place) < len(capabilities):
        return capabilities[int(place)]
    logger.warning("the lease of %s on disk cannot be read: it has no capabilities", lease.machine.id)
    return None


def _parse_changes(lines: Iterable[bytes]) -> Iterable[_Change]:
    """The changes up to the first line that is none: where the disk was full, half a line is the last."""
    for line in filter(None, lines):
        try:
            yield _Change.model_validate_json(line)
        except ValidationError as error:
            logger.warning("the rest of the leases on disk cannot be read: %s", error)
            return


def _given_line(entry: str) -> str:
    return f'{{"given":{entry}}}\n'


def _ended_line(machine_id: str) -> str:
    return _Change(ended=machine_id).model_dump_json() + "\n"


def _describe_none(machine_id: str) -> MachineDescription:
    raise KeyError(machine_id)
