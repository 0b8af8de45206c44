"""Measures the questions of a ZIM file: what the filters drop and keep, with the search of kiwix-serve, and proofs."""

import asyncio
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.parts.factory.controls import Control, make_controls
from benchmarks.parts.factory.zim_wiki import PROGRAMS, pack_zim, write_pages
from benchmarks.parts.figures import print_progress
from task_factory.questions.closed_book import guess_common, is_guessed
from task_factory.questions.command import ZIM_SEARCH
from task_factory.questions.filters import SOURCE_FILTERS
from task_factory.questions.pipeline import Wiki, find_search_field, open_wiki
from task_factory.questions.source import WikiSource
from task_factory.questions.tasks import keep_question, make_question_task
from task_factory.sites.proof import Unproven, prove
from task_factory.sites.sources import open_zim
from vm_bridge.browser import Engine
from vm_bridge.suites.questions.composer import MAX_HOPS, Question, compose
from vm_bridge.suites.questions.filters import (
    check_conditions_needed,
    check_hops_needed,
    check_unique,
)
from vm_bridge.suites.questions.schema import KnowledgeSource
from vm_bridge.suites.site_tasks.kiwix import stop_servers
from vm_bridge.suites.site_tasks.zim_files import read_zim

COMPOSED = 200
SEARCH_FILTER, SHARED_FILTER = "not_in_one_search", "not_by_shared_words"
PLAYED = 6
"""Kept questions whose scripts are played in a browser."""


async def measure_zim_questions() -> dict[str, Any]:
    """The figures; only why there are none where a program is missing."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        return {"zim_skipped": f"not installed: {', '.join(missing)}"}
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as named:
        folder = Path(named)
        write_pages(folder / "pages")
        pack_zim(folder / "pages", folder / "country.zim")
        wiki = await open_wiki(open_zim(read_zim(folder / "country.zim")), ZIM_SEARCH)
        try:
            kept, figures = await asyncio.to_thread(_filter, wiki)
            guess = guess_common(wiki.source)
            figures["zim_closed_book_solved"] = sum([await is_guessed(one, guess) for one in kept])
            print_progress(f"{PLAYED} questions of a ZIM file are played")
            return figures | await _prove(wiki, kept[:: max(1, len(kept) // PLAYED)][:PLAYED], folder)
        finally:
            await asyncio.to_thread(stop_servers)


def _filter(wiki: Wiki) -> tuple[list[Question], dict[str, Any]]:
    """The questions that are kept, and the figures that need no browser."""
    source, draw = wiki.source, Random("zim-yield")
    kept, dropped = dict[str, Question](), Counter[str]()
    for number in range(COMPOSED):
        question = compose(source, draw, 1 + number % MAX_HOPS)
        objections = (name for name, check in SOURCE_FILTERS.items() if check(source, question) is not None)
        if (name := next(objections, None)) is None:
            kept[question.text] = question
        else:
            dropped[name] += 1
    found = list(kept.values())
    controls = _make_controls(source, found)
    missed = [one.defect for one in controls if not _is_caught(one)]
    hits = sum(source.search(one.title, 1) == (url,) for url, one in source.entities.items())
    figures = {
        "zim_pages": len(wiki.reading.pages),
        "zim_title_search_hit_share": round(hits / len(source.entities), 3),
        "zim_questions_composed": COMPOSED,
        "zim_questions_kept": len(found),
        "zim_yield_by_filter": {name: dropped[name] for name in SOURCE_FILTERS},
        "zim_unique_share": _share(source, found, check_unique),
        "zim_minimal_share": min(
            _share(source, found, check_conditions_needed), _share(source, found, check_hops_needed)
        ),
        "zim_first_search_hits": sum(_is_found(source, one) for one in found),
        "zim_controls": len(controls),
        "zim_controls_caught": len(controls) - len(missed),
        "zim_controls_missed": missed,
    }
    return found, figures


def _make_controls(source: WikiSource, kept: list[Question]) -> list[Control]:
    """Defects planted into a kept question from which every one can be planted."""
    for question in kept:
        try:
            return make_controls(source, question)
        except (StopIteration, KeyError):
            continue
    return []


def _is_caught(control: Control) -> bool:
    """Whether the filter that is meant objects; of what a search finds, one of the two."""
    found = control.caught_by == SEARCH_FILTER and _is_found(control.source, control.question)
    return control.is_caught or found


def _is_found(source: KnowledgeSource, question: Question) -> bool:
    return any(SOURCE_FILTERS[name](source, question) is not None for name in (SEARCH_FILTER, SHARED_FILTER))


def _share(source: WikiSource, questions: list[Question], check: Any) -> float:
    return round(sum(check(source, one) is None for one in questions) / max(1, len(questions)), 3)


async def _prove(wiki: Wiki, questions: list[Question], folder: Path) -> dict[str, Any]:
    engine, proven = await Engine.start(folder / "browser", exact=True), 0
    try:
        field = await find_search_field(engine, wiki.site)
        for question in questions:
            kept = keep_question(wiki.source, wiki.site, question, wiki.reading.read_at)
            try:
                task = await asyncio.to_thread(make_question_task, wiki.source, wiki.site, kept, field)
                await prove(engine, wiki.site, task)
                proven += 1
            except (LookupError, Unproven) as fault:
                print_progress(f"{kept.id}: {fault}")
    finally:
        await engine.close()
    return {"zim_questions_played": len(questions), "zim_questions_proven": proven}
