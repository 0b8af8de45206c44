"""The documents speak of what is there."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotation_app.operations.__main__ import main
from annotation_app.operations.documents.markdown import broken_links, code_blocks, headings
from annotation_app.operations.documents.pages_map import (
    mapped_pages,
    missing_targets,
    parse_pages_map,
    unmapped_headings,
)
from annotation_app.operations.documents.sentences import LONG_SHARE, long_share
from annotation_app.operations.runtime.stack import ROOT

DOCS = ROOT / "docs"
GENERATED = DOCS / "reference" / "generated"
"""What a build of the site writes there is no page of the repository."""
CHINESE = sorted(DOCS.glob("zh/**/*.md"))
MAX_WORDS = 3_000
"""No page is longer. The glossary and decisions are looked up and not read."""
LOOKED_UP = ("concepts/glossary.md", "adr/")
EARLIER_PAGES, EARLIER_HEADINGS = 55, 445
"""How many the documentation had at the commit of the map."""


def texts(folder: Path, *patterns: str) -> dict[str, str]:
    """The text of each page that is found, by its path below the folder."""
    pages: Iterator[Path] = (page for pattern in patterns for page in folder.glob(pattern))
    written = (page for page in sorted(pages) if not page.is_relative_to(GENERATED))
    return {page.relative_to(folder).as_posix(): page.read_text() for page in written}


def test_every_link_leads_somewhere() -> None:
    pages = texts(ROOT, "*.md", "docs/**/*.md", "recorder/*.md", "clients/*/*.md", "frontend/*.md")
    found = broken_links(pages)
    others = [
        link for link in found if "#" in link.target or not (ROOT / link.page).parent.joinpath(link.target).exists()
    ]
    assert others == []


def test_every_earlier_page_and_heading_is_mapped_to_one_that_is_there() -> None:
    pages_map = parse_pages_map((DOCS / "pages-map.toml").read_text())
    present = texts(DOCS, "**/*.md")
    assert missing_targets(pages_map, present) == []
    assert mapped_pages(pages_map, present) == EARLIER_PAGES
    assert sum(len(found) for found in pages_map.pages.values()) == EARLIER_HEADINGS


def test_the_map_has_each_page_and_heading_of_its_commit() -> None:
    pages_map = parse_pages_map((DOCS / "pages-map.toml").read_text())

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    try:
        listed = git("ls-tree", "--name-only", pages_map.commit, "docs/").splitlines()
    except (subprocess.CalledProcessError, FileNotFoundError):
        pytest.skip("the commit of the map is not in this copy of the repository")
    earlier = {Path(path).name: git("show", f"{pages_map.commit}:{path}") for path in listed if path.endswith(".md")}
    assert unmapped_headings(pages_map, earlier) == []
    assert pages_map.pages.keys() == earlier.keys()


def test_pages_can_be_read_in_one_go() -> None:
    pages = texts(DOCS, "**/*.md")
    words = {page: len(text.split()) for page, text in pages.items() if not page.startswith(LOOKED_UP)}
    assert {page: count for page, count in words.items() if count > MAX_WORDS} == {}


def test_sentences_are_short() -> None:
    pages = {page: text for page, text in texts(DOCS, "**/*.md").items() if not page.startswith("zh/")}
    assert long_share(pages.values()) <= LONG_SHARE


def test_there_are_chinese_pages() -> None:
    found = {page.relative_to(DOCS / "zh").as_posix() for page in CHINESE}
    english = texts(DOCS, "getting-started/*.md", "guides/annotator/*.md", "guides/reviewer/*.md")
    assert found == {"index.md", *english}


@pytest.mark.parametrize("page", CHINESE, ids=lambda page: page.stem)
def test_a_chinese_page_says_what_the_english_one_says(page: Path) -> None:
    name = page.relative_to(DOCS / "zh")
    if name == Path("index.md"):
        return
    chinese, english = page.read_text(), (DOCS / name).read_text()
    assert len(headings(chinese)) == len(headings(english))
    assert code_blocks(chinese) == code_blocks(english), "commands are the same"
    link = f"zh/{name.as_posix()}"
    assert link in english, "the English page leads to it"


def test_the_architecture_names_folders_that_exist() -> None:
    tree = (DOCS / "architecture" / "index.md").read_text().split("### Folders")[1].split("```")[1]
    parent = ROOT
    for line in filter(None, tree.splitlines()):
        names = [name for name in line.strip().split("  ")[0].split() if name.endswith("/")]
        folder = parent if line.startswith(" ") else ROOT
        assert all((folder / name).is_dir() for name in names), line
        if not line.startswith(" ") and names:
            parent = ROOT / names[0]


def test_what_the_threat_model_refers_to_is_there() -> None:
    text = (DOCS / "guides" / "operator" / "threat-model.md").read_text()
    named = re.findall(r"`((?:annotation_app|docker|tests|vm_bridge|vocabulary)/[\w/.-]+)`", text)
    assert len(named) > 15
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_pages_that_code_and_messages_name_are_there() -> None:
    """Programs, settings and the pages' messages name pages of the documentation by their paths."""
    named = re.compile(r"(?<![\w/-])docs/[\w/-]+\.md")
    places = ["*.py", "*.ts", "*.tsx", "*.toml", "*.yaml", "*.yml", "*.sh", ".env.example", "docker/**"]
    listed = subprocess.run(["git", "ls-files", *places], cwd=ROOT, capture_output=True, text=True, check=True)
    missing = {
        (path, page)
        for path in listed.stdout.splitlines()
        if not path.startswith("tests/") and (ROOT / path).is_file() and not (ROOT / path).is_symlink()
        for page in named.findall((ROOT / path).read_text(errors="ignore"))
        if not (ROOT / page).exists()
    }
    assert missing == set()


def test_sections_that_messages_name_are_there() -> None:
    """What the pages say: *see The flywheel in docs/…*, and in the health page `docs/…md, Keys`."""
    words = "\n".join(path.read_text() for path in sorted((ROOT / "frontend/src/shared/i18n/en").glob("*.ts")))
    sections = {
        **{page: section for section, page in re.findall(r"see ([\w ]+) in (docs/[\w/-]+\.md)", words, re.IGNORECASE)},
        **dict(re.findall(r"(docs/[\w/-]+\.md), (\w[\w ]+)\.", words)),
    }
    assert len(sections) >= 4
    assert [page for page, section in sections.items() if section not in headings((ROOT / page).read_text())] == []


def test_every_command_of_the_manual_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that forward `--help` exec another program; here that call exits."""

    def execve(program: str, command: list[str], environment: dict[str, str]) -> None:
        raise SystemExit(0)

    monkeypatch.setattr("os.execve", execve)
    manual = (DOCS / "guides" / "operator" / "running.md").read_text()
    for name in set(re.findall(r"`\./pilothouse ([a-z-]+)", manual)):
        with pytest.raises(SystemExit) as end:
            main([name, "--help"])
        assert end.value.code == 0, name
