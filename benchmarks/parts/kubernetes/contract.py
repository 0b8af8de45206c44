"""Runs the contract of machines on pods of a simulated cluster, with the failures that a cluster adds."""

import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.figures import print_progress
from benchmarks.parts.test_reports import count_tests

RUNS = {"contract": ("-k", "pods", "tests/contract"), "failures": ("tests/integration/kubernetes",)}
TIMEOUT_SECONDS = 600.0


def kubernetes_contract(scratch: Path) -> Mapping[str, Mapping[str, int]]:
    """`kubernetes_contract` with `passed` and `total`; a run that makes no report counts as one test that failed.

    Raises TimeoutExpired where a run takes more than ten minutes.
    """
    counts = Counter({"passed": 0, "total": 0})
    for name, selection in RUNS.items():
        report = scratch / f"kubernetes-{name}.xml"
        command = (sys.executable, "-m", "pytest", "--all", "-q", "-p", "no:cacheprovider", f"--junitxml={report}")
        ran = subprocess.run(
            (*command, *selection), cwd=ROOT, capture_output=True, text=True, check=False, timeout=TIMEOUT_SECONDS
        )
        counted = count_tests(report.read_bytes()) if report.exists() else {"passed": 0, "total": 1}
        if counted["passed"] != counted["total"]:
            print_progress(ran.stdout[-2_000:])
        counts.update(counted)
    return {"kubernetes_contract": dict(counts)}
