"""Our sizes of scaled pictures against those of the code that UI-TARS and Qwen publish."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from protocol.dialects.coordinates import MAX_PIXELS, MIN_PIXELS, RESIZE_FACTOR, smart_resize

SIZES = 30_000
LONGEST_SIDE = 10_000
LIMITS = tuple((MIN_PIXELS, patches * RESIZE_FACTOR**2) for patches in (MAX_PIXELS // RESIZE_FACTOR**2, 2_700, 5_120))
"""Those of UI-TARS 1.5, UI-TARS 1.0 and Doubao."""
Size = tuple[int, int, int, int]
"""Height, width, fewest and most pixels."""


def random_sizes(seed: int) -> list[Size]:
    """Sizes under each of the limits, some too narrow; the same seed gives the same sizes."""
    rng = random.Random(seed)

    def side() -> int:
        return rng.choice((rng.randint(1, LONGEST_SIDE), rng.randint(1, 600), rng.randint(1, 400) * RESIZE_FACTOR // 2))

    return [(height, width, *limits) for height, width in ((side(), side()) for _ in range(SIZES)) for limits in LIMITS]


def measure_sizes(run: Callable[[str, Path, Path], None], data: Path) -> dict[str, Any]:
    """How many sizes there are, and the share of them that is the published one.

    Args:
        run: Runs a program of the consumers' environment on a file, which writes another.
    """
    given, out, sizes = data / "sizes.json", data / "published-sizes.json", random_sizes(seed=30)
    given.write_text(json.dumps(sizes))
    run("resize.py", given, out)
    published: dict[str, list[list[int] | None]] = json.loads(out.read_text())
    ours = [_resize(*size) for size in sizes]
    return {
        "resize_sizes": SIZES,
        "resize_equal_share": {
            package: sum(mine == theirs for mine, theirs in zip(ours, found, strict=True)) / len(ours)
            for package, found in published.items()
        },
    }


def _resize(height: int, width: int, min_pixels: int, max_pixels: int) -> list[int] | None:
    try:
        return list(smart_resize(height, width, min_pixels=min_pixels, max_pixels=max_pixels))
    except ValueError:
        return None
