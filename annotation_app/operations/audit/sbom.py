"""The bill of materials in CycloneDX: every package with its version, and its hashes if the source has them."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from annotation_app.operations.audit.reports import ScanReport, ScanState
from annotation_app.operations.audit.scanners import ScannerFailed, ScannerProgram, ScannerUnavailable

SCANNER_NAME = "bill-of-materials"


def write_sboms(
    folder: Path,
    *,
    python: ScannerProgram,
    requirements: Mapping[str, Path],
    npm: ScannerProgram,
    packages: Mapping[str, Path],
) -> ScanReport:
    """Write one file for each set of packages, `python-NAME.cdx.json` and `node-NAME.cdx.json`; it needs no network.

    Args:
        folder: Output folder, created if missing.
        python: `cyclonedx-py`.
        requirements: Files of Python requirements by name.
        npm: npm.
        packages: Folders with a `package-lock.json` by name.

    Returns:
        A report without findings: whether they were written, else why not.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for name, file in requirements.items():
            document = python.document("requirements", "--output-reproducible", str(file), expected=(0,))
            _write(folder / f"python-{name}.cdx.json", document)
        for name, place in packages.items():
            words = ("sbom", "--sbom-format=cyclonedx", "--package-lock-only")
            _write(folder / f"node-{name}.cdx.json", replace(npm, folder=place).document(*words, expected=(0,)))
    except ScannerUnavailable as error:
        return ScanReport(SCANNER_NAME, ScanState.UNAVAILABLE, detail=str(error))
    except ScannerFailed as error:
        return ScanReport(SCANNER_NAME, ScanState.FAILED, detail=str(error))
    return ScanReport(SCANNER_NAME, ScanState.RAN)


def _write(file: Path, document: dict[str, object]) -> None:
    if not document.get("components"):
        raise ScannerFailed(f"{file.name} would name no package")
    file.write_text(json.dumps(document, indent=1) + "\n")
