"""What the front-end's own tests count: keyboards of a takeover whose every character arrives, and the keys that
completion saves."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotation_app.operations.runtime.stack import ROOT

FRONTEND = ROOT / "frontend"
KEYBOARDS = "src/features/annotate/viewport/takeover-keys.test.ts"
COMPLETION = "src/features/annotate/step/command-line.test.ts"
GROUP = "keys during a takeover, by keyboard"
SAVED = "completion_keys_saved_share"
NOTHING: Mapping[str, object] = {"keyboard_cases": None, "keyboard_cases_exact": None, SAVED: None}
SECONDS = 600.0


def measure(folder: Path) -> Mapping[str, object]:
    """Plays the cases with the front-end's test runner; None where it is not installed."""
    runner = FRONTEND / "node_modules/vitest/vitest.mjs"
    if not runner.exists():
        return NOTHING
    report = folder / "frontend.json"
    command = ["node", str(runner), "run", KEYBOARDS, COMPLETION, "--reporter=json", f"--outputFile={report}"]
    subprocess.run(command, cwd=FRONTEND, timeout=SECONDS, check=False, capture_output=True)
    results = [one for file in json.loads(report.read_text())["testResults"] for one in file["assertionResults"]]
    return figures_of(results)


def figures_of(results: list[dict[str, Any]]) -> Mapping[str, object]:
    """The figures of the test runner's results; the share is what its test measured, whether it passed or not."""
    cases = [one["status"] == "passed" for one in results if one["ancestorTitles"][-1] == GROUP]
    saved = [one["meta"][SAVED] for one in results if SAVED in one.get("meta", {})]
    return {"keyboard_cases": len(cases), "keyboard_cases_exact": sum(cases), SAVED: saved[0] if saved else None}
