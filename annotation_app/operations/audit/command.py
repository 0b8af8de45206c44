"""`./pilothouse audit`: run all scanners, judge their findings, and print the figures."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from annotation_app.operations.audit.allowances import (
    Allowance,
    Verdict,
    apply_allowances,
    read_allowances,
    unused_allowances,
)
from annotation_app.operations.audit.pins import PinScan, find_images
from annotation_app.operations.audit.reports import ScanReport, ScanState
from annotation_app.operations.audit.sbom import write_sboms
from annotation_app.operations.audit.scanners import (
    CodeScan,
    ImageScan,
    NpmAudit,
    PipAudit,
    Scanner,
    ScannerProgram,
    SecretScan,
    run_scanner,
)
from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.install.extra_environments import ENVIRONMENTS_FOLDER, PythonEnvironment
from annotation_app.operations.install.frontend import FRONTEND_FOLDER as FRONTEND
from annotation_app.operations.install.node import Node
from annotation_app.operations.install.requirement_locks import (
    ALL_LOCKS,
    AUDIT_LOCK,
    TRAINER_LOCK,
    UNHASHED_REQUIREMENTS,
)
from annotation_app.operations.runtime.stack import ROOT

AUDIT_FOLDER = Path(__file__).parent
ALLOWANCES_FILE, FIXED_VERSIONS_FILE = AUDIT_FOLDER / "allowed.toml", AUDIT_FOLDER / "known.toml"
SBOM_FOLDER = ROOT / ".data" / "audit"
EDITOR_FOLDER = ROOT / "vm_bridge" / "images" / "editor"
NODE_PACKAGES = {"frontend": FRONTEND, "editor": EDITOR_FOLDER}
REQUIREMENTS = (*(lock.path for lock in ALL_LOCKS), TRAINER_LOCK.source, *UNHASHED_REQUIREMENTS)
"""Files that together name every Python package. The trainer's lock leaves out torch, which its source includes."""
HASHED_SUFFIXES = (".lock", "package-lock.json")
"""File name suffixes of files that consist of hashes."""
GIT_TIMEOUT_SECONDS = 60


def run_audit(console: Console, node: Node, *, strict: bool = False) -> int:
    """Audit this tree and write its bill of materials. The last line printed is a JSON object with the figures.

    Args:
        console: Where to print.
        node: The npm to use.
        strict: Whether an unavailable scanner is also an error.

    Returns:
        The exit status: 1 with a finding that is not allowed, with a scanner that failed and, when `strict`, with one
        that is unavailable.
    """
    allowances = read_allowances(ALLOWANCES_FILE)
    programs = _ensure_scanners(console)
    npm = ScannerProgram(node.npm, ROOT, {**os.environ, **node.environment})
    scanners: tuple[Scanner, ...] = (
        PipAudit(_program(programs, "pip-audit"), REQUIREMENTS),
        NpmAudit(npm, tuple(NODE_PACKAGES.values())),
        SecretScan(_program(programs, "detect-secrets"), committed_files(ROOT)),
        CodeScan(ScannerProgram((str(Path(sys.executable).with_name("ruff")),), ROOT)),
        PinScan(ROOT, FIXED_VERSIONS_FILE),
        ImageScan(ScannerProgram(("trivy",), ROOT), tuple(pin.reference for pin in find_images(ROOT))),
    )
    reports = []
    for scanner in scanners:
        console.step(f"Scanning: {scanner.name} …")
        reports.append(run_scanner(scanner))
    names = {sbom_name(file): file for file in REQUIREMENTS}
    cyclonedx = _program(programs, "cyclonedx-py")
    reports.append(write_sboms(SBOM_FOLDER, python=cyclonedx, requirements=names, npm=npm, packages=NODE_PACKAGES))
    return print_verdicts(reports, allowances, console, today=datetime.now(UTC).date(), strict=strict)


def print_verdicts(
    reports: Sequence[ScanReport],
    allowances: Sequence[Allowance],
    console: Console,
    *,
    today: date,
    strict: bool = False,
) -> int:
    """Print the findings, with the figures as the last line. Returns the exit status."""
    verdicts = [apply_allowances(report, allowances, today) for report in reports]
    console.say()
    for verdict in verdicts:
        _print_verdict(verdict, console)
    for allowance, name in unused_allowances(allowances, reports):
        console.warn(f"No finding of {allowance.scanner} fits the allowance {name!r} any more: remove it.")
    failed = any(report.state is ScanState.FAILED for report in reports)
    unavailable = any(report.state is ScanState.UNAVAILABLE for report in reports)
    findings = sum(len(verdict.open) for verdict in verdicts)
    console.say(json.dumps(summarize_verdicts(verdicts)))
    return int(findings > 0 or failed or (strict and unavailable))


def summarize_verdicts(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The figures in machine-readable form.

    `audit_ran` is whether at least one scanner ran and none failed. `audit_findings` counts findings that are not
    allowed.
    """
    states = [verdict.report.state for verdict in verdicts]
    return {
        "audit_ran": ScanState.RAN in states and ScanState.FAILED not in states,
        "audit_findings": sum(len(verdict.open) for verdict in verdicts),
        "scanners": {
            verdict.report.scanner: {
                "state": verdict.report.state.value,
                "findings": len(verdict.open),
                "allowed": len(verdict.allowed),
                "expired": len(verdict.expired),
                "detail": verdict.report.detail,
            }
            for verdict in verdicts
        },
    }


def sbom_name(file: Path) -> str:
    """The file name of the bill of materials for a requirements file, such as `trainer-requirements.lock`."""
    return str(file.relative_to(ROOT)).replace("/", "-")


def committed_files(root: Path) -> tuple[str, ...]:
    """Files that git tracks or would add, without those that consist of hashes.

    Raises:
        OperationsError: The tree is not a git checkout.
    """
    words = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, timeout=GIT_TIMEOUT_SECONDS, check=False)
    if done.returncode:
        raise OperationsError("The secret scan needs a git checkout.", hint=done.stderr)
    return tuple(
        name
        for name in sorted(set(done.stdout.split("\0")))
        if name and not name.endswith(HASHED_SUFFIXES) and (root / name).is_file()
    )


def _ensure_scanners(console: Console) -> Path | None:
    """The folder of the scanners' programs; None, with a message, if they cannot be installed."""

    def fill(environment: PythonEnvironment) -> None:
        environment.install_locked("the scanners", AUDIT_LOCK)

    try:
        python = PythonEnvironment("the audit", console, ENVIRONMENTS_FOLDER / "audit").ensure([AUDIT_LOCK.path], fill)
    except OperationsError as error:
        console.warn(f"Scanners cannot be installed: {error}")
        return None
    return python.parent


def _program(folder: Path | None, name: str) -> ScannerProgram:
    return ScannerProgram((str(folder / name) if folder else name,), ROOT)


def _print_verdict(verdict: Verdict, console: Console) -> None:
    report, expired = verdict.report, dict(verdict.expired)
    count = f"{len(verdict.open)} findings, {len(verdict.allowed)} allowed"
    match report.state:
        case ScanState.RAN if not verdict.open:
            console.say(f"{console.paint('✓', 32)} {report.scanner:<18} {count}")
        case ScanState.RAN:
            console.say(f"{console.paint('✗', 31)} {report.scanner:<18} {count}")
        case state:
            console.say(f"{console.paint('!', 33)} {report.scanner:<18} {state}: {report.detail} ({count})")
    for finding in verdict.open:
        console.say(f"    {finding.text}")
        why = f", allowed until {expired[finding].until} only" if finding in expired else ""
        console.say(f"      id: {finding.id}{why}")
