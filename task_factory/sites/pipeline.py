"""From a site to tasks that are proven: crawl, find functions, propose, filter, refine, play."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence

from protocol.evaluation.judgements import CRITERIA_PARAMETER
from protocol.site_tasks import SITE_TASK, SiteTask
from protocol.trajectory.tasks import Task
from task_factory.language_models import LanguageModel, Message
from task_factory.sites.crawler import Crawl, CrawledPage, crawl
from task_factory.sites.exploration import explore
from task_factory.sites.filters import (
    apply_filter,
    check_clear,
    check_grounded,
    check_objective,
    check_safe,
    check_verifiable,
    find_duplicates,
    ground_functions,
    keeps_facts,
    merge_prerequisites,
)
from task_factory.sites.frontier import CrawlBounds
from task_factory.sites.prompts import ask_functions, ask_refinements, ask_tasks
from task_factory.sites.proof import Unproven, prove, with_site_task
from task_factory.sites.records import FilterName, KeptTask, Proposal, Refusal, SiteFunction, SiteReport
from task_factory.sites.replies import ReplyFault, read_functions, read_proposals, read_refinements
from task_factory.sites.sources import SiteSource
from vm_bridge.browser import Engine

MAX_SHOWN_PAGES = 3
"""Pages of a site that a model sees."""
TASKS_WANTED = 8
LEAST_ACTS, ACTS_FACTOR = 12, 3
"""A task may take so many acts at the least, or so many times those of its script."""
DEFAULT_BOUNDS = CrawlBounds()
Report = Callable[[str], None]


async def make_site_tasks(
    engine: Engine,
    source: SiteSource,
    model: LanguageModel,
    *,
    bounds: CrawlBounds = DEFAULT_BOUNDS,
    wanted: int = TASKS_WANTED,
    report: Report = lambda _: None,
) -> tuple[SiteReport, Crawl]:
    """Every task of a site that passes all filters, and what became of the others.

    Raises PolicyError where the model gives no reply, LookupError where recorded replies are used up, and BrowserFailed
    where the browser ends.
    """
    report(f"{source.name}: the site is crawled")
    found = await crawl(engine, source, bounds)
    made = SiteReport(site=source.name, pages=len(found.pages), usable_pages=len(found.usable))
    made.pages_by_code.update(page.rejected for page in found.pages if page.rejected)
    if found.rejection is not None:
        made.rejected, made.reason = found.rejection
        report(f"{source.name}: rejected, {made.rejected}: {made.reason}")
        return made, found
    pages = choose_pages(found)
    functions = await _find_functions(model, pages, found, made, report)
    if not functions:
        made.rejected, made.reason = "static", "no core function was found on its pages"
        return made, found
    reveals = await explore(engine, source, pages)
    prompt = ask_tasks(source.name, pages, functions, reveals, found.state, wanted)
    proposals = await _propose(model, prompt, made)
    report(f"{source.name}: {made.proposed} tasks are proposed")
    proposals = await _filter(model, proposals, found.pages[0], made)
    report(f"{source.name}: {len(proposals)} tasks are played")
    await _prove_all(engine, source, proposals, made, report)
    report(f"{source.name}: {len(made.kept)} tasks are kept")
    return made, found


def choose_pages(found: Crawl, most: int = MAX_SHOWN_PAGES) -> list[CrawledPage]:
    """The first page, and usable pages whose controls no page before has."""
    chosen, known = list[CrawledPage](), set[str]()
    for page in found.usable:
        controls = {f"{one.role} {one.name}" for one in page.view.elements if one.is_control}
        if not chosen or controls - known:
            chosen.append(page)
            known |= controls
    return chosen[:most]


def make_task(source: SiteSource, proposal: Proposal) -> Task:
    """A proposal as a task of the protocol, without the marks of a proof. Its id has a digest of what it is: models
    give the same names again."""
    given = SiteTask(site=source.reference, size=source.size, check=proposal.check, script=proposal.script)
    parameters = {
        "category": f"site_tasks/{source.name}",
        CRITERIA_PARAMETER: list(proposal.criteria),
        SITE_TASK: given.model_dump(mode="json"),
    }
    told = json.dumps([proposal.proposed_task, parameters], ensure_ascii=False, sort_keys=True)
    name = f"site_tasks/{source.name}/{proposal.id}-{hashlib.sha256(told.encode()).hexdigest()[:6]}"
    return Task.model_validate(
        {
            "id": name,
            "instruction": proposal.proposed_task,
            "platform": "browser",
            "name": name,
            "parameters": parameters,
            "network": source.hosts,
        }
    )


async def _find_functions(
    model: LanguageModel, pages: Iterable[CrawledPage], found: Crawl, made: SiteReport, report: Report
) -> list[SiteFunction]:
    functions = list[SiteFunction]()
    for page in pages:
        report(f"{made.site}: functions of {page.url}")
        reply = await model.complete(ask_functions(page, found.pictures[page.url]))
        try:
            named, faults = read_functions(reply)
        except ReplyFault as fault:
            made.reply_faults.append(str(fault))
            continue
        made.reply_faults += map(str, faults)
        grounded, refused = ground_functions(page, named)
        made.functions_refused.update(code for code, _ in refused)
        functions += grounded
    made.functions = len(functions)
    return functions


async def _propose(model: LanguageModel, prompt: Sequence[Message], made: SiteReport) -> list[Proposal]:
    reply = await model.complete(prompt)
    try:
        proposals, faults = read_proposals(reply)
    except ReplyFault as fault:
        made.reply_faults.append(str(fault))
        return []
    made.proposed = len(proposals) + len(faults)
    made.reply_faults += map(str, faults)
    made.refusals += [
        Refusal(id=f"item-{place}", filter="readable", code=fault.code, reason=str(fault)[:300])
        for place, fault in enumerate(faults)
    ]
    named = dict[str, Proposal]()
    for one in proposals:
        if one.id in named:
            made.refusals.append(Refusal(id=one.id, filter="readable", code="same_id", instruction=one.proposed_task))
        named.setdefault(one.id, one)
    made.passed["readable"] = len(named)
    return list(named.values())


async def _filter(
    model: LanguageModel, proposals: list[Proposal], first: CrawledPage, made: SiteReport
) -> list[Proposal]:
    def note(name: FilterName, result: tuple[list[Proposal], list[Refusal]]) -> list[Proposal]:
        kept, refusals = result
        made.refusals += refusals
        made.passed[name] = len(kept)
        return kept

    proposals = note("safe", apply_filter("safe", check_safe, proposals))
    proposals = note("grounded", apply_filter("grounded", lambda one: check_grounded(one, first), proposals))
    proposals = note("verifiable", apply_filter("verifiable", check_verifiable, proposals))
    proposals = note("merged", merge_prerequisites(proposals))
    proposals = note("refined", await _refine(model, proposals, made))
    proposals = note("clear", apply_filter("clear", check_clear, proposals))
    proposals = note("objective", apply_filter("objective", check_objective, proposals))
    return note("distinct", find_duplicates(proposals))


async def _refine(
    model: LanguageModel, proposals: list[Proposal], made: SiteReport
) -> tuple[list[Proposal], list[Refusal]]:
    """Better wordings. A wording that loses a fact, or says something that no task may, is not taken."""
    if not proposals:
        return [], []
    try:
        refined, faults = read_refinements(await model.complete(ask_refinements(proposals)))
    except ReplyFault as fault:
        made.reply_faults.append(str(fault))
        return proposals, []
    made.reply_faults += map(str, faults)
    by_id = {one.id: one for one in refined}
    kept, refusals = list[Proposal](), list[Refusal]()
    for one in proposals:
        better = by_id.get(one.id)
        if better is not None and better.drop:
            told = Refusal(id=one.id, filter="refined", code="dropped_by_model", reason=better.reason[:300])
            refusals.append(told.model_copy(update={"instruction": one.proposed_task[:300]}))
            continue
        if better is None or not better.proposed_task.strip():
            kept.append(one)
            continue
        changed = one.model_copy(
            update={"proposed_task": better.proposed_task.strip(), "criteria": better.criteria or one.criteria}
        )
        if keeps_facts(one, better.proposed_task) and not check_safe(changed)[0]:
            made.refined += changed != one
            kept.append(changed)
        else:
            made.refinements_rejected += 1
            kept.append(one)
    return kept, refusals


async def _prove_all(
    engine: Engine, source: SiteSource, proposals: list[Proposal], made: SiteReport, report: Report
) -> None:
    for one in proposals:
        task = make_task(source, one)
        try:
            run = await prove(engine, source, task)
        except Unproven as fault:
            told = Refusal(id=one.id, filter="proven", code=fault.code, reason=fault.reason[:300])
            made.refusals.append(told.model_copy(update={"instruction": one.proposed_task[:300]}))
            report(f"{source.name}: {one.id} is not kept: {fault}")
            continue
        steps = max(LEAST_ACTS, ACTS_FACTOR * run.acts)
        task = with_site_task(task, {"marks": run.marks}).model_copy(update={"max_steps": steps})
        made.kept.append(KeptTask(task=task, judged_by="check" if one.check else "criteria", acts=run.acts))
    made.passed["proven"] = len(made.kept)
