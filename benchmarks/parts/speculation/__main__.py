"""These figures alone: `python -m benchmarks.parts.speculation`."""

import asyncio
import tempfile
from pathlib import Path

from benchmarks.parts.figures import print_figures
from benchmarks.parts.speculation.waits import measure

if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
        raise SystemExit(print_figures("speculation", asyncio.run(measure(Path(folder)))))
