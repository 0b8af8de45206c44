"""The release: one version everywhere, and an upgrade guide with every name that the next version drops."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from packaging.version import Version

from annotation_app.operations.runtime.stack import ROOT
from protocol import __version__
from protocol.legacy_names import ENVIRONMENT, MANAGE_COMMANDS, PILOTHOUSE_COMMANDS, REMOVED_IN

PROJECTS = [ROOT / "pyproject.toml", ROOT / "recorder/pyproject.toml", *sorted(ROOT.glob("clients/*/pyproject.toml"))]
GUIDE = (ROOT / "docs/guides/operator/upgrade.md").read_text()
CHANGELOG = (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize("path", PROJECTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_python_project_has_the_version(path: Path) -> None:
    assert tomllib.loads(path.read_text())["project"]["version"] == __version__


def test_the_front_end_has_the_version() -> None:
    package = json.loads((ROOT / "frontend/package.json").read_text())
    lock = json.loads((ROOT / "frontend/package-lock.json").read_text())
    assert {package["version"], lock["version"], lock["packages"][""]["version"]} == {__version__}


def test_the_changelog_begins_with_unreleased_changes_and_this_version() -> None:
    headings = re.findall(r"^## (.*)$", CHANGELOG, re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    assert re.fullmatch(rf"\[{re.escape(__version__)}\] - \d{{4}}-\d\d-\d\d", headings[1])


def test_changes_are_in_sections_of_keep_a_changelog() -> None:
    allowed = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    for release in re.split(r"^## ", CHANGELOG, flags=re.MULTILINE)[1:]:
        sections = re.findall(r"^### (.*)$", release, re.MULTILINE)
        assert set(sections) <= allowed
        assert len(sections) == len(set(sections)), "a section stands once in a release"


def test_the_upgrade_guide_lists_every_former_name() -> None:
    rows = [tuple(map(str.strip, line.split("|")[1:3])) for line in GUIDE.splitlines() if line.startswith("|")]
    for former, present in ENVIRONMENT.items():
        assert (f"`{former}`", f"`{present}`") in rows
    for program, commands in (("./pilothouse", PILOTHOUSE_COMMANDS), ("manage.py", MANAGE_COMMANDS)):
        for command, words in commands.items():
            assert (f"`{program} {command}`", f"`{program} {words[command]}`") in rows
            for option in words.keys() - {command}:
                assert any(
                    f"{program} {command} {option}" in former and words[option] in present for former, present in rows
                ), option
    assert f"Version {REMOVED_IN} no longer reads them" in GUIDE


def test_former_names_go_after_this_version() -> None:
    assert Version(REMOVED_IN) > Version(__version__)
