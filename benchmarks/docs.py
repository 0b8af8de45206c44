"""The state of the documentation: `./pilothouse bench docs`. It reads files, and runs a few shell blocks, in a minute.

Findings are listed on standard error. The last line is one JSON object; docs/research/benchmarks/documentation.md says
what its keys are.
"""

import argparse
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotation_app.operations import glossary
from annotation_app.operations.decision_records import INDEX, MAP, read_map, record_faults
from annotation_app.operations.docstrings import listed_objects
from annotation_app.operations.documentation import GENERATED
from annotation_app.operations.documents.markdown import broken_links
from annotation_app.operations.documents.pages_map import mapped_pages, missing_targets, parse_pages_map
from annotation_app.operations.documents.sentences import long_share
from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.docs.messages import retired_words, untranslated_messages
from benchmarks.parts.docs.shell_blocks import read_list, run_block, shell_blocks, sort_blocks
from benchmarks.parts.figures import print_figures, print_findings, print_progress
from benchmarks.tutorial import PAGES

DOCS = ROOT / "docs"
RECORDS = DOCS / "adr"
PAGES_MAP = DOCS / "pages-map.toml"
HOW_TO_INDEX = DOCS / "how-to" / "index.md"
HOW_TOS = 6
TRIED = re.compile(r"\| \[[^\]]+\]\([\w-]+\.md\) \|[^|]*\|")
"""A row of the table of trials: the page, and the minutes."""
SCREENSHOTS = ROOT / "test-results" / "screenshots"
"""Taken on the way of end-to-end tests (tests/e2e/screenshots.py), by the last run that had them."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="./pilothouse bench docs", description=__doc__)
    parser.add_argument("--read-only", action="store_true", help="run no shell block")
    arguments = parser.parse_args()
    return print_figures("docs", measure(run=not arguments.read_only))


def measure(*, run: bool) -> dict[str, Any]:
    """Every figure; what stands behind each is listed on the way."""
    pages = read_pages(ROOT)
    prose = {page: text for page, text in pages.items() if page.startswith("docs/")}
    broken = missing_links(ROOT, pages)
    print_findings("broken links", broken)
    objects = listed_objects(ROOT)
    print_findings(
        "incomplete docstrings", [f"{one.path}:{one.line} {one.name}: {one.gaps}" for one in objects if one.gaps]
    )
    untranslated = untranslated_messages(ROOT)
    print_findings("untranslated messages", untranslated)
    retired = [*retired_words(ROOT, prose), *(f"{one.path}:{one.line} {one.word}" for one in glossary.violations(ROOT))]
    print_findings("retired words", retired)
    tried = tried_how_tos(HOW_TO_INDEX)
    return {
        "pages": len(prose),
        "broken_links": len(broken),
        **_shell_figures(prose, run=run),
        **_map_figures(prose),
        "sentences_over_30_words_share": round(long_share(prose.values()), 4),
        "retired_terms": len(retired),
        "listed_docstrings": len(objects),
        "listed_docstrings_complete": sum(not one.gaps for one in objects),
        "untranslated_messages": len(untranslated),
        "screenshots": len(screenshot_names(SCREENSHOTS)),
        "how_to_tried": f"{sum(minutes != '' for minutes in tried.values())} of {HOW_TOS}",
        "how_to_minutes": tried,
    }


def read_pages(root: Path) -> dict[str, str]:
    """The text of each page by its path from the root; those that are written from the code are left out."""
    files = [*root.glob("*.md"), *(root / "docs").rglob("*.md")]
    written = root / "docs" / GENERATED
    return {
        file.relative_to(root).as_posix(): file.read_text() for file in sorted(files) if written not in file.parents
    }


def missing_links(root: Path, pages: Mapping[str, str]) -> list[str]:
    """Links to files that are not there, and to headings that their page does not have, as `page: target`."""
    found = (
        one
        for one in broken_links(pages)
        if "#" in one.target or not (root / one.page).parent.joinpath(one.target).exists()
    )
    return [f"{one.page}: {one.target}" for one in found]


def _shell_figures(prose: Mapping[str, str], *, run: bool) -> dict[str, Any]:
    listed = read_list(ROOT)
    tutorials = {page.relative_to(ROOT).as_posix() for page in PAGES.values()}
    found = sort_blocks(tuple(shell_blocks(prose)), listed, tutorials)
    failed = []
    for block in found.here if run else ():
        print_progress(f"{block.page}: {block.first_line}")
        if wrong := run_block(block, ROOT):
            failed.append(f"{block.page}: {block.first_line}: {wrong}")
    print_findings("shell blocks that failed", failed)
    print_findings(
        "shell blocks without a reason", [f"{one.page}: {one.first_line}" for one, why in found.not_run if not why]
    )
    reasons: dict[str, int] = {}
    for _, why in found.not_run:
        reasons[why] = reasons.get(why, 0) + 1
    return {
        "shell_blocks": len(found.tutorial) + len(found.here) + len(found.not_run),
        "shell_blocks_run": len(found.tutorial) + (len(found.here) - len(failed) if run else 0),
        "shell_blocks_run_by_the_tutorials_benchmark": len(found.tutorial),
        "shell_blocks_failed": len(failed),
        "shell_blocks_not_run": reasons,
        "shell_blocks_unexplained": reasons.get("", 0),
    }


def _map_figures(prose: Mapping[str, str]) -> dict[str, Any]:
    """How many earlier records and pages are mapped; 0 where there is no map."""
    figures: dict[str, Any] = {"records": 0, "records_mapped": 0, "adr": 0, "earlier_pages": 0, "pages_mapped": 0}
    if (RECORDS / MAP).exists():
        records = {file.name: file.read_text() for file in RECORDS.glob("*.md") if file.name != INDEX}
        former = read_map((RECORDS / MAP).read_text())
        faults = record_faults(records, former)
        print_findings("faults of the map of records", faults)
        figures |= {"records": len(former.records), "records_mapped": len(former.records) - len(faults)}
        figures["adr"] = len(records)
    if PAGES_MAP.exists():
        pages_map = parse_pages_map(PAGES_MAP.read_text())
        present = {page.removeprefix("docs/"): text for page, text in prose.items()}
        print_findings("headings that are nowhere", missing_targets(pages_map, present))
        figures |= {"earlier_pages": len(pages_map.pages), "pages_mapped": mapped_pages(pages_map, present)}
    return figures


def screenshot_names(folder: Path) -> set[str]:
    """Names of the screenshots that end-to-end tests left in a folder."""
    return {file.stem for file in folder.glob("*.png")}


def tried_how_tos(file: Path) -> dict[str, str]:
    """What the table of trials says of each how-to: its minutes; empty where they were not measured."""
    rows = (line for line in file.read_text().splitlines() if TRIED.match(line))
    cells = ([cell.strip() for cell in line.strip("|").split("|")] for line in rows)
    return {first.partition("](")[0].removeprefix("["): minutes for first, minutes, *_ in cells}


if __name__ == "__main__":
    sys.exit(main())
