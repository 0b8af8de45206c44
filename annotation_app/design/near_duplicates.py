"""Which of many task texts say the same in other words."""

import hashlib
from collections.abc import Sequence

from annotation_app.reviews.similarity import candidates
from protocol.wordings.comparison import MIN_SIMILARITY, Wording, read_wording, similarity

BANDS = 64
"""Of two hashes each: texts that share 0.3 of their words are compared with a chance of 1 - (1 - 0.3²)⁶⁴ ≈ 0.998."""


def find_near_duplicates(texts: Sequence[str], known: Sequence[str]) -> list[tuple[int, int, float]]:
    """Each text with each of the known ones that says the same: their places and their similarity (0 to 1). Two are
    compared where MinHash finds that they share words."""
    wordings = [read_wording(text) for text in (*texts, *known)]
    contents = [_hashed(wording) for wording in wordings]
    found = []
    for one, other in candidates(contents, bands=BANDS):
        if one < len(texts) <= other and (share := similarity(wordings[one], wordings[other])) >= MIN_SIMILARITY:
            found.append((one, other - len(texts), share))
    return found


def _hashed(wording: Wording) -> frozenset[int]:
    contents = (*wording.words, *wording.literals)
    return frozenset(int.from_bytes(hashlib.blake2b(word.encode(), digest_size=7).digest()) for word in contents)
