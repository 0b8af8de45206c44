"""Runs the contract of machines on pods of a simulated cluster, with the failures that a cluster adds."""

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

from annotation_app.operations.runtime.stack import ROOT

CONTRACT = ("tests/contract/test_machine.py", "tests/contract/test_machine_io.py", "tests/contract/test_sandbox.py")
FAILURES = "tests/integration/kubernetes"
TIMEOUT_SECONDS = 600.0


def measure_contract(scratch: Path) -> dict[str, int]:
    """How many of the contract's cases passed, of how many; skipped cases count as not passed.

    Raises TimeoutExpired after ten minutes.
    """
    contract = run_cases(scratch / "contract.xml", *CONTRACT, "-k", "pods")
    failures = run_cases(scratch / "failures.xml", FAILURES)
    return {"passed": contract[0] + failures[0], "total": contract[1] + failures[1]}


def run_cases(report: Path, *selection: str) -> tuple[int, int]:
    """The number of cases that passed, and of all."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *selection]
    subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=sys.stderr,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )
    return count_cases(report.read_bytes()) if report.exists() else (0, 0)


def count_cases(report: bytes) -> tuple[int, int]:
    """The cases of a report of pytest: those that passed, and all."""
    passed = total = 0
    # The report is of the tests that this process started.
    for case in ElementTree.fromstring(report).iter("testcase"):  # noqa: S314
        total += 1
        passed += not any(case.find(name) is not None for name in ("failure", "error", "skipped"))
    return passed, total
