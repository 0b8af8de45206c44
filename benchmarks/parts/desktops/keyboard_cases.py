"""Keyboards of many layouts and browsers during a takeover: how many cases there are, and in how many the machine gets
exactly what was typed."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

from annotation_app.operations.runtime.stack import ROOT

FRONTEND = ROOT / "frontend"
CASES = "src/features/annotate/viewport/takeover-keys.test.ts"
GROUP = "keys during a takeover, by keyboard"
SECONDS = 180.0


def measure(folder: Path) -> Mapping[str, object]:
    """Plays the cases with the front-end's test runner; None where it is not installed."""
    runner = FRONTEND / "node_modules/vitest/vitest.mjs"
    if not runner.exists():
        return {"keyboard_cases": None, "keyboard_cases_exact": None}
    report = folder / "keyboard.json"
    command = ["node", str(runner), "run", CASES, "--reporter=json", f"--outputFile={report}"]
    subprocess.run(command, cwd=FRONTEND, timeout=SECONDS, check=False, capture_output=True)
    results = json.loads(report.read_text())["testResults"][0]["assertionResults"]
    cases = [one["status"] == "passed" for one in results if one["ancestorTitles"][-1] == GROUP]
    return {"keyboard_cases": len(cases), "keyboard_cases_exact": sum(cases)}
