"""Headings, links, code and prose of pages in Markdown."""

import pytest

from annotation_app.operations.documents.markdown import (
    BrokenLink,
    anchors,
    broken_links,
    code_blocks,
    headings,
    links,
    paragraphs,
    resolve,
)


def test_headings_are_those_outside_of_code() -> None:
    assert headings("# One\n\n```sh\n# no heading\n```\n\n## Two words\n") == ["One", "Two words"]


def test_anchors_are_as_github_makes_them() -> None:
    assert anchors("# A `b`: c/d\n\n## Two  words\n\n## Two  words\n\n## Two  words\n") == [
        "a-b-cd",
        "two--words",
        "two--words-1",
        "two--words-2",
    ]


def test_links_have_a_target_or_a_section() -> None:
    text = "[a](b.md), [c](#d), [e](../f/g.md#h), [web](https://example.org/x.md)\n\n```\n[no](link.md)\n```\n"
    assert links(text) == [("b.md", ""), ("", "d"), ("../f/g.md", "h")]


def test_a_broken_link_is_one_without_its_file_or_heading() -> None:
    pages = {
        "docs/a.md": (
            "# A\n\n[fine](b/c.md#two), [no heading](b/c.md#three), [gone](d.md)\n\n"
            "[here](#a), [not](#b), [x](../x.py)\n"
        ),
        "docs/b/c.md": "# C\n\n## Two\n\n[up](../a.md)\n",
    }
    assert broken_links(pages, frozenset({"x.py"})) == [
        BrokenLink("docs/a.md", "#b"),
        BrokenLink("docs/a.md", "b/c.md#three"),
        BrokenLink("docs/a.md", "d.md"),
    ]


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("c.md", "docs/a/c.md"),
        ("../c.md", "docs/c.md"),
        ("../../x/", "x"),
        ("../../../x", "../x"),
        ("./c.md", "docs/a/c.md"),
    ],
)
def test_links_are_resolved_from_the_folder_of_their_page(target: str, path: str) -> None:
    assert resolve("docs/a/b.md", target) == path


def test_code_is_fenced_or_indented_and_no_continuation_of_a_list() -> None:
    text = "Run:\n\n    one\n    two\n\n```sh\nthree\n```\n\n* item\n\n    of the item\n\nEnd.\n\n    four\n"
    assert code_blocks(text) == ["    one\n    two", "three", "    four"]


def test_prose_is_a_paragraph_or_an_item_at_a_time() -> None:
    text = (
        "# Title\n\nA [link](x.md) and `some code`\nover two lines.\n\n    code\n\n| a | table |\n|---|---|\n\n"
        "* **One** item\n  goes on\n* another\n\n> said\n\n![picture](x.png)\n\n<!-- a\n\ncomment -->\n\n1. first\n"
    )
    assert list(paragraphs(text)) == [
        "A link and Code over two lines.",
        "One item goes on",
        "another",
        "said",
        "first",
    ]
