"""Loudness of a session, twenty values per second in 8 bits each: enough to see speech, too little to hear it."""

import base64
import math
from array import array
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .sessions import content_path

RATE = 20
"""Values per second."""
QUIETEST_DB = -60.0
"""Silence: a level of 0. Full scale is 255."""
JOINED_NS = 60_000_000
"""Chunks this close to each other form one run."""


def measure_levels(folder: Path, events: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The levels of a session's sound, in runs without gaps; None if no voice was recorded. `values` are bytes in
    base64.
    """
    runs: list[tuple[int, bytearray]] = []
    end_ns = None
    for event in sorted((one for one in events if one["kind"] == "audio.chunk"), key=lambda one: int(one["t_ns"])):
        path = content_path(folder, event)
        if path is None or not path.is_file():
            continue
        if end_ns is None or abs(event["t_ns"] - end_ns) > JOINED_NS:
            runs.append((event["t_ns"], bytearray()))
        runs[-1][1].extend(chunk_levels(path.read_bytes(), event["rate"]))
        end_ns = event["t_ns"] + event["duration_ns"]
    if not runs:
        return None
    return {
        "rate": RATE,
        "runs": [{"t_ns": t_ns, "values": base64.b64encode(values).decode()} for t_ns, values in runs],
    }


def chunk_levels(samples: bytes, rate: int) -> bytes:
    """The levels of 16-bit samples: the peak of each twentieth of a second, in decibels."""
    values = array("h", samples[: len(samples) // 2 * 2])
    size = max(1, rate // RATE)
    return bytes(_level(values[place : place + size]) for place in range(0, len(values), size))


def _level(values: "array[int]") -> int:
    peak = max(max(values), -min(values)) / 32_768
    decibels = 20 * math.log10(peak) if peak > 0 else QUIETEST_DB
    return round(255 * min(1.0, max(0.0, 1 - decibels / QUIETEST_DB)))
