"""Scanners: each runs a program, reads its output and reports findings.

A program that reports nothing about a package has not scanned it. So a missing or empty answer never counts as "no
findings".
"""

import json
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from annotation_app.operations.audit.reports import Finding, ScanReport, ScanState

SCAN_TIMEOUT_SECONDS = 900.0
DETAIL_CHARACTERS = 200
UNREACHABLE_PATTERN = re.compile(
    r"could not be audited|ConnectionError|Could not connect|Max retries|ServiceError|Timed out|timed out|ReadTimeout"
    r"|audit endpoint returned an error|EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH"
    r"|failed to download vulnerability DB|no such host|unable to find the specified image|connection refused"
)
"""Messages of programs whose database or input is unreachable."""
NPM_LOG_LINE = "A complete log of this run can be found in"
"""The last line of npm's errors, which has no information."""
SECURITY_RULE_PATTERN = re.compile(r"S\d+")
SEVERE_LEVELS = {"HIGH", "CRITICAL"}
Document = dict[str, Any]


class ScannerUnavailable(Exception):
    """The scanner cannot run; the text says why."""


class ScannerFailed(Exception):
    """The scanner crashed, or its output is unreadable."""


@dataclass(frozen=True, slots=True)
class ScannerProgram:
    """The command of a program before its arguments, its working folder, and additional environment variables."""

    words: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    seconds: float = SCAN_TIMEOUT_SECONDS

    def document(self, *arguments: str, expected: Iterable[int] = (0, 1)) -> Any:
        """Run it and read the JSON that it prints.

        Args:
            arguments: Appended to `words`.
            expected: Exit statuses of a successful scan.

        Raises:
            ScannerUnavailable: It is not installed, or reports that something is unreachable.
            ScannerFailed: Its output is not JSON, or its exit status is unexpected.
        """
        try:
            done = subprocess.run(
                (*self.words, *arguments), cwd=self.folder, env=dict(self.environment) or None, capture_output=True,
                text=True, timeout=self.seconds, check=False, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except FileNotFoundError as error:
            raise ScannerUnavailable(f"{self.words[0]} is not installed") from error
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ScannerFailed(str(error)) from error
        if done.returncode in expected and (found := _parse_json(done.stdout)) is not None and not _is_error(found):
            return found
        output = f"{done.stderr}\n{done.stdout}"
        if cause := UNREACHABLE_PATTERN.search(output):
            raise ScannerUnavailable(_line_at(output, cause.start()))
        lines = [line for line in done.stderr.strip().splitlines() if NPM_LOG_LINE not in line] or ["no output"]
        raise ScannerFailed(f"exit status {done.returncode}: {lines[-1][:DETAIL_CHARACTERS]}")


@dataclass(frozen=True, slots=True)
class PipAudit:
    """Python packages with known advisories. Requirements files with hashes are checked with their hashes."""

    program: ScannerProgram
    files: tuple[Path, ...]
    name: str = "pip-audit"

    def scan(self) -> Iterator[Finding]:
        """Check every package of every file. Raises ScannerUnavailable, ScannerFailed."""
        for file in self.files:
            mode = "--require-hashes" if "--hash=" in file.read_text() else "--no-deps"
            # Without --strict, a package that the service does not know is skipped with exit status 0.
            document = self.program.document(
                "--strict", "--disable-pip", mode, "--progress-spinner=off", "--format=json", f"--requirement={file}"
            )
            packages = _list_at(document, "dependencies")
            if not packages:
                raise ScannerFailed(f"nothing of {file.name} was looked at")
            for package in packages:
                if "skip_reason" in package:
                    raise ScannerUnavailable(str(package["skip_reason"]))
                for advisory in package["vulns"]:
                    fixed = ", ".join(advisory.get("fix_versions", ())) or "no version"
                    yield Finding(
                        f"{package['name']} {advisory['id']}",
                        f"{package['name']} {package['version']} has {advisory['id']}, mended in {fixed}",
                    )


@dataclass(frozen=True, slots=True)
class NpmAudit:
    """Node packages with known advisories, by the lock files of these folders."""

    program: ScannerProgram
    folders: tuple[Path, ...]
    name: str = "npm-audit"

    def scan(self) -> Iterator[Finding]:
        """Check every package of every lock file. Raises ScannerUnavailable, ScannerFailed."""
        for folder in self.folders:
            document = replace(self.program, folder=folder).document("audit", "--json", "--package-lock-only")
            if not document.get("metadata", {}).get("dependencies", {}).get("total"):
                raise ScannerFailed(f"nothing of {folder.name} was looked at")
            for package in document["vulnerabilities"].values():
                # Text in `via` names another package of this list, whose entry has the advisory.
                for advisory in (each for each in package["via"] if isinstance(each, dict)):
                    number = advisory["url"].rpartition("/")[2]
                    yield Finding(
                        f"{advisory['name']} {number}",
                        f"{advisory['name']} {advisory['range']} has {number} ({advisory['severity']}): "
                        f"{advisory['title']}",
                    )


@dataclass(frozen=True, slots=True)
class SecretScan:
    """Likely passwords, keys or tokens in files, by detect-secrets, without contacting any service."""

    program: ScannerProgram
    files: tuple[str, ...]
    name: str = "secrets"

    def scan(self) -> Iterator[Finding]:
        """Scan every file. Raises ScannerUnavailable, ScannerFailed."""
        if not self.files:
            raise ScannerFailed("there are no files to look into")
        document = self.program.document("scan", "--all-files", "--no-verify", *self.files, expected=(0,))
        for path, found in document["results"].items():
            for each in found:
                # A part of the hash: enough to tell secrets apart, too little to confirm a guess.
                yield Finding(
                    f"{path} {each['type']} {each['hashed_secret'][:8]}",
                    f"{path}:{each['line_number']} looks like a secret ({each['type']})",
                )


@dataclass(frozen=True, slots=True)
class CodeScan:
    """ruff's security rules, as pyproject.toml selects them. Exceptions have their reason there or on the line."""

    program: ScannerProgram
    name: str = "code"

    def scan(self) -> Iterator[Finding]:
        """Scan all Python files. Raises ScannerUnavailable, ScannerFailed."""
        for found in self.program.document("check", "--output-format=json", "."):
            if not SECURITY_RULE_PATTERN.fullmatch(found["code"] or ""):
                continue
            path = Path(found["filename"])
            path = path.relative_to(self.program.folder) if path.is_relative_to(self.program.folder) else path
            line = found["location"]["row"]
            yield Finding(f"{path} {found['code']}", f"{path}:{line} {found['code']}: {found['message']}")


@dataclass(frozen=True, slots=True)
class ImageScan:
    """Packages of container images with severe advisories, by Trivy if it is installed."""

    program: ScannerProgram
    images: tuple[str, ...]
    name: str = "images"

    def scan(self) -> Iterator[Finding]:
        """Scan every image. Raises ScannerUnavailable, ScannerFailed."""
        for image in self.images:
            document = self.program.document(
                "image", "--quiet", "--format=json", "--scanners=vuln", image, expected=(0,)
            )
            for result in document.get("Results") or ():
                for found in result.get("Vulnerabilities") or ():
                    if found["Severity"] in SEVERE_LEVELS:
                        package, number = found["PkgName"], found["VulnerabilityID"]
                        yield Finding(
                            f"{image} {package} {number}", f"{image}: {package} has {number} ({found['Severity']})"
                        )


class Scanner(Protocol):
    """A scanner for vulnerabilities."""

    @property
    def name(self) -> str:
        """Its name in the list of allowed findings and in the figures."""

    def scan(self) -> Iterator[Finding]:
        """Yield findings. Raises ScannerUnavailable, ScannerFailed."""


def run_scanner(scanner: Scanner) -> ScanReport:
    """Run a scanner, and keep what it found before any error. A crash stops no other scanner."""
    found: set[Finding] = set()
    state, detail = ScanState.RAN, ""
    try:
        for finding in scanner.scan():
            found.add(finding)
    except ScannerUnavailable as error:
        state, detail = ScanState.UNAVAILABLE, str(error)
    except ScannerFailed as error:
        state, detail = ScanState.FAILED, str(error)
    except Exception as error:  # noqa: BLE001 - other programs' answers may be of any form
        state, detail = ScanState.FAILED, f"{type(error).__name__}: {error}"
    return ScanReport(scanner.name, state, tuple(sorted(found)), detail[:DETAIL_CHARACTERS])


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _is_error(document: Any) -> bool:
    """Whether npm prints an error as JSON."""
    return isinstance(document, dict) and ("error" in document or "statusCode" in document)


def _list_at(document: Document, key: str) -> Sequence[Document]:
    found = document[key]
    if not isinstance(found, list):
        raise ScannerFailed(f"{key} is no list")
    return found


def _line_at(text: str, place: int) -> str:
    start, end = text.rfind("\n", 0, place) + 1, text.find("\n", place)
    return text[start : end if end >= 0 else None].strip()[:DETAIL_CHARACTERS]
