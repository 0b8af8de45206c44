"""What a deployment takes from registries is pinned, and no pinned version is known to be weak."""

import re
from datetime import date
from pathlib import Path

import pytest

from annotation_app.operations.audit.allowances import Allowance, apply_allowances, read_allowances
from annotation_app.operations.audit.command import ALLOWANCES_FILE, FIXED_VERSIONS_FILE
from annotation_app.operations.audit.pins import Pin, PinScan, find_editor, find_images, is_vulnerable
from annotation_app.operations.audit.reports import ScanState
from annotation_app.operations.audit.scanners import run_scanner
from annotation_app.operations.runtime.stack import ROOT

DIGEST = "sha256:" + "0" * 64
IMAGES = find_images(ROOT)


def test_every_image_is_found() -> None:
    assert {pin.name for pin in IMAGES} == {"nginx", "postgres", "redis", "debian", "node", "vllm-openai"}
    assert find_editor(ROOT).name == "code-server"


@pytest.mark.parametrize("pin", IMAGES, ids=lambda pin: pin.name)
def test_an_image_has_an_exact_version_and_a_digest_or_a_dated_allowance(pin: Pin) -> None:
    named = {name for each in read_allowances(ALLOWANCES_FILE) if each.scanner == "pins" for name in each.findings}
    assert pin.version
    assert pin.digest or f"{pin.reference} no digest" in named


def test_no_pin_is_weak_beside_what_is_allowed() -> None:
    report = run_scanner(PinScan(ROOT, FIXED_VERSIONS_FILE))
    assert report.state is ScanState.RAN
    allowances = read_allowances(ALLOWANCES_FILE)
    assert apply_allowances(report, allowances, max(each.added for each in allowances)).open == ()


def tree(folder: Path, image: str, editor: str = "4.139.1") -> Path:
    """A tree with one image in its compose file and one in a Dockerfile."""
    (folder / "docker").mkdir()
    (folder / "docker/compose.yaml").write_text(
        f"services:\n  one:\n    image: {image}\n  two:\n    image: pilothouse-app\n"
    )
    (folder / "docker/Dockerfile").write_text(f"ARG BASE=debian:12.11-slim@{DIGEST}\nFROM ${{BASE}} AS app\nFROM app\n")
    place = folder / "vm_bridge/images/editor"
    place.mkdir(parents=True)
    (place / "package.json").write_text(f'{{"dependencies": {{"code-server": "{editor}"}}}}')
    return folder


@pytest.mark.parametrize(
    ("image", "ids"),
    [
        (f"nginx:1.30.2@{DIGEST}", []),
        (f"nginx:1.30.2-bookworm@{DIGEST}", []),
        ("nginx:1.30.2", ["nginx:1.30.2 no digest"]),
        (f"nginx:1.28.0@{DIGEST}", ["nginx 1.28.0 weak"]),
        ("nginx", ["nginx no digest", "nginx no version"]),
        ("nginx:latest", ["nginx:latest no digest", "nginx:latest no version"]),
        (f"nginx:stable@{DIGEST}", [f"nginx:stable@{DIGEST} no version"]),
        (f"nginx:1@{DIGEST}", [f"nginx:1@{DIGEST} no version"]),
        ("nginx:1.30.2@sha256:short", ["nginx:1.30.2@sha256:short no digest", "nginx:1.30.2@sha256:short no version"]),
        (f"registry.example.org/own/redis:7.2.8@{DIGEST}", ["redis 7.2.8 weak"]),
    ],
)
def test_a_pin_that_is_loose_or_weak_is_found(image: str, ids: list[str], tmp_path: Path) -> None:
    report = run_scanner(PinScan(tree(tmp_path, image), FIXED_VERSIONS_FILE))
    assert [finding.id for finding in report.findings] == ids


def test_an_old_editor_is_found(tmp_path: Path) -> None:
    report = run_scanner(PinScan(tree(tmp_path, f"nginx:1.30.2@{DIGEST}", "4.106.3"), FIXED_VERSIONS_FILE))
    assert [finding.id for finding in report.findings] == ["code-server 4.106.3 weak"]


@pytest.mark.parametrize(
    ("version", "weak"),
    [
        ("7.2.8", True),
        ("7.2.11", False),
        ("7.2.12", False),
        ("7.4.9", True),
        ("8.6.2", True),
        ("8.6.3", False),
        ("8.10.0", False),
    ],
)
def test_each_line_of_releases_has_its_mended_version(version: str, weak: bool) -> None:
    assert is_vulnerable(version, ("7.2.11", "8.6.3")) is weak


def test_every_stage_that_installs_packages_upgrades_them_first() -> None:
    for file in (ROOT / "docker").rglob("Dockerfile"):
        steps = re.findall(r"^RUN ((?:.*\\\n)*.*)$", file.read_text(), re.MULTILINE)
        for step in (step for step in steps if "apt-get install" in step):
            assert re.match(r"apt-get update \\\n && apt-get upgrade --yes \\\n && apt-get install", step), step


def test_an_allowance_of_a_pin_ends(tmp_path: Path) -> None:
    report = run_scanner(PinScan(tree(tmp_path, "nginx:1.30.2"), FIXED_VERSIONS_FILE))
    allowance = Allowance("pins", ("nginx:1.30.2 no digest",), date(2026, 11, 28), date(2027, 2, 28), "no registry")
    assert apply_allowances(report, [allowance], date(2027, 2, 28)).open == ()
    assert [each.id for each in apply_allowances(report, [allowance], date(2027, 3, 1)).open] == [
        "nginx:1.30.2 no digest"
    ]
