"""Settings of the documentation's site, which `./pilothouse docs` builds with Sphinx."""

import re

from sphinx.application import Sphinx

OUTWARD_LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?:\.\./)+(?P<path>(?!docs/)[^)#]+)(?:#[^)]*)?\)")
"""A link from a page to a file that is no page, as the repository's own pages show it."""

project = "Pilothouse"
author = "the Pilothouse contributors"
language = "en"
extensions = ["myst_parser"]
root_doc = "index"
exclude_patterns = ["tutorial/*.json", "requirements.*"]
myst_heading_anchors = 4
highlight_language = "text"
html_theme = "furo"
html_title = "Pilothouse"
html_show_copyright = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}


def setup(app: Sphinx) -> None:
    """Prepare pages as they are read."""
    app.connect("source-read", prepare_page)


def prepare_page(app: Sphinx, page: str, source: list[str]) -> None:
    """Show files of the repository by their paths."""
    depth = page.count("/") + 1
    source[0] = OUTWARD_LINK.sub(lambda link: _shown(link, depth), source[0])


def _shown(link: re.Match[str], depth: int) -> str:
    """The path of a file outside of the pages; a link to another page stays."""
    leaves = link[0].count("../") >= depth
    if not leaves:
        return link[0]
    text, path = link["text"], link["path"].rstrip("/")
    return f"`{path}`" if text.strip("`").rstrip("/") == path else f"{text} (`{path}`)"
