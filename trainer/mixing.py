"""Several sources as one order: each has its share of the tokens, and keeps its own place.

The next sequence comes from the source that is furthest behind its share. That is a function of what was given so far,
so a place in the mix is the places in its sources with the tokens they gave, and nothing is drawn.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from trainer.batches import Order, Place, grouped


@dataclass(frozen=True)
class Part:
    """One source: its samples' order, and the number of its first sample among all."""

    order: Order
    share: float
    begin: int
    lengths: tuple[int, ...]


@dataclass(frozen=True)
class Mixed:
    """Samples of one source that go into one sequence."""

    samples: tuple[int, ...]
    place: dict[str, Any]
    """By source: the place to go on from, and the tokens given so far."""


class Mix:
    """Sequences of several sources, without end."""

    def __init__(self, sources: Mapping[str, tuple[float, list[int]]], *, tokens: int, seed: int) -> None:
        """`sources` by name: a share above 0, and the lengths of its samples, which are numbered on through all."""
        total = sum(share for share, _ in sources.values())
        self._parts: dict[str, Part] = {}
        begin = 0
        for name, (share, lengths) in sources.items():
            order = Order(lengths, tokens=tokens, seed=seed)
            self._parts[name] = Part(order, share / total, begin, tuple(lengths))
            begin += len(lengths)

    @property
    def fingerprint(self) -> str:
        """Two mixes with the same one are the same."""
        told = json.dumps([[name, part.share, part.order.fingerprint] for name, part in self._parts.items()])
        return hashlib.sha256(told.encode()).hexdigest()

    def source_of(self, sample: int) -> str:
        """Which source a sample is of."""
        return next(name for name, part in reversed(self._parts.items()) if sample >= part.begin)

    def follow(self, place: dict[str, Any]) -> Iterator[Mixed]:
        """What follows a place; {} is the beginning."""
        stands = {name: place.get(name) or {"epoch": 0, "batch": 0, "tokens": 0} for name in self._parts}
        follows = {
            name: part.order.batches(Place(stands[name]["epoch"], stands[name]["batch"]))
            for name, part in self._parts.items()
        }
        while True:
            name = self._behind({name: stand["tokens"] for name, stand in stands.items()})
            part, batch = self._parts[name], next(follows[name])
            given = stands[name]["tokens"] + sum(part.lengths[sample] for sample in batch.samples)
            stands = {**stands, name: {**asdict(batch.after), "tokens": given}}
            yield Mixed(tuple(part.begin + sample for sample in batch.samples), stands)

    def updates(self, place: dict[str, Any], sequences: int) -> Iterator[list[Mixed]]:
        """The same, so many at a time."""
        return grouped(self.follow(place), sequences)

    def _behind(self, given: Mapping[str, int]) -> str:
        """The source whose tokens are fewest for its share; of several the first."""
        return min(self._parts, key=lambda name: given[name] / self._parts[name].share)
