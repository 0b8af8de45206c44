"""Several sources as one order: each has its share of the tokens, and keeps its own place.

The next sequence comes from the source that is furthest behind its share. That is a function of what was given so far,
so a place in the mix is the places in its sources with the tokens they gave, and nothing is drawn.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from trainer.data.batches import Batch, BatchPosition, chunk


class OrderedSource(Protocol):
    """One source's samples in an order without end; more may come (`trainer.data.batches`, `trainer.data.streaming`)."""

    @property
    def fingerprint(self) -> str:
        """The same for the same order."""

    @property
    def lengths(self) -> Sequence[int]:
        """Of its samples, by their numbers."""

    def batches(self, place: BatchPosition) -> Iterator[Batch]:
        """What follows a place."""


@dataclass(frozen=True)
class MixPart:
    """One source."""

    order: OrderedSource
    share: float


@dataclass(frozen=True)
class MixedBatch:
    """Samples of one source that go into one sequence."""

    samples: tuple[int, ...]
    place: dict[str, Any]
    """By source: the place to go on from, and the tokens given so far."""


class Mix:
    """Sequences of several sources, without end."""

    def __init__(self, sources: Mapping[str, tuple[float, OrderedSource]]) -> None:
        """`sources` by name: a share above 0, and the order of its samples. Among all they are numbered in turn: a
        source that grows runs into no other."""
        total = sum(share for share, _ in sources.values())
        self._names = tuple(sources)
        self._parts = {name: MixPart(order, share / total) for name, (share, order) in sources.items()}

    @property
    def fingerprint(self) -> str:
        """Two mixes with the same one are the same."""
        told = json.dumps([[name, part.share, part.order.fingerprint] for name, part in self._parts.items()])
        return hashlib.sha256(told.encode()).hexdigest()

    def source_of(self, sample: int) -> tuple[str, int]:
        """Which source a sample is of, and its number there."""
        number, place = divmod(sample, len(self._names))
        return self._names[place], number

    def resume_from(self, place: dict[str, Any]) -> Iterator[MixedBatch]:
        """What follows a place; {} is the beginning."""
        stands = {name: place.get(name) or {"epoch": 0, "batch": 0, "tokens": 0} for name in self._parts}
        follows = {
            name: part.order.batches(BatchPosition(stands[name]["epoch"], stands[name]["batch"]))
            for name, part in self._parts.items()
        }
        while True:
            name = self._behind({name: stand["tokens"] for name, stand in stands.items()})
            part, batch = self._parts[name], next(follows[name])
            given = stands[name]["tokens"] + sum(part.order.lengths[sample] for sample in batch.samples)
            stands = {**stands, name: {**asdict(batch.after), "tokens": given}}
            turn = self._names.index(name)
            yield MixedBatch(tuple(sample * len(self._names) + turn for sample in batch.samples), stands)

    def updates(self, place: dict[str, Any], sequences: int) -> Iterator[list[MixedBatch]]:
        """The same, so many at a time."""
        return chunk(self.resume_from(place), sequences)

    def _behind(self, given: Mapping[str, int]) -> str:
        """The source whose tokens are fewest for its share; of several the first."""
        return min(self._parts, key=lambda name: given[name] / self._parts[name].share)
