"""The documents speak of what is there."""

import re
from pathlib import Path

import pytest

from annotation_app.operations.__main__ import main
from annotation_app.operations.runtime.stack import ROOT

DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"\]\((?!https?:|mailto:)(?P<target>[^)#\s]*)(?:#(?P<section>[^)\s]+))?\)")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def sections(document: Path) -> set[str]:
    """What its headings are called in links, as GitHub does it."""
    heads = re.findall(r"^#+ (.+)$", FENCED.sub("", document.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(document: Path) -> None:
    for target, section in LINK.findall(FENCED.sub("", document.read_text())):
        there = document.parent / target if target else document
        assert there.exists(), target
        assert not section or section in sections(there), f"{target}#{section}"


def test_the_readme_names_folders_that_exist() -> None:
    tree = (ROOT / "README.md").read_text().split("## What is where")[1].split("```")[1]
    parent = ROOT
    for line in filter(None, tree.splitlines()):
        names = [name for name in line.strip().split("  ")[0].split() if name.endswith("/")]
        folder = parent if line.startswith(" ") else ROOT
        assert all((folder / name).is_dir() for name in names), line
        if not line.startswith(" ") and names:
            parent = ROOT / names[0]


def test_what_the_threat_model_refers_to_is_there() -> None:
    text = (ROOT / "docs" / "guides" / "operator" / "threat-model.md").read_text()
    named = re.findall(r"`((?:annotation_app|docker|tests|vm_bridge|vocabulary)/[\w/.-]+)`", text)
    assert len(named) > 15
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_command_of_the_manual_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that forward `--help` exec another program; here that call exits."""

    def execve(program: str, command: list[str], environment: dict[str, str]) -> None:
        raise SystemExit(0)

    monkeypatch.setattr("os.execve", execve)
    manual = (ROOT / "docs" / "guides" / "operator" / "running.md").read_text()
    for name in set(re.findall(r"`\./pilothouse ([a-z-]+)", manual)):
        with pytest.raises(SystemExit) as end:
            main([name, "--help"])
        assert end.value.code == 0, name
