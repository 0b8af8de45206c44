"""Samples that arrive during training: they join between two passes, and a ledger records when.

A pass goes over everything that joined before it. The ledger is written before a pass begins. A resumed run has
the same batches as an uninterrupted one, whatever has arrived since.
"""

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from protocol.base import FrozenModel
from protocol.training.inbox import waiting_folders
from protocol.trajectory.export_folders import MANIFEST, UNFINISHED_SUFFIX
from trainer.config import DatasetTrainingConfig
from trainer.data.batches import Batch, BatchPosition, ShuffledOrder
from trainer.data.inbox import LOOK_EVERY
from trainer.data.rendering import TokenizedSample
from trainer.errors import CheckpointMismatched, NothingToLearn, TrainerError
from trainer.runtime.distributed import broadcast_from_first, is_first

LEDGER = "joined.json"
"""In a run's folder: what joined before each pass."""
ENDED = ".ended"
"""A file of this name in an inbox says that nothing more will come."""

ReadFolder = Callable[[Path], Sequence[TokenizedSample]]
"""The samples of a folder. Raises TrainerError where it has none."""


class JoinedFolder(FrozenModel):
    """A folder that joined."""

    path: Path
    manifest: str
    """The sha256 of its manifest."""
    samples: int
    """How many samples it has; 0 where it is refused."""
    refused: str = ""
    """The code of why nothing of it is used."""


PASSES = TypeAdapter(tuple[tuple[JoinedFolder, ...], ...])


@dataclass(frozen=True)
class WaitPolicy:
    """When a run waits for more data.

    Attributes:
        passes: Passes over the same data before it waits, from 1; None: it waits only for the first.
        patience: Longest wait, in seconds.
    """

    passes: int | None
    patience: float


class StreamingOrder:
    """The samples of folders and inboxes as an order that grows (`trainer.data.batches.OrderLike`)."""

    def __init__(
        self, config: DatasetTrainingConfig, paths: Sequence[Path], read: ReadFolder, waits: WaitPolicy, ledger: Path
    ) -> None:
        """Raises CheckpointMismatched where a folder is not what joined."""
        self._config, self._paths, self._read, self._waits, self._ledger = config, paths, read, waits, ledger
        self.samples: list[TokenizedSample] = []
        """In the order in which they joined."""
        self.lengths: list[int] = []
        self._met: set[Path] = set()
        for path in paths:
            path.mkdir(parents=True, exist_ok=True)
        self._passes = [*_read_ledger(ledger)]
        for one in (one for each in self._passes for one in each):
            self._take_again(one)

    @property
    def fingerprint(self) -> str:
        """What has joined is the ledger's to say; the rest follows from the settings."""
        serialized = json.dumps([self._config.tokens, self._config.seed, self._waits.passes])
        return hashlib.sha256(serialized.encode()).hexdigest()

    def updates(self, place: dict[str, Any], sequences: int) -> Iterator[list[Batch]]:
        """What follows a place, so many sequences at a time: fewer where a pass ends. Ends where nothing more comes.

        Raises CheckpointMismatched for a place that the ledger does not know, NothingToLearn where nothing came at all.
        """
        at = BatchPosition(**place)
        if at.epoch + (at.batch > 0) > len(self._passes):
            raise CheckpointMismatched(f"{self._ledger.name} has {len(self._passes)} passes; the run was at {at}")
        while self._begun(at.epoch):
            batches = self._order(at.epoch).epoch(at.epoch)
            for begin in range(at.batch, len(batches), sequences):
                end = begin + sequences
                after = BatchPosition(at.epoch, end) if end < len(batches) else BatchPosition(at.epoch + 1)
                yield [Batch(one, after) for one in batches[begin:end]]
            at = BatchPosition(at.epoch + 1)

    def batches(self, place: BatchPosition) -> Iterator[Batch]:
        """The same, one sequence at a time."""
        return (batch for (batch,) in self.updates(asdict(place), 1))

    def _order(self, number: int) -> ShuffledOrder:
        """The order of a pass: over what had joined by then."""
        ends = [*accumulate(sum(one.samples for one in each) for each in self._passes)]
        return ShuffledOrder(self.lengths[: ends[number]], tokens=self._config.tokens, seed=self._config.seed)

    def _begun(self, number: int) -> bool:
        """Whether there is such a pass. A new pass begins with everything that has arrived."""
        if number < len(self._passes):
            return True
        until = time.monotonic() + self._waits.patience
        come = self._taken(broadcast_from_first(self._come, 0.0))
        while not (any(one.samples for one in come) or self._goes_over_again()):
            found = broadcast_from_first(lambda: self._awaited(until), self._waits.patience)
            if not found:
                if not self.samples:
                    raise NothingToLearn(f"nothing that can be trained on came within {self._waits.patience:g} s")
                return False
            come += self._taken(found)
        self._passes.append(tuple(come))
        if is_first():
            _write_ledger(self._ledger, self._passes)
        return True

    def _goes_over_again(self) -> bool:
        """Whether what is there is gone over once more before anything else comes."""
        since = next((far for far, each in enumerate(reversed(self._passes), 1) if any(one.samples for one in each)), 0)
        return since > 0 and (self._waits.passes is None or since < self._waits.passes)

    def _awaited(self, until: float) -> list[Path]:
        """What comes by then, at least one folder; nothing where the time is over or nothing more will come."""
        while True:
            ended = all((path / ENDED).exists() for path in self._paths if _is_inbox(path))
            if (come := self._come()) or ended or time.monotonic() > until:
                return come
            time.sleep(LOOK_EVERY)

    def _come(self) -> list[Path]:
        """The whole folders that are there and were not met yet."""
        there: list[Path] = []
        for path in self._paths:
            there += [path / name for name in waiting_folders(path)] if _is_inbox(path) else [path]
        return [path for path in there if path not in self._met]

    def _taken(self, paths: Sequence[Path]) -> list[JoinedFolder]:
        """Let these folders join.

        A folder of an inbox that cannot be used is reported, and not tried again. A folder that the settings name must
        be usable. Raises TrainerError.
        """
        joined = []
        for path in paths:
            self._met.add(path)
            try:
                samples = self._read(path)
            except TrainerError as error:
                if path in self._paths:
                    raise
                print(f"{path.name}: {error.code}: {error}", file=sys.stderr, flush=True)
                joined.append(JoinedFolder(path=path, manifest=_digest(path), samples=0, refused=error.code))
                continue
            self._add(samples)
            joined.append(JoinedFolder(path=path, manifest=_digest(path), samples=len(samples)))
        return joined

    def _take_again(self, one: JoinedFolder) -> None:
        """Have a folder of the ledger join. Raises CheckpointMismatched, TrainerError."""
        self._met.add(one.path)
        if one.refused:
            return
        samples = self._read(one.path)
        if (_digest(one.path), len(samples)) != (one.manifest, one.samples):
            raise CheckpointMismatched(f"{one.path.name} is not what joined this run")
        self._add(samples)

    def _add(self, samples: Sequence[TokenizedSample]) -> None:
        self.samples += samples
        self.lengths += [len(one.ids) for one in samples]


def _is_inbox(path: Path) -> bool:
    return not (path / MANIFEST).exists()


def _digest(path: Path) -> str:
    """The sha256 of a folder's manifest; empty where it has none."""
    manifest = path / MANIFEST
    return hashlib.sha256(manifest.read_bytes()).hexdigest() if manifest.is_file() else ""


def _read_ledger(path: Path) -> tuple[tuple[JoinedFolder, ...], ...]:
    if not path.exists():
        return ()
    try:
        return PASSES.validate_json(path.read_bytes())
    except ValidationError as error:
        raise CheckpointMismatched(f"{path.name} cannot be read: {error.errors()[0]['msg']}") from None


def _write_ledger(path: Path, passes: Sequence[tuple[JoinedFolder, ...]]) -> None:
    aside = path.with_name(path.name + UNFINISHED_SUFFIX)
    with aside.open("wb") as file:
        file.write(PASSES.dump_json(tuple(passes), indent=1))
        file.flush()
        os.fsync(file.fileno())
    os.replace(aside, path)
