"""The map from pages and headings of earlier documentation to their current places: `docs/pages-map.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass

from annotation_app.operations.documents.markdown import anchors


@dataclass(frozen=True, slots=True)
class PagesMap:
    """Where each earlier page and heading is now.

    Attributes:
        commit: The commit with the earlier pages, directly below `docs/`.
        pages: By name of an earlier page, by anchor of its heading: the current page below `docs/`, and the anchor
            there.
    """

    commit: str
    pages: Mapping[str, Mapping[str, tuple[str, str]]]


def parse_pages_map(text: str) -> PagesMap:
    """Parse the map. Raises ValueError if it is not TOML, and KeyError if it does not name its commit."""
    data = tomllib.loads(text)
    commit = data.pop("commit")
    return PagesMap(
        commit,
        {
            page: {
                heading: (target.partition("#")[0], target.partition("#")[2]) for heading, target in headings.items()
            }
            for page, headings in data.items()
        },
    )


def mapped_pages(pages_map: PagesMap, present: Mapping[str, str]) -> int:
    """How many earlier pages have all their headings at the mapped places; `present` is as in `missing_targets`."""
    missing = {entry.partition("#")[0] for entry in missing_targets(pages_map, present)}
    return len(pages_map.pages.keys() - missing)


def missing_targets(pages_map: PagesMap, present: Mapping[str, str]) -> list[str]:
    """Entries, as `page.md#heading`, whose page or heading does not exist.

    Args:
        present: The text of each current page by its path below `docs/`.
    """
    known = {page: frozenset(anchors(text)) for page, text in present.items()}
    return sorted(
        f"{page}#{heading}"
        for page, headings in pages_map.pages.items()
        for heading, (target, anchor) in headings.items()
        if anchor not in known.get(target, frozenset())
    )


def unmapped_headings(pages_map: PagesMap, earlier: Mapping[str, str]) -> list[str]:
    """Pages and headings of the earlier documentation, as `page.md#heading`, that the map lacks.

    Args:
        earlier: The text of each earlier page by its name.
    """
    return sorted(
        f"{page}#{anchor}"
        for page, text in earlier.items()
        for anchor in anchors(text)
        if anchor not in pages_map.pages.get(page, {})
    )
