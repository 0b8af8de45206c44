"""Similarity of two attempts, by their texts and by their pictures."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np
from PIL import Image

from agent_backend.pictures import PictureUnreadable, open_picture
from protocol.trajectory.trajectories import Trajectory

SHINGLE = 3
"""Words that make a shingle."""
HASHES, BANDS = 128, 32
"""Two attempts that share 0.8 of what they say are compared with a chance of 1 - (1 - 0.8⁴)³² ≈ 0.9999999."""
GRID = 16
"""Cells a side that a picture is made small to: few enough to forgive encoding, enough to see a window."""
EDGE_THRESHOLD = 6
"""How much brighter a cell must be than its neighbour to be an edge (of 255 levels): more than encoding does."""
SAME_PICTURE_SHARE = 0.8
"""Pictures that share so much of their edges are taken for one."""
TEXT_DUPLICATE_SHARE, SCREEN_DUPLICATE_SHARE = 0.8, 0.9
WORD_PATTERN = re.compile(r"\w+")


def shingles(trajectory: Trajectory) -> frozenset[int]:
    """What an attempt says, as hashed runs of words: its thoughts and actions. The instruction is left out, for all who
    do one task have the same."""
    contents = (f"{step.thought} {step.action.model_dump_json()}" for step in trajectory.steps)
    words = [word.lower() for text in contents for word in WORD_PATTERN.findall(text)]
    runs = (" ".join(words[at : at + SHINGLE]) for at in range(max(1, len(words) - SHINGLE + 1)))
    return frozenset(int.from_bytes(hashlib.blake2b(run.encode(), digest_size=7).digest()) for run in runs if run)


def jaccard(one: frozenset[int], other: frozenset[int]) -> float:
    """The share of what either says that both say."""
    return len(one & other) / len(one | other) if one or other else 0.0


def candidates(contents: Sequence[frozenset[int]], *, bands: int = BANDS) -> Iterator[tuple[int, int]]:
    """Pairs that are worth comparing, each once: those whose smallest hashes fall together in a band (MinHash with
    locality-sensitive hashing), so that a pool of thousands is not compared pair by pair. More bands find pairs that
    share less; their number divides `HASHES`."""
    buckets: defaultdict[tuple[int, bytes], list[int]] = defaultdict(list)
    rows = HASHES // bands
    for place, content in enumerate(contents):
        if content:
            signature = _signature(content)
            for band in range(bands):
                buckets[band, signature[band * rows : (band + 1) * rows].tobytes()].append(place)
    yield from sorted({pair for bucket in buckets.values() for pair in combinations(bucket, 2)})


_RANDOM = np.random.default_rng(237)
_FACTORS = _RANDOM.integers(0, 1 << 63, HASHES, dtype=np.uint64)[:, None] * np.uint64(2) + np.uint64(1)
_OFFSETS = _RANDOM.integers(0, 1 << 63, HASHES, dtype=np.uint64)[:, None]


def _signature(contents: frozenset[int]) -> "np.ndarray[tuple[int], np.dtype[np.uint64]]":
    """The smallest of each of many hashes, by odd factors modulo 2^64."""
    values = np.fromiter(contents, dtype=np.uint64, count=len(contents))[None, :]
    smallest: np.ndarray[tuple[int], np.dtype[np.uint64]] = (_FACTORS * values + _OFFSETS).min(axis=1)
    return smallest


def fingerprint(data: bytes) -> int | None:
    """Where cells of a picture made small are clearly brighter or darker than the ones beside and below them (a
    difference hash with a threshold, so that flat ground says nothing); None where it is no picture."""
    try:
        with open_picture(data) as image:
            small = np.asarray(image.convert("L").resize((GRID + 1, GRID + 1), Image.Resampling.BOX), dtype=np.int16)
    except PictureUnreadable:
        return None
    beside, below = np.diff(small, axis=1)[:GRID], np.diff(small, axis=0)[:, :GRID]
    edges = np.stack(
        [beside > EDGE_THRESHOLD, beside < -EDGE_THRESHOLD, below > EDGE_THRESHOLD, below < -EDGE_THRESHOLD]
    )
    return int.from_bytes(np.packbits(edges).tobytes())


def edge_overlap(one: int, other: int) -> float:
    """The share of either picture's edges that both have; two without any are alike."""
    return (one & other).bit_count() / (one | other).bit_count() if one | other else 1.0


def frame_shingles(frames: Iterable[int]) -> frozenset[int]:
    """Fingerprints as hashes that `candidates` takes: a fingerprint itself is longer than a machine's number."""
    size = 4 * GRID * GRID // 8
    return frozenset(int.from_bytes(hashlib.blake2b(frame.to_bytes(size), digest_size=7).digest()) for frame in frames)


def is_same_picture(one: int, other: int) -> bool:
    """Whether two fingerprints are of one picture."""
    return edge_overlap(one, other) >= SAME_PICTURE_SHARE


def picture_similarity(one: bytes, other: bytes) -> float | None:
    """How much of their edges two pictures share; None where one is no picture."""
    left, right = fingerprint(one), fingerprint(other)
    return None if left is None or right is None else edge_overlap(left, right)


def screen_similarity(one: Sequence[int], other: Sequence[int]) -> float | None:
    """The share of frames that look alike, place by place; None where one of them shows nothing."""
    if not one or not other:
        return None
    return sum(is_same_picture(left, right) for left, right in zip(one, other, strict=False)) / max(
        len(one), len(other)
    )
