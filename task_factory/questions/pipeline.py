"""From a wiki to tasks that are proven: read it, compose questions, filter them, play their scripts."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from protocol.site_tasks import ElementRef
from task_factory.language_models import LanguageModel
from task_factory.questions.closed_book import Guess, guess_by_model, guess_common, is_guessed
from task_factory.questions.filters import SOURCE_FILTERS
from task_factory.questions.records import QuestionReport, RefusedQuestion
from task_factory.questions.source import (
    MAX_SEARCHES,
    WIKI_BOUNDS,
    Reading,
    SiteSearch,
    SourceUnusable,
    WikiSource,
    read_wiki,
)
from task_factory.questions.tasks import keep_question, make_question_task
from task_factory.sites.frontier import CrawlBounds
from task_factory.sites.pipeline import ACTS_FACTOR
from task_factory.sites.proof import SETTLE_MS, Unproven, prove, with_site_task
from task_factory.sites.sources import SiteSource, fresh_site
from vm_bridge.browser import BrowserFailed, Engine, ScriptFailed
from vm_bridge.suites.questions.composer import MAX_HOPS, Question, compose
from vm_bridge.suites.site_tasks.pages import PageView, read_page

TRIES_PER_QUESTION = 40
"""Questions that are composed for one that is wanted, at most."""
LEAST_ACTS = 40
"""Acts that a task allows at the least: a reader looks at more pages than the script."""
DISTINCT, CLOSED_BOOK, PROVEN = "distinct", "closed_book", "proven"
ALL_FILTERS = (DISTINCT, *SOURCE_FILTERS, CLOSED_BOOK, PROVEN)
Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for: how many questions, the seed of what is drawn, and how many searches there may be."""

    count: int = 50
    seed: int = 0
    searches: int = MAX_SEARCHES


@dataclass(frozen=True, slots=True)
class Wiki:
    """A wiki that was read, with its search."""

    site: SiteSource
    source: WikiSource
    search: SiteSearch
    reading: Reading


async def open_wiki(
    site: SiteSource, search_url: str, bounds: CrawlBounds = WIKI_BOUNDS, report: Report = lambda _: None
) -> Wiki:
    """Read a wiki. `search_url` has `{words}` for what is looked for. Raises SourceUnusable."""
    report(f"{site.name}: the wiki is read")
    reading = await read_wiki(site, bounds, report)
    search = SiteSearch(site, search_url, reading)
    await search.open()
    return Wiki(site, WikiSource(site.name, reading, search), search, reading)


async def make_questions(
    engine: Engine,
    wiki: Wiki,
    *,
    wanted: Wanted = Wanted(),
    model: LanguageModel | None = None,
    report: Report = lambda _: None,
) -> QuestionReport:
    """Every question that passes all filters, as tasks, and what became of the others. `model` tries to answer them
    without the wiki.

    Raises SourceUnusable, PolicyError where a model gives no reply, and BrowserFailed where the browser ends.
    """
    site, source, reading, search = wiki.site, wiki.source, wiki.reading, wiki.search
    made = QuestionReport(
        source=site.name,
        pages=len(reading.pages),
        entities=len(source.entities),
        kinds=_tell_kinds(source),
        left_out=reading.left_out,
        reading_stopped=reading.stopped or "",
        passed=dict.fromkeys(ALL_FILTERS, 0),
    )
    report(f"{site.name}: {made.pages} pages, {made.entities} of them of {len(made.kinds)} kinds")
    field = await find_search_field(engine, site)
    guess = guess_common(source) if model is None else guess_by_model(model)
    maker = _Maker(engine, wiki, field, made, guess)
    draw = Random(f"questions-{wanted.seed}")
    levels = await asyncio.to_thread(_possible_hops, source)
    while len(made.kept) < wanted.count:
        if made.composed >= wanted.count * TRIES_PER_QUESTION or not levels:
            made.stopped = "tries"
            break
        if search.asked >= wanted.searches:
            made.stopped = "searches"
            break
        await maker.try_one(draw, levels[made.composed % len(levels)])
        if made.composed % 50 == 0:
            report(f"{site.name}: {made.composed} questions composed, {len(made.kept)} kept")
    made.searches = search.asked
    report(f"{site.name}: {len(made.kept)} questions are kept")
    return made


class _Maker:
    def __init__(self, engine: Engine, wiki: Wiki, field: ElementRef, made: QuestionReport, guess: Guess) -> None:
        self._engine, self._field, self._made, self._guess = engine, field, made, guess
        self._site, self._source, self._read_at = wiki.site, wiki.source, wiki.reading.read_at
        self._texts: set[str] = set()

    async def try_one(self, draw: Random, hops: int) -> None:
        """Compose one question, and keep it or note why not."""
        self._made.composed += 1
        try:
            question = await asyncio.to_thread(compose, self._source, draw, hops)
        except ValueError:
            return
        objection = await self._object(question)
        if objection is None:
            objection = await self._keep(question)
        if objection is not None:
            name, why = objection
            self._made.refused.append(RefusedQuestion(filter=name, reason=why[:300], text=question.text))

    async def _object(self, question: Question) -> tuple[str, str] | None:
        """The first filter that drops a question, and why; counts those it passes."""
        if question.text in self._texts:
            return DISTINCT, "the same was composed before"
        self._texts.add(question.text)
        self._made.passed[DISTINCT] += 1
        for name, check in SOURCE_FILTERS.items():
            if (why := await asyncio.to_thread(check, self._source, question)) is not None:
                return name, why
            self._made.passed[name] += 1
        if await is_guessed(question, self._guess):
            return CLOSED_BOOK, "it was answered without the wiki"
        self._made.passed[CLOSED_BOOK] += 1
        return None

    async def _keep(self, question: Question) -> tuple[str, str] | None:
        """Prove its task and keep it; why not where it is not proven."""
        kept = keep_question(self._source, self._site, question, self._read_at)
        try:
            task = await asyncio.to_thread(make_question_task, self._source, self._site, kept, self._field)
            run = await prove(self._engine, self._site, task)
        except (LookupError, Unproven) as fault:
            return PROVEN, str(fault)
        steps = max(LEAST_ACTS, ACTS_FACTOR * run.acts)
        self._made.passed[PROVEN] += 1
        self._made.kept.append(kept)
        self._made.tasks.append(with_site_task(task, {"marks": run.marks}).model_copy(update={"max_steps": steps}))
        return None


async def find_search_field(engine: Engine, site: SiteSource) -> ElementRef:
    """The field that one searches with, on the first page. Raises SourceUnusable (`no_search`), BrowserFailed."""
    session = await engine.open(fresh_site(site), size=site.size, seed=0, start_time=site.start_time)
    try:
        await session.goto(site.url)
        await session.settle(SETTLE_MS)
        page = await read_page(session)
    except ScriptFailed as failure:
        raise SourceUnusable("no_search", f"the first page does not open: {failure}") from failure
    except BrowserFailed as failure:
        if engine.died.is_set():
            raise
        raise SourceUnusable("site_down", f"the first page does not open: {failure}") from failure
    finally:
        await session.close()
    return _choose_field(page)


def _choose_field(page: PageView) -> ElementRef:
    fields = [one for one in page.elements if one.role in ("searchbox", "textbox", "combobox") and not one.secret]
    found = next((one for one in fields if one.role == "searchbox" or "search" in one.name.lower()), None)
    if found is None:
        raise SourceUnusable("no_search", "the first page has no field to search with")
    same = [one for one in fields if (one.role, one.name) == (found.role, found.name)]
    return ElementRef(role=found.role, name=found.name, nth=1 + same.index(found))


def _possible_hops(source: WikiSource) -> list[int]:
    """How long ways may be: those that one finds; none, where pages of a kind do not lead to others."""
    found = list[int]()
    for hops in range(1, MAX_HOPS + 1):
        try:
            compose(source, Random(hops), hops)
        except ValueError:
            break
        found.append(hops)
    return found or [0]


def _tell_kinds(source: WikiSource) -> dict[str, dict[str, Any]]:
    members = [one.kind for one in source.entities.values()]
    return {
        name: {"pages": members.count(name), "attributes": sorted(kind.attributes), "relations": sorted(kind.relations)}
        for name, kind in source.kinds.items()
    }
