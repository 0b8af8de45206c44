"""Mixes several sources into one order; each has a share of the tokens and its own position.

The next sequence comes from the source that is furthest behind its share. This is deterministic: a position in the mix
is the position in each source with the tokens taken from it so far.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from trainer.data.batches import BatchPosition, OrderedSource, chunk


@dataclass(frozen=True)
class MixPart:
    """One source."""

    order: OrderedSource
    share: float


@dataclass(frozen=True)
class MixedBatch:
    """Samples of one source that share a sequence."""

    samples: tuple[int, ...]
    place: dict[str, Any]
    """By source: the place to resume from, and the tokens taken so far."""


class Mix:
    """An endless order of sequences from several sources."""

    def __init__(self, sources: Mapping[str, tuple[float, OrderedSource]]) -> None:
        """`sources` by name: a share above 0, and the order of its samples. Among all they are numbered in turn: a
        source that grows runs into no other."""
        total = sum(share for share, _ in sources.values())
        self._names = tuple(sources)
        self._parts = {name: MixPart(order, share / total) for name, (share, order) in sources.items()}

    @property
    def fingerprint(self) -> str:
        """Two mixes with the same one are the same."""
        serialized = json.dumps([[name, part.share, part.order.fingerprint] for name, part in self._parts.items()])
        return hashlib.sha256(serialized.encode()).hexdigest()

    def source_of(self, sample: int) -> tuple[str, int]:
        """The source of a sample, and its number there."""
        number, place = divmod(sample, len(self._names))
        return self._names[place], number

    def resume_from(self, place: dict[str, Any]) -> Iterator[MixedBatch]:
        """The sequences after a place; {} is the beginning."""
        stands = {name: place.get(name) or {"epoch": 0, "batch": 0, "tokens": 0} for name in self._parts}
        follows = {
            name: part.order.batches(BatchPosition(stands[name]["epoch"], stands[name]["batch"]))
            for name, part in self._parts.items()
        }
        while True:
            name = self._behind({name: stand["tokens"] for name, stand in stands.items()})
            part, batch = self._parts[name], next(follows[name])
            tokens = stands[name]["tokens"] + sum(part.order.lengths[sample] for sample in batch.samples)
            stands = {**stands, name: {**asdict(batch.after), "tokens": tokens}}
            turn = self._names.index(name)
            yield MixedBatch(tuple(sample * len(self._names) + turn for sample in batch.samples), stands)

    def updates(self, place: dict[str, Any], sequences: int) -> Iterator[list[MixedBatch]]:
        """The sequences after a place, in groups of `sequences`."""
        return chunk(self.resume_from(place), sequences)

    def _behind(self, tokens: Mapping[str, int]) -> str:
        """The source with the fewest tokens relative to its share; the first of several."""
        return min(self._parts, key=lambda name: tokens[name] / self._parts[name].share)
