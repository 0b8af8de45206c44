"""In which order samples are trained on, and which of them share a sequence.

The order is a pure function of the samples' lengths, a seed and the epoch, so that a place in it is two numbers: a
run that was cut off goes on with the very batch it would have come to.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, TypeVar

WINDOW = 256
"""How many samples are sorted by length at a time: more fill sequences better, fewer mix better."""


T = TypeVar("T")


@dataclass(frozen=True)
class BatchPosition:
    """Where in the order a run is: the batch that comes next."""

    epoch: int = 0
    batch: int = 0


@dataclass(frozen=True)
class Batch:
    """Samples that go into one sequence, by their numbers, and the place to go on from after them."""

    samples: tuple[int, ...]
    after: BatchPosition

    @property
    def place(self) -> dict[str, Any]:
        """That place, as a run saves it."""
        return asdict(self.after)


class ShuffledOrder:
    """Batches without end, epoch after epoch; each holds at most `tokens` tokens, and every epoch every sample once."""

    def __init__(self, lengths: Sequence[int], *, tokens: int, seed: int, window: int = WINDOW) -> None:
        """Raises ValueError where there is no sample, or one that does not fit."""
        if not lengths:
            raise ValueError("there is nothing to train on")
        if (longest := max(lengths)) > tokens:
            raise ValueError(f"a sample has {longest} tokens; a sequence holds {tokens}")
        self.lengths, self._tokens, self._seed, self._window = tuple(lengths), tokens, seed, window

    @property
    def fingerprint(self) -> str:
        """Two orders with the same one are the same: a place in one is a place in the other."""
        serialized = json.dumps([self.lengths, self._tokens, self._seed, self._window])
        return hashlib.sha256(serialized.encode()).hexdigest()

    def epoch(self, number: int) -> tuple[tuple[int, ...], ...]:
        """The batches of one epoch: samples shuffled, those near each other fitted together, batches shuffled."""
        shuffled = sorted(range(len(self.lengths)), key=lambda sample: self._draw(number, "sample", sample))
        batches: list[tuple[int, ...]] = []
        for begin in range(0, len(shuffled), self._window):
            batches += pack_first_fit(shuffled[begin : begin + self._window], self.lengths, self._tokens)
        return tuple(sorted(batches, key=lambda batch: self._draw(number, "batch", batch[0])))

    def batches(self, place: BatchPosition | None = None) -> Iterator[Batch]:
        """What follows a place, without end. Raises ValueError for a place that is none."""
        place = place or BatchPosition()
        epoch, begin = place.epoch, place.batch
        while True:
            batches = self.epoch(epoch)
            if not 0 <= begin < len(batches):
                raise ValueError(f"epoch {epoch} has {len(batches)} batches; there is no place {begin}")
            for number in range(begin, len(batches)):
                last = number + 1 == len(batches)
                yield Batch(
                    batches[number], after=BatchPosition(epoch + 1, 0) if last else BatchPosition(epoch, number + 1)
                )
            epoch, begin = epoch + 1, 0

    def resume_from(self, place: dict[str, Any]) -> Iterator[Batch]:
        """What follows a place that was saved; {} is the beginning."""
        return self.batches(BatchPosition(**place))

    def updates(self, place: dict[str, Any], sequences: int) -> Iterator[list[Batch]]:
        """The same, so many at a time."""
        return chunk(self.resume_from(place), sequences)

    def _draw(self, epoch: int, what: str, number: int) -> bytes:
        """A random key that no version of a library changes."""
        return hashlib.blake2b(f"{self._seed} {epoch} {what} {number}".encode(), digest_size=16).digest()


def chunk(things: Iterable[T], size: int) -> Iterator[list[T]]:
    """Things in order, so many at a time; the last may be fewer."""
    following = iter(things)
    while taken := list(islice(following, size)):
        yield taken


def pack_first_fit(samples: Sequence[int], lengths: Sequence[int], tokens: int) -> list[tuple[int, ...]]:
    """Samples in as few sequences as first-fit finds, the longest placed first."""
    held: list[list[int]] = []
    room: list[int] = []
    for sample in sorted(samples, key=lambda one: -lengths[one]):
        place = next((place for place, left in enumerate(room) if left >= lengths[sample]), None)
        if place is None:
            held.append([])
            room.append(tokens)
            place = len(held) - 1
        held[place].append(sample)
        room[place] -= lengths[sample]
    return [tuple(batch) for batch in held]


def fill_ratio(batches: Sequence[Sequence[int]], lengths: Sequence[int], tokens: int) -> float:
    """How much of the room of these sequences holds tokens, 0 to 1."""
    return sum(lengths[sample] for batch in batches for sample in batch) / (len(batches) * tokens)
