"""The map from earlier pages and headings to present ones."""

import pytest

from annotation_app.operations.documents.pages_map import (
    mapped_pages,
    missing_targets,
    parse_pages_map,
    unmapped_headings,
)

MAP = """
commit = "abc"

["old.md"]
"title" = "new/page.md#title"
"part" = "new/other.md#part"

["gone.md"]
"gone" = "new/page.md#lost"
"""
PRESENT = {"new/page.md": "# Title\n", "new/other.md": "# Other\n\n## Part\n"}


def test_a_target_is_a_page_and_one_of_its_headings() -> None:
    pages_map = parse_pages_map(MAP)
    assert pages_map.commit == "abc"
    assert missing_targets(pages_map, PRESENT) == ["gone.md#gone"]
    assert missing_targets(pages_map, {"new/page.md": PRESENT["new/page.md"]}) == ["gone.md#gone", "old.md#part"]
    assert mapped_pages(pages_map, PRESENT) == 1


def test_a_heading_that_the_map_lacks_is_told() -> None:
    earlier = {"old.md": "# Title\n\n## Part\n\n## Part\n", "further.md": "# Further\n"}
    assert unmapped_headings(parse_pages_map(MAP), earlier) == ["further.md#further", "old.md#part-1"]


def test_a_map_names_its_commit() -> None:
    with pytest.raises(KeyError):
        parse_pages_map('["old.md"]\n"a" = "b.md#c"\n')
