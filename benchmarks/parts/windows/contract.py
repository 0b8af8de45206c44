"""Runs the contract tests against the Windows agent, which runs on CPython for Windows under Wine."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.install.setup import SETUP_LOG
from annotation_app.operations.install.system_packages import WINE_PACKAGES, ensure_system_packages
from benchmarks.parts.figures import print_progress

TESTS = "tests/contract"
INTERPRETER = "tests.integration.windows.interpreter"
INTERPRETER_SECONDS, TEST_SECONDS = 600, 900


def windows_contract(scratch: Path) -> Mapping[str, Mapping[str, int]]:
    """`windows_contract` with `passed` and `total`; nothing where Wine or an interpreter cannot be had."""
    try:
        ensure_system_packages(Console(), SETUP_LOG, WINE_PACKAGES)
    except OperationsError as error:
        return _left_out(str(error))
    made = _run(("-m", INTERPRETER, "--if-missing"), INTERPRETER_SECONDS)
    if made.returncode != 0:
        return _left_out(f"no Python for Windows: {made.stderr.strip()[-300:]}")
    report = scratch / "windows-contract.xml"
    ran = _run(
        ("-m", "pytest", "--all", "-q", "-k", "windows", "-p", "no:cacheprovider", f"--junitxml={report}", TESTS),
        TEST_SECONDS,
    )
    if not report.exists():
        return _left_out(f"the tests did not run: {ran.stdout.strip()[-300:]}")
    counts = count_tests(report.read_bytes())
    if counts["passed"] != counts["total"]:
        print_progress(ran.stdout[-2_000:])
    return {"windows_contract": counts} if counts["total"] else _left_out("every test was skipped")


def count_tests(report: bytes) -> dict[str, int]:
    """The tests of a JUnit report that passed, and those that ran; skipped ones count in neither."""
    cases = list(ET.fromstring(report).iter("testcase"))  # noqa: S314 - our own tests wrote it
    ran = [case for case in cases if case.find("skipped") is None]
    failed = [case for case in ran if case.find("failure") is not None or case.find("error") is not None]
    return {"passed": len(ran) - len(failed), "total": len(ran)}


def _left_out(why: str) -> Mapping[str, Mapping[str, int]]:
    print_progress(f"windows_contract is left out: {why}")
    return {}


def _run(words: tuple[str, ...], seconds: int) -> "subprocess.CompletedProcess[str]":
    return subprocess.run((sys.executable, *words), capture_output=True, text=True, check=False, timeout=seconds)
