"""Measures tasks on sites: how many recorded replies give, whether their proofs hold, and which bad sites are
rejected."""

import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import task_factory.sites
from benchmarks.parts.factory.bad_sites import BAD_SITES, SLOW_BAD_SITES, good_site, source_of
from benchmarks.parts.figures import print_progress
from protocol.actions.types import Finish
from protocol.trajectory.tasks import Task
from task_factory.language_models import RecordedModel
from task_factory.sites.crawler import crawl
from task_factory.sites.folders import read_replies, summarize
from task_factory.sites.frontier import CrawlBounds
from task_factory.sites.pipeline import make_site_tasks
from task_factory.sites.records import SiteReport
from task_factory.sites.safety import destructive_reason, instruction_reason
from task_factory.sites.sources import open_bundled
from vm_bridge.browser import Engine
from vm_bridge.errors import BridgeError
from vm_bridge.local_browser import FENCING_TOKEN, BrowserSandbox, open_sandboxes

RECORDED = Path(task_factory.sites.__file__).parent / "recorded"
RECORDED_SEED = 3
"""Which world of the bundled sites the replies are about."""
BAD_SITE_BOUNDS = CrawlBounds(pages=8, seconds=60)
WORDINGS = json.loads((Path(__file__).parent / "wordings.json").read_text(encoding="utf-8"))
"""Tasks that no site task may be, harmless ones with similar words, and harmless words with what they press."""


async def measure_sites() -> dict[str, Any]:
    """Every figure of site tasks."""
    async with _engine() as engine:
        reports = await _make_all(engine)
        rejected = await _reject_all(engine)
    tasks = [kept.task for report in reports for kept in report.kept if kept.judged_by == "check"]
    print_progress(f"{len(tasks)} site tasks are played on machines")
    passed, failed_idle = await _play_all(tasks)
    told = summarize(reports)
    destructive, disguised, harmless = WORDINGS["destructive"], WORDINGS["disguised"], WORDINGS["harmless"]
    controls = [bool(instruction_reason(one)) for one in destructive]
    controls += [bool(instruction_reason(text) or destructive_reason(pressed)) for text, pressed in disguised]
    return {
        "site_tasks": len(tasks),
        "sites": len({task.parameters["category"] for task in tasks}),
        "site_oracle_pass": passed,
        "site_noop_fail": failed_idle,
        "site_tasks_proposed": told["proposed"],
        "site_yield_by_filter": told["dropped_by_filter"],
        "site_refusal_codes": dict(Counter(one.code for report in reports for one in report.refusals)),
        "site_functions": told["functions"],
        "bad_sites": len(rejected),
        "bad_sites_rejected_share": round(sum(rejected.values()) / len(rejected), 4),
        "bad_sites_missed": [name for name, right in rejected.items() if not right],
        "destructive_controls": len(controls),
        "destructive_controls_refused": sum(controls),
        "harmless_controls": len(harmless),
        "harmless_controls_refused": sum(bool(instruction_reason(one)) for one in harmless),
        "site_tasks_written_by": "recorded replies of a large language model",
    }


async def _make_all(engine: Engine) -> list[SiteReport]:
    """The chain over every site whose replies are recorded."""
    reports = list[SiteReport]()
    for file in sorted(RECORDED.glob("*.jsonl")):
        print_progress(f"tasks are made of the site {file.stem}")
        source = open_bundled(file.stem, seed=RECORDED_SEED)
        report, _ = await make_site_tasks(engine, source, RecordedModel(read_replies(file)))
        reports.append(report)
    return reports


async def _reject_all(engine: Engine) -> dict[str, bool]:
    """Whether each bad site is rejected with its code, and the bundled ones with a password or nothing but a
    registration; the good site must not be."""
    right = dict[str, bool]()
    for name, (code, answers) in {**BAD_SITES, **SLOW_BAD_SITES}.items():
        found = await crawl(engine, source_of(name, answers), BAD_SITE_BOUNDS)
        right[name] = found.rejection is not None and found.rejection[0] == code
    for name, wanted in (("login", "login_gated"), ("signup", "destructive_only")):
        found = await crawl(engine, open_bundled(name), BAD_SITE_BOUNDS)
        right[f"bundled {name}"] = found.rejection is not None and found.rejection[0] == wanted
    if (await crawl(engine, source_of("good", good_site), BAD_SITE_BOUNDS)).rejection is not None:
        raise AssertionError("a site of use was rejected, so that rejections mean nothing")
    return right


async def _play_all(tasks: list[Task]) -> tuple[int, int]:
    """How many tasks their script passes, and how many fail where nothing is done, on machines as rollouts have
    them."""
    passed = failed_idle = 0
    async with open_sandboxes(1) as (sandbox,):
        for task in tasks:
            try:
                passed += await _play(sandbox, task)
                failed_idle += await _verdict_of_nothing(sandbox, task) is False
            except BridgeError as error:
                print_progress(f"{task.id}: {error}")
    return passed, failed_idle


async def _play(sandbox: BrowserSandbox, task: Task) -> bool:
    machine, answer = sandbox.bind(FENCING_TOKEN), ""
    observation = await machine.prepare(task)
    for step in range(task.max_steps):
        if observation.page is not None and observation.page.over:
            break
        suggestion = await machine.suggest_expert_action()
        if suggestion is None:
            return False
        if isinstance(suggestion.action, Finish):
            answer = suggestion.action.answer
            break
        observation = (await machine.perform(f"{task.id}-{step}", suggestion.action)).after
    return (await machine.evaluate(answer=answer)).success is True


async def _verdict_of_nothing(sandbox: BrowserSandbox, task: Task) -> bool | None:
    machine = sandbox.bind(FENCING_TOKEN)
    await machine.prepare(task)
    return (await machine.evaluate(answer="")).success


@asynccontextmanager
async def _engine() -> AsyncIterator[Engine]:
    with tempfile.TemporaryDirectory(prefix="pilothouse-factory-") as folder:
        engine = await Engine.start(Path(folder), exact=True)
        try:
            yield engine
        finally:
            await engine.close()


if __name__ == "__main__":
    print(asyncio.run(measure_sites()))
