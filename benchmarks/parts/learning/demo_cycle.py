"""The first cycle of the demo's flywheel: ten tasks by a simulated annotator, then a whole cycle with its gate."""

import os
import subprocess
import sys
import time
from pathlib import Path

from annotation_app.operations.runtime.stack import ROOT
from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform, temporary_platform

POOL = "Small screens"
EPISODES = 10


def measure_demo_cycle(folder: Path) -> dict[str, object]:
    """Seconds from the start of the cycle to its end, and whether its policy proposes then. Raises
    CalledProcessError, StartFailed."""
    with temporary_platform(folder, nano=True) as platform:
        words = ("--data", str(folder), "--pool", POOL, "--episodes", str(EPISODES), "--aim", "10")
        _run(platform, "-m", "annotation_app.operations", "simulate-annotator", *words)
        began = time.monotonic()
        _run(platform, str(ROOT / "manage.py"), "run_flywheel", "--skip-checks", POOL)
        seconds = time.monotonic() - began
        active = f"from annotation_app.tasks.models import Pool; print(Pool.objects.get(name={POOL!r}).policy)"
        proposes = platform.manage("shell", "-v", "0", "-c", active).strip()
    return {"cycle_in_demo_s": round(seconds, 1), "cycle_in_demo_proposes": proposes}


def _run(platform: TemporaryPlatform, *words: str) -> None:
    subprocess.run(
        [sys.executable, *words], check=True, cwd=ROOT, env={**os.environ, **platform.environment}, stdout=sys.stderr
    )
