"""Percentiles, the machine's description, and progress lines."""

import os
import platform
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0 to 1) of the values lie, linear between neighbours; one decimal."""
    if len(values) == 1:
        return round(values[0], 1)
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return round(cuts[min(98, max(0, round(share * 100) - 1))], 1)


def machine() -> dict[str, object]:
    """What the figures were taken on."""
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        platform.machine(),
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**30, 1),
        "kernel": platform.release(),
        "python": platform.python_version(),
    }


def say(text: str) -> None:
    """A progress line; the last line of standard output is kept for the figures."""
    print(f"▸ {text}", file=sys.stderr, flush=True)
