"""The audit tells a finding from an allowed one, and "nothing found" from "nothing looked at"."""

import io
import json
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from annotation_app.operations.audit.allowances import Allowance, read_allowances
from annotation_app.operations.audit.command import (
    ALLOWANCES_FILE,
    REQUIREMENTS,
    committed_files,
    print_verdicts,
    sbom_name,
)
from annotation_app.operations.audit.reports import Finding, ScanReport, ScanState
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
from annotation_app.operations.runtime.stack import ROOT

TODAY = date(2026, 11, 28)
FAKE = "import sys; out, err, status = sys.argv[1:4]; print(out); print(err, file=sys.stderr); sys.exit(int(status))"
WEAK = {"name": "django", "version": "5.2.1", "vulns": [{"id": "PYSEC-1", "fix_versions": ["5.2.2"], "aliases": []}]}
SOUND = {"name": "httpx", "version": "0.28.1", "vulns": []}
UNKNOWN = {"name": "ours", "skip_reason": "Dependency not found on PyPI and could not be audited: ours (1.0)"}
NPM_ADVISORY = {
    "name": "vite",
    "url": "https://github.com/advisories/GHSA-1",
    "range": "<7.0.1",
    "severity": "high",
    "title": "Reads files",
}
NPM_FOUND = {
    "vulnerabilities": {"vite": {"via": [NPM_ADVISORY]}, "vitest": {"via": ["vite"]}},
    "metadata": {"dependencies": {"total": 2}},
}
NPM_UNREACHABLE = {"message": "request failed", "error": {"summary": "", "detail": ""}}


def program(out: Any, *, err: str = "", status: int = 0, folder: Path = ROOT) -> ScannerProgram:
    """A program that prints this and ends so, whatever it is asked."""
    said = out if isinstance(out, str) else json.dumps(out)
    return ScannerProgram((sys.executable, "-c", FAKE, said, err, str(status)), folder)


@pytest.fixture
def requirements(tmp_path: Path) -> Path:
    file = tmp_path / "requirements.txt"
    file.write_text("django==5.2.1\n")
    return file


def pip_audit(requirements: Path, out: Any, *, err: str = "", status: int = 0) -> ScanReport:
    return run_scanner(PipAudit(program(out, err=err, status=status), (requirements,)))


def allowance(until: date, *findings: str, scanner: str = "pip-audit") -> Allowance:
    return Allowance(scanner, findings, TODAY, until, "known")


def concluded(
    *reports: ScanReport, allowances: tuple[Allowance, ...] = (), strict: bool = False
) -> tuple[int, Any, str]:
    """The exit status, the figures of the last line, and all that was told."""
    told = io.StringIO()
    status = print_verdicts(reports, allowances, Console(told), today=TODAY, strict=strict)
    return status, json.loads(told.getvalue().splitlines()[-1]), told.getvalue()


def test_a_finding_fails_the_audit(requirements: Path) -> None:
    status, figures, told = concluded(pip_audit(requirements, {"dependencies": [WEAK, SOUND]}, status=1))
    assert (status, figures["audit_ran"], figures["audit_findings"]) == (1, True, 1)
    assert "django 5.2.1 has PYSEC-1, mended in 5.2.2" in told


def test_an_allowed_finding_does_not(requirements: Path) -> None:
    report = pip_audit(requirements, {"dependencies": [WEAK]}, status=1)
    status, figures, _ = concluded(report, allowances=(allowance(TODAY, "django PYSEC-1"),))
    assert (status, figures["audit_findings"], figures["scanners"]["pip-audit"]["allowed"]) == (0, 0, 1)


def test_an_allowance_is_for_its_scanner_and_finding_alone(requirements: Path) -> None:
    report = pip_audit(requirements, {"dependencies": [WEAK]}, status=1)
    others = (allowance(TODAY, "django PYSEC-2"), allowance(TODAY, "django PYSEC-1", scanner="npm-audit"))
    assert concluded(report, allowances=others)[0] == 1


def test_a_finding_whose_allowance_expired_counts_again(requirements: Path) -> None:
    report = pip_audit(requirements, {"dependencies": [WEAK]}, status=1)
    status, figures, told = concluded(report, allowances=(allowance(date(2026, 11, 27), "django *"),))
    assert (status, figures["audit_findings"], figures["scanners"]["pip-audit"]["expired"]) == (1, 1, 1)
    assert "allowed until 2026-11-27 only" in told


def test_an_allowance_that_fits_nothing_is_told(requirements: Path) -> None:
    report = pip_audit(requirements, {"dependencies": [SOUND]})
    status, _, told = concluded(report, allowances=(allowance(TODAY, "django PYSEC-1"),))
    assert status == 0
    assert "'django PYSEC-1' any more: remove it" in told
    silent = ScanReport("pip-audit", ScanState.UNAVAILABLE, detail="no network")
    assert "remove it" not in concluded(silent, allowances=(allowance(TODAY, "django PYSEC-1"),))[2]


@pytest.mark.parametrize(
    ("out", "err", "status"),
    [
        ("", "ERROR:pip_audit._cli:aioice: Dependency not found on PyPI and could not be audited: aioice", 1),
        ("", "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='pypi.org', port=443)", 1),
        ("", "ERROR:pip_audit._cli:Could not connect to PyPI's vulnerability feed", 1),
        # What it prints where it is not strict: no finding, status 0.
        ({"dependencies": [SOUND, UNKNOWN]}, "No known vulnerabilities found, 1 skipped", 0),
    ],
)
def test_an_unreachable_database_is_not_a_clean_result(out: Any, err: str, status: int, requirements: Path) -> None:
    report = pip_audit(requirements, out, err=err, status=status)
    assert report.state is ScanState.UNAVAILABLE
    ended, figures, told = concluded(report)
    assert (ended, figures["audit_ran"], figures["scanners"]["pip-audit"]["state"]) == (0, False, "unavailable")
    assert "unavailable" in told
    assert concluded(report, strict=True)[0] == 1


@pytest.mark.parametrize(
    ("out", "err", "status"),
    [
        ("", "Traceback (most recent call last):\nKeyError: 'name'", 1),
        ("No known vulnerabilities found", "", 0),
        ({"dependencies": []}, "", 0),
        ({"packages": []}, "", 0),
        ({"dependencies": [{"name": "django"}]}, "", 0),
        ({"dependencies": [SOUND]}, "killed", 137),
    ],
)
def test_a_scanner_that_crashes_fails_the_audit(out: Any, err: str, status: int, requirements: Path) -> None:
    report = pip_audit(requirements, out, err=err, status=status)
    assert report.state is ScanState.FAILED
    assert report.detail
    sound = ScanReport("secrets", ScanState.RAN)
    ended, figures, _ = concluded(report, sound)
    assert (ended, figures["audit_ran"], figures["audit_findings"]) == (1, False, 0)


def test_what_was_found_before_a_crash_still_counts() -> None:
    class Breaks:
        name = "breaks"

        def scan(self) -> Iterator[Finding]:
            yield Finding("a", "a weakness")
            raise RuntimeError("then it broke")

    scanner: Scanner = Breaks()
    report = run_scanner(scanner)
    assert (report.state, report.detail) == (ScanState.FAILED, "RuntimeError: then it broke")
    assert concluded(report)[1]["audit_findings"] == 1


def test_a_scanner_that_is_not_installed_is_unavailable(tmp_path: Path) -> None:
    report = run_scanner(ImageScan(ScannerProgram((str(tmp_path / "trivy"),), tmp_path), ("nginx:1.30.2",)))
    assert (report.state, "is not installed" in report.detail) == (ScanState.UNAVAILABLE, True)


def test_a_scanner_that_hangs_has_failed(tmp_path: Path) -> None:
    endless = ScannerProgram((sys.executable, "-c", "import signal; signal.pause()"), tmp_path, seconds=0.2)
    report = run_scanner(SecretScan(endless, ("a.py",)))
    assert (report.state, "timed out" in report.detail) == (ScanState.FAILED, True)


@pytest.mark.parametrize(
    ("out", "err", "status", "state", "ids"),
    [
        (NPM_FOUND, "", 1, ScanState.RAN, ["vite GHSA-1"]),
        (NPM_UNREACHABLE, "npm error audit endpoint returned an error", 1, ScanState.UNAVAILABLE, []),
        (NPM_UNREACHABLE, "npm error network getaddrinfo EAI_AGAIN registry.npmjs.org", 0, ScanState.UNAVAILABLE, []),
        ({"vulnerabilities": {}, "metadata": {"dependencies": {"total": 0}}}, "", 0, ScanState.FAILED, []),
        ("", "npm error code ENOLOCK", 1, ScanState.FAILED, []),
    ],
)
def test_node_packages(out: Any, err: str, status: int, state: ScanState, ids: list[str], tmp_path: Path) -> None:
    report = run_scanner(NpmAudit(program(out, err=err, status=status), (tmp_path,)))
    assert (report.state, [finding.id for finding in report.findings]) == (state, ids)


def test_npms_last_line_is_not_taken_for_its_error(tmp_path: Path) -> None:
    err = "npm error code ENOLOCK\nnpm error no lock file\nnpm error A complete log of this run can be found in: /a.log"
    report = run_scanner(NpmAudit(program("", err=err, status=1), (tmp_path,)))
    assert report.detail == "exit status 1: npm error no lock file"


def test_a_secret_is_named_by_a_part_of_its_hash() -> None:
    found = {"type": "AWS Access Key", "hashed_secret": "0123456789abcdef", "line_number": 7}
    report = run_scanner(SecretScan(program({"results": {"a.py": [found]}}), ("a.py",)))
    assert report.findings == (Finding("a.py AWS Access Key 01234567", "a.py:7 looks like a secret (AWS Access Key)"),)
    assert run_scanner(SecretScan(program({"results": {}}), ())).state is ScanState.FAILED


def test_of_the_linter_only_security_rules_count(tmp_path: Path) -> None:
    where = {"filename": str(tmp_path / "a.py"), "location": {"row": 3}, "message": "why"}
    found = [{**where, "code": code} for code in ("S602", "SIM108", "E501", None)]
    report = run_scanner(CodeScan(program(found, status=1, folder=tmp_path)))
    assert [finding.id for finding in report.findings] == ["a.py S602"]


def test_only_severe_findings_of_images_count() -> None:
    advisories = [
        {"PkgName": "openssl", "VulnerabilityID": "CVE-1", "Severity": "CRITICAL"},
        {"PkgName": "bash", "VulnerabilityID": "CVE-2", "Severity": "LOW"},
    ]
    image = ImageScan(program({"Results": [{"Vulnerabilities": advisories}, {}]}), ("nginx:1.30.2",))
    assert [finding.id for finding in run_scanner(image).findings] == ["nginx:1.30.2 openssl CVE-1"]
    offline = program("", err="FATAL failed to download vulnerability DB: no such host", status=1)
    assert run_scanner(ImageScan(offline, ("nginx:1.30.2",))).state is ScanState.UNAVAILABLE


def test_bills_of_materials_are_written(tmp_path: Path) -> None:
    made = program({"components": [{"name": "django"}]})
    given = {"requirements": {"run": tmp_path / "a.txt"}, "packages": {"frontend": tmp_path}}
    report = write_sboms(tmp_path / "out", python=made, npm=made, **given)
    assert report.state is ScanState.RAN
    assert {file.name for file in (tmp_path / "out").iterdir()} == {"python-run.cdx.json", "node-frontend.cdx.json"}
    empty = program({"components": []})
    assert write_sboms(tmp_path / "out", python=empty, npm=made, **given).state is ScanState.FAILED


def test_each_file_of_requirements_has_a_bill_of_its_own() -> None:
    assert len({sbom_name(file) for file in REQUIREMENTS}) == len(REQUIREMENTS)
    assert any("torch==" in file.read_text() for file in REQUIREMENTS)


WHOLE = """[[allowed]]
scanner = "pins"
findings = ["nginx:1 no digest"]
added = 2026-11-28
until = 2027-02-28
reason = "No registry."
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('reason = "No registry."\n', ""),
        ('"No registry."', '" "'),
        ("until = 2027-02-28\n", ""),
        ("2027-02-28", "2028-02-28"),
        ("2027-02-28", "2026-02-28"),
        ("2027-02-28", '"2027-02-28"'),
        ('["nginx:1 no digest"]', "[]"),
        ('["nginx:1 no digest"]', '["a", 1]'),
        ("reason =", "reasons = 1\nreason ="),
        ("[[allowed]]", "[[allow]]"),
        ("[[allowed]]", "[[allowed"),
    ],
)
def test_an_allowance_has_a_reason_and_dates(old: str, new: str, tmp_path: Path) -> None:
    file = tmp_path / "allowed.toml"
    file.write_text(WHOLE)
    assert [each.until for each in read_allowances(file)] == [date(2027, 2, 28)]
    file.write_text(WHOLE.replace(old, new))
    with pytest.raises(OperationsError, match=r"allowed\.toml"):
        read_allowances(file)


def test_the_committed_list_is_whole() -> None:
    assert read_allowances(ALLOWANCES_FILE)


def test_the_secret_scan_reads_what_git_knows_or_would_add() -> None:
    files = committed_files(ROOT)
    assert {"pilothouse", "annotation_app/operations/audit/command.py"} <= set(files)
    assert not [name for name in files if name.endswith(".lock") or name.startswith((".venv/", ".data/"))]
    with pytest.raises(OperationsError):
        committed_files(Path("/"))
