"""`./pilothouse factory questions`: make browsing questions of a wiki, and look whether its pages still say so."""

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agent_backend.errors import AgentError
from protocol.site_tasks import ZimSite
from task_factory.browsers import open_engine
from task_factory.language_models import TranscribedModel, open_served_model
from task_factory.questions.freshness import check_freshness
from task_factory.questions.pipeline import Wanted, make_questions, open_wiki
from task_factory.questions.records import TASKS, KeptQuestion, read_questions, write_questions
from task_factory.questions.source import MAX_SEARCHES, WIKI_BOUNDS, SourceUnusable
from task_factory.sites.folders import TRANSCRIPT
from task_factory.sites.frontier import CrawlBounds
from task_factory.sites.sources import SiteSource, open_live, open_zim
from vm_bridge.browser import BrowserFailed
from vm_bridge.errors import BridgeError
from vm_bridge.suites.site_tasks.zim_files import ZimUnusable, find_zim, read_zim
from vm_bridge.suites.site_tasks.zim_site import SEARCH_PATH, URL, has_search

FAILURES = (AgentError, BridgeError, BrowserFailed, SourceUnusable, OSError, ValueError)
WANTED = Wanted()
ZIM_SEARCH = f"{URL.rstrip('/')}{SEARCH_PATH}?q={{words}}"


def add_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `questions make` and `questions check` to the factory's command."""
    questions = subparsers.add_parser("questions", help="browsing questions about a wiki")
    commands = questions.add_subparsers(dest="questions_command", required=True)
    make = commands.add_parser("make", help="read a wiki, compose questions, keep those that pass every filter")
    wiki = make.add_mutually_exclusive_group(required=True)
    wiki.add_argument("--zim", type=Path, metavar="FILE", help="a ZIM file")
    wiki.add_argument("--url", default="", help="the first page of a live wiki")
    make.add_argument("--search-url", default="", help="of a live wiki: a search's address, {words} for what is sought")
    make.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="a new folder")
    make.add_argument(
        "--count", type=int, default=WANTED.count, help="questions that are wanted (default: %(default)s)"
    )
    make.add_argument("--seed", type=int, default=0, help="of what is drawn (default: %(default)s)")
    make.add_argument("--model-url", default="", help="of a model that tries to answer without the wiki")
    make.add_argument("--model", default="", help="its name there")
    make.add_argument("--host", action="append", default=[], help="one more host that a live wiki's pages load from")
    bounds = WIKI_BOUNDS
    make.add_argument("--pages", type=int, default=bounds.pages, help="most pages that are read (default: %(default)s)")
    make.add_argument(
        "--depth", type=int, default=bounds.depth, help="most links from the first (default: %(default)s)"
    )
    make.add_argument("--seconds", type=float, default=bounds.seconds, help="longest reading (default: %(default)s)")
    make.add_argument("--bytes", type=int, default=bounds.max_bytes, help="most bytes read (default: %(default)s)")
    make.add_argument("--searches", type=int, default=MAX_SEARCHES, help="most searches (default: %(default)s)")
    make.set_defaults(run=_run_make)
    check = commands.add_parser("check", help="check that the pages still hold the facts of the questions")
    check.add_argument("folder", type=Path, metavar="FOLDER", help="what `make` has left")
    check.add_argument("--zim", type=Path, metavar="FILE", help="another place, or another edition, of the ZIM file")
    check.set_defaults(run=_run_check)


def _run_make(given: argparse.Namespace) -> int:
    if given.url and "{words}" not in given.search_url:
        return _fail("--url needs --search-url with {words} in it, such as https://host/search?q={words}")
    if bool(given.model_url) != bool(given.model):
        return _fail("give both --model-url and --model, or none")
    if (given.out / TASKS).exists():
        return _fail(f"{given.out} has tasks already")
    try:
        told = asyncio.run(_make(given))
    except FAILURES as failure:
        return _fail(str(failure))
    print(json.dumps(told, ensure_ascii=False))
    return 0 if told["kept"] else 1


async def _make(given: argparse.Namespace) -> dict[str, Any]:
    bounds = WIKI_BOUNDS.model_copy(
        update={"pages": given.pages, "depth": given.depth, "seconds": given.seconds, "max_bytes": given.bytes}
    )
    bounds = CrawlBounds.model_validate(bounds.model_dump())
    with TemporaryDirectory(prefix="pilothouse-factory-") as folder:
        async with _open_site(given, Path(folder)) as (site, search):
            wiki = await open_wiki(site, search, bounds, _progress)
            served = open_served_model(given.model_url, given.model) if given.model_url else None
            model = None if served is None else TranscribedModel(served, given.out / TRANSCRIPT)
            wanted = Wanted(given.count, given.seed, given.searches)
            async with open_engine() as (engine, _):
                made = await make_questions(engine, wiki, wanted=wanted, model=model, report=_progress)
    if served is not None:
        await served.aclose()
    return {**write_questions(given.out, made), "closed_book": given.model or "the commonest answers"}


@asynccontextmanager
async def _open_site(given: argparse.Namespace, folder: Path) -> AsyncIterator[tuple[SiteSource, str]]:
    """The site with the address of its search. Raises ZimUnusable, ValueError."""
    if not given.zim:
        async with open_live(given.url, folder, tuple(given.host)) as source:
            yield source, given.search_url
        return
    zim = read_zim(given.zim)
    await asyncio.to_thread(zim.verify)
    source = open_zim(zim)
    if not await asyncio.to_thread(has_search, zim):
        raise ZimUnusable("zim_no_search", "the file has no full-text index; zimrecreate OLD.zim NEW.zim makes one")
    yield source, ZIM_SEARCH


def _run_check(given: argparse.Namespace) -> int:
    try:
        return asyncio.run(_check(given))
    except FAILURES as failure:
        return _fail(str(failure))


async def _check(given: argparse.Namespace) -> int:
    """0 where every question is fresh."""
    questions, counts = read_questions(given.folder), {"fresh": 0, "stale": 0, "unknown": 0}
    with TemporaryDirectory(prefix="pilothouse-factory-") as folder:
        for number, site in enumerate(dict.fromkeys((one.site, one.url, one.hosts) for one in questions)):
            of_site = [one for one in questions if (one.site, one.url, one.hosts) == site]
            async with _reopen(of_site[0], given.zim, Path(folder) / str(number)) as source:
                for one in await check_freshness(source, of_site):
                    counts[one.state] += 1
                    print(one.model_dump_json(), flush=True)
    print(json.dumps(counts))
    return 0 if counts["fresh"] == len(questions) else 1


@asynccontextmanager
async def _reopen(question: KeptQuestion, zim: Path | None, folder: Path) -> AsyncIterator[SiteSource]:
    if isinstance(question.site, ZimSite):
        yield open_zim(read_zim(zim) if zim else find_zim(question.site))
        return
    async with open_live(question.url, folder, question.hosts) as source:
        yield source


_progress = partial(print, file=sys.stderr, flush=True)


def _fail(text: str) -> int:
    print(text, file=sys.stderr)
    return 2
