"""How models' replies are read: `./pilothouse bench models`. One JSON object is the last line.

docs/benchmarks.md says what its keys mean.
"""

import argparse
import sys
from collections.abc import Callable

from benchmarks.parts.figures import print_figures
from benchmarks.parts.models import replies

PARTS: tuple[Callable[[], dict[str, object]], ...] = (replies.measure,)
"""What is measured, in order; each part gives its own keys."""


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    figures: dict[str, object] = {}
    for part in PARTS:
        figures |= part()
    return print_figures("models", figures)


if __name__ == "__main__":
    sys.exit(main())
