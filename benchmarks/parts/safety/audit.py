"""What `./pilothouse audit` finds."""

import json
import subprocess
from pathlib import Path
from typing import Any

from annotation_app.operations.runtime.stack import ROOT

AUDIT_SECONDS = 600.0


def measure_audit(folder: Path) -> dict[str, Any]:
    """The audit's figures; what it says on the way is in `audit.log` in the folder."""
    with (folder / "audit.log").open("w") as log:
        ran = subprocess.run(
            [str(ROOT / "pilothouse"), "audit"], cwd=ROOT, stdout=subprocess.PIPE, stderr=log, text=True,
            timeout=AUDIT_SECONDS, check=False,
        )  # fmt: skip
    lines = ran.stdout.strip().splitlines()
    try:
        told = json.loads(lines[-1])
    except (IndexError, ValueError):
        return {"audit_ran": False, "audit_findings": None, "audit_scanners": {}}
    states = {name: report["state"] for name, report in told["scanners"].items()}
    return {"audit_ran": told["audit_ran"], "audit_findings": told["audit_findings"], "audit_scanners": states}
