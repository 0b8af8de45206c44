"""The order in which samples are trained on, which of them share a sequence, and several sources mixed into one order.

The order is a pure function of the samples' lengths, a seed and the epoch. A position in it is two numbers, so an
interrupted run resumes with exactly the next batch. In a mix, each source has a share of the tokens and its own
position; the next sequence comes from the source that is furthest behind its share.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, Protocol, TypeVar

WINDOW = 256
"""Samples packed together at a time: more fill sequences better, fewer mix better."""


T = TypeVar("T")


@dataclass(frozen=True)
class BatchPosition:
    """A position in the order: the next `batch` of an `epoch`, both from 0."""

    epoch: int = 0
    batch: int = 0


@dataclass(frozen=True)
class Batch:
    """Numbers of the samples that share a sequence, and the position after them."""

    samples: tuple[int, ...]
    after: BatchPosition

    @property
    def place(self) -> dict[str, Any]:
        """The position after the batch, as a run saves it."""
        return asdict(self.after)


class BatchLike(Protocol):
    """Samples that share one sequence."""

    @property
    def samples(self) -> Sequence[int]:
        """Their numbers."""

    @property
    def place(self) -> dict[str, Any]:
        """The place to resume from after them, as a run saves it."""


class OrderLike(Protocol):
    """An order of samples that a run trains in, such as `ShuffledOrder`, a mix, or data that still arrives."""

    @property
    def fingerprint(self) -> str:
        """Equal for equal orders."""

    def updates(self, place: dict[str, Any], sequences: int) -> Iterator[Sequence[BatchLike]]:
        """The sequences of each update after a place; {} is the beginning."""


class OrderedSource(Protocol):
    """The order of one source in a mix. It has no end, and samples may be added to it."""

    @property
    def fingerprint(self) -> str:
        """Equal for equal orders."""

    @property
    def lengths(self) -> Sequence[int]:
        """Tokens of each sample, by its number."""

    def batches(self, place: BatchPosition) -> Iterator[Batch]:
        """The batches that follow a place."""


class ShuffledOrder:
    """Endless batches of at most `tokens` tokens; each epoch holds every sample once."""

    def __init__(self, lengths: Sequence[int], *, tokens: int, seed: int, window: int = WINDOW) -> None:
        """Check that every sample fits.

        Args:
            lengths: Tokens of each sample.
            tokens: Most tokens of a sequence.
            seed: Of the order.
            window: Samples that are packed together at a time.

        Raises:
            ValueError: There is no sample, or one does not fit.
        """
        if not lengths:
            raise ValueError("there is nothing to train on")
        if (longest := max(lengths)) > tokens:
            raise ValueError(f"a sample has {longest} tokens; a sequence holds {tokens}")
        self.lengths, self._tokens, self._seed, self._window = tuple(lengths), tokens, seed, window

    @property
    def fingerprint(self) -> str:
        """Equal for equal orders: a position in one is valid in the other."""
        serialized = json.dumps([self.lengths, self._tokens, self._seed, self._window])
        return hashlib.sha256(serialized.encode()).hexdigest()

    def epoch(self, number: int) -> tuple[tuple[int, ...], ...]:
        """The batches of one epoch: samples are shuffled, packed window by window, and the batches shuffled."""
        shuffled = sorted(range(len(self.lengths)), key=lambda sample: self._draw(number, "sample", sample))
        batches: list[tuple[int, ...]] = []
        for begin in range(0, len(shuffled), self._window):
            batches += pack_first_fit(shuffled[begin : begin + self._window], self.lengths, self._tokens)
        return tuple(sorted(batches, key=lambda batch: self._draw(number, "batch", batch[0])))

    def batches(self, place: BatchPosition | None = None) -> Iterator[Batch]:
        """The batches after a position, without end. Raises ValueError for an invalid position."""
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
        """The batches after a saved position; {} is the beginning."""
        return self.batches(BatchPosition(**place))

    def updates(self, place: dict[str, Any], sequences: int) -> Iterator[list[Batch]]:
        """The batches after a saved position, in groups of `sequences`."""
        return chunk(self.resume_from(place), sequences)

    def _draw(self, epoch: int, what: str, number: int) -> bytes:
        """A pseudorandom sort key that does not depend on a library's version."""
        return hashlib.blake2b(f"{self._seed} {epoch} {what} {number}".encode(), digest_size=16).digest()


def chunk(things: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of `size` items in order; the last may be shorter."""
    remaining = iter(things)
    while taken := list(islice(remaining, size)):
        yield taken


def pack_first_fit(samples: Sequence[int], lengths: Sequence[int], tokens: int) -> list[tuple[int, ...]]:
    """Pack samples into sequences by first-fit decreasing."""
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


def is_held_out(name: str, *, seed: int, share: float) -> bool:
    """Whether this share of all names, chosen by the seed, includes the name. Other names do not change the result."""
    digest = hashlib.blake2b(f"{seed} {name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) < share * 2**64


@dataclass(frozen=True)
class MixPart:
    """One source and its `share` of the tokens, above 0; all shares sum to 1."""

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
