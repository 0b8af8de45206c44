"""`./pilothouse audit`: lets all scanners look, judges what they found, and prints the figures."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from annotation_app.operations.audit.allowances import Allowance, Verdict, judge, read_allowances, unused
from annotation_app.operations.audit.bill_of_materials import write_bills
from annotation_app.operations.audit.pins import PinScan, find_images
from annotation_app.operations.audit.reports import Report, State
from annotation_app.operations.audit.scanners import (
    CodeScan,
    ImageScan,
    NpmAudit,
    PipAudit,
    Program,
    Scanner,
    SecretScan,
    report_of,
)
from annotation_app.operations.console import Console
from annotation_app.operations.environments import ENVIRONMENTS, Environment
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.frontend import FOLDER as FRONTEND
from annotation_app.operations.node import Node
from annotation_app.operations.requirement_locks import AUDIT, LOCKS, TRAINER, WITHOUT_HASHES
from annotation_app.operations.stack import ROOT

HERE = Path(__file__).parent
ALLOWED, KNOWN = HERE / "allowed.toml", HERE / "known.toml"
BILLS = ROOT / ".data" / "audit"
EDITOR = ROOT / "vm_bridge" / "images" / "editor"
NODE_PACKAGES = {"frontend": FRONTEND, "editor": EDITOR}
REQUIREMENTS = (*(lock.path for lock in LOCKS), TRAINER.source, *WITHOUT_HASHES)
"""Files that together name every Python package. The trainer's lock leaves out torch, which its source has."""
GENERATED = (".lock", "package-lock.json")
"""Ends of names of files that are full of hashes and hold nothing else."""
GIT_SECONDS = 60


def run_audit(console: Console, node: Node, *, strict: bool = False) -> int:
    """Audit this tree and write its bill of materials. The last line printed is a JSON object with the figures.

    Args:
        console: Where it is told.
        node: The npm to use.
        strict: Whether a scanner that cannot look is an error too.

    Returns:
        The exit status: 1 with a finding that is not allowed, with a scanner that failed and, when `strict`, with one
        that is unavailable.
    """
    allowances = read_allowances(ALLOWED)
    programs = _programs(console)
    npm = Program(node.npm, ROOT, {**os.environ, **node.environment})
    scanners: tuple[Scanner, ...] = (
        PipAudit(_program(programs, "pip-audit"), REQUIREMENTS),
        NpmAudit(npm, tuple(NODE_PACKAGES.values())),
        SecretScan(_program(programs, "detect-secrets"), committed_files(ROOT)),
        CodeScan(Program((str(Path(sys.executable).with_name("ruff")),), ROOT)),
        PinScan(ROOT, KNOWN),
        ImageScan(Program(("trivy",), ROOT), tuple(pin.reference for pin in find_images(ROOT))),
    )
    reports = []
    for scanner in scanners:
        console.step(f"Scanning: {scanner.name} …")
        reports.append(report_of(scanner))
    names = {bill_name(file): file for file in REQUIREMENTS}
    cyclonedx = _program(programs, "cyclonedx-py")
    reports.append(write_bills(BILLS, python=cyclonedx, requirements=names, npm=npm, packages=NODE_PACKAGES))
    return conclude(reports, allowances, console, today=datetime.now(UTC).date(), strict=strict)


def conclude(
    reports: Sequence[Report], allowances: Sequence[Allowance], console: Console, *, today: date, strict: bool = False
) -> int:
    """Tell what was found, with the figures as the last line; gives the exit status."""
    verdicts = [judge(report, allowances, today) for report in reports]
    console.say()
    for verdict in verdicts:
        _tell(verdict, console)
    for allowance, name in unused(allowances, reports):
        console.warn(f"No finding of {allowance.scanner} fits the allowance {name!r} any more: remove it.")
    failed = any(report.state is State.FAILED for report in reports)
    unavailable = any(report.state is State.UNAVAILABLE for report in reports)
    findings = sum(len(verdict.open) for verdict in verdicts)
    console.say(json.dumps(figures(verdicts)))
    return int(findings > 0 or failed or (strict and unavailable))


def figures(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Figures for machines.

    `audit_ran` is whether no scanner failed and at least one ran; `audit_findings` counts those that are not allowed.
    """
    states = [verdict.report.state for verdict in verdicts]
    return {
        "audit_ran": State.RAN in states and State.FAILED not in states,
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


def bill_name(file: Path) -> str:
    """The name of the bill of materials of a file of requirements, such as `trainer-requirements.lock`."""
    return str(file.relative_to(ROOT)).replace("/", "-")


def committed_files(root: Path) -> tuple[str, ...]:
    """Files of the tree that git knows or would add, without those that are full of hashes.

    Raises:
        OperationsError: It is no git checkout.
    """
    words = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, timeout=GIT_SECONDS, check=False)
    if done.returncode:
        raise OperationsError("The secret scan needs a git checkout.", hint=done.stderr)
    return tuple(
        name
        for name in sorted(set(done.stdout.split("\0")))
        if name and not name.endswith(GENERATED) and (root / name).is_file()
    )


def _programs(console: Console) -> Path | None:
    """The folder of the scanners' programs; None, told, where they cannot be installed."""

    def fill(environment: Environment) -> None:
        environment.install_locked("the scanners", AUDIT)

    try:
        python = Environment("the audit", console, ENVIRONMENTS / "audit").ensure([AUDIT.path], fill)
    except OperationsError as error:
        console.warn(f"Scanners cannot be installed: {error}")
        return None
    return python.parent


def _program(folder: Path | None, name: str) -> Program:
    return Program((str(folder / name) if folder else name,), ROOT)


def _tell(verdict: Verdict, console: Console) -> None:
    report, expired = verdict.report, dict(verdict.expired)
    count = f"{len(verdict.open)} findings, {len(verdict.allowed)} allowed"
    match report.state:
        case State.RAN if not verdict.open:
            console.say(f"{console.paint('✓', 32)} {report.scanner:<18} {count}")
        case State.RAN:
            console.say(f"{console.paint('✗', 31)} {report.scanner:<18} {count}")
        case state:
            console.say(f"{console.paint('!', 33)} {report.scanner:<18} {state}: {report.detail} ({count})")
    for finding in verdict.open:
        console.say(f"    {finding.text}")
        why = f", allowed until {expired[finding].until} only" if finding in expired else ""
        console.say(f"      id: {finding.id}{why}")
