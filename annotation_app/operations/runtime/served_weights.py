"""The weights that the bundled policy's server loaded last. It starts with them again."""

import json
import os
from pathlib import Path
from typing import NamedTuple

SERVED_WEIGHTS_FILE = "served-weights.json"
"""File name in the data folder."""


class ServedWeights(NamedTuple):
    """A checkpoint's folder, and the name of its weights."""

    checkpoint: Path
    version: str


def record_served_weights(data: Path, weights: ServedWeights) -> None:
    """Store them atomically. Raises OSError."""
    path = data / SERVED_WEIGHTS_FILE
    aside = path.with_name(f"{path.name}.part")
    aside.write_text(json.dumps({"checkpoint": str(weights.checkpoint.absolute()), "version": weights.version}))
    os.replace(aside, path)


def read_served_weights(data: Path, default: ServedWeights) -> ServedWeights:
    """What was recorded last; the default if nothing was, or if its folder is gone."""
    try:
        recorded = json.loads((data / SERVED_WEIGHTS_FILE).read_text())
        found = ServedWeights(Path(recorded["checkpoint"]), str(recorded["version"]))
    except (OSError, ValueError, KeyError, TypeError):
        return default
    return found if found.checkpoint.is_dir() else default
