"""What the documentation's benchmark counts: shell blocks, messages, screenshots and trials of how-tos."""

from pathlib import Path

from annotation_app.operations.runtime.stack import ROOT
from benchmarks.docs import HOW_TO_INDEX, missing_links, read_pages, screenshot_names, tried_how_tos
from benchmarks.parts.docs.messages import read_messages, untranslated_messages
from benchmarks.parts.docs.shell_blocks import BlockList, ShellBlock, read_list, run_block, shell_blocks, sort_blocks
from benchmarks.tutorial import PAGES

PAGE = """Text.

    # First
    ./pilothouse doctor

```sh
python=3; $python -m trainer
```

```json
{"a": 1}
```

    class Config:

Then

    TOKEN=… ./pilothouse test x
"""


def test_a_shell_block_begins_with_a_program() -> None:
    blocks = list(shell_blocks({"docs/a.md": PAGE}))
    assert [one.first_line for one in blocks] == [
        "# First",
        "python=3; $python -m trainer",
        "TOKEN=… ./pilothouse test x",
    ]


def test_each_block_is_run_or_has_a_reason() -> None:
    tutorial, listed, other, unknown = (
        ShellBlock(page, text) for page, text in (("t", "a"), ("p", "run me"), ("p", "vllm serve"), ("p", "odd"))
    )
    found = sort_blocks(
        (tutorial, listed, other, unknown), BlockList(("run me",), {"vllm": "needs a GPU"}), tutorials={"t"}
    )
    assert (found.tutorial, found.here) == ((tutorial,), (listed,))
    assert found.not_run == ((other, "needs a GPU"), (unknown, ""))


def test_every_shell_block_of_the_documentation_is_accounted_for() -> None:
    pages = {page: text for page, text in read_pages(ROOT).items() if page.startswith("docs/")}
    listed = read_list(ROOT)
    found = sort_blocks(
        tuple(shell_blocks(pages)), listed, {page.relative_to(ROOT).as_posix() for page in PAGES.values()}
    )
    assert [one for one, why in found.not_run if not why] == []
    assert {one.text for one in found.here} == set(listed.run), "a block that is listed stands on a page"


def test_a_block_that_fails_says_how(tmp_path: Path) -> None:
    assert run_block(ShellBlock("p", "true"), tmp_path) == ""
    assert run_block(ShellBlock("p", "echo no >&2; exit 3\ntrue"), tmp_path) == "ended with 3: no\n"


def test_messages_without_a_chinese_text_are_found(tmp_path: Path) -> None:
    for language, text in (
        ("en", '"a": "one two three",\n  "b": "B",\n  "c": "x",'),
        ("zh", '"a": "one two three",\n  "b": "B",'),
    ):
        folder = tmp_path / "frontend/src/shared/i18n" / language
        folder.mkdir(parents=True)
        (folder / "m.ts").write_text(f"export const words = {{\n  {text}\n}};\n")
    assert untranslated_messages(tmp_path) == ["a", "c"]
    assert set(read_messages(tmp_path / "frontend/src/shared/i18n/en")) == {"a", "b", "c"}


def test_screenshots_are_counted_by_name(tmp_path: Path) -> None:
    for name in ("desk.png", "pools.png", "notes.txt"):
        (tmp_path / name).touch()
    assert screenshot_names(tmp_path) == {"desk", "pools"}


def test_trials_are_read_from_their_table(tmp_path: Path) -> None:
    index = tmp_path / "index.md"
    index.write_text(
        "| page | minutes | f |\n|---|---|---|\n| [A](a.md) | 5 | none |\n| [B](b.md) | | not measured |\n"
    )
    assert tried_how_tos(index) == {"A": "5", "B": ""}
    assert len(tried_how_tos(HOW_TO_INDEX)) == len([*HOW_TO_INDEX.parent.glob("add-*.md")])


def test_a_link_leads_to_a_file_or_a_heading(tmp_path: Path) -> None:
    (tmp_path / "code.py").touch()
    page = "# Here\n\n[a](code.py) [b](gone.py) [c](#here) [d](#there)\n"
    assert missing_links(tmp_path, {"page.md": page}) == ["page.md: #there", "page.md: gone.py"]
