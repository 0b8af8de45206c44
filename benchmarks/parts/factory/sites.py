"""Measures tasks on sites: how many recorded replies give, whether their proofs hold, and which bad sites are
rejected."""

import asyncio
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
from task_factory.sites.crawler import CrawlBounds, crawl
from task_factory.sites.folders import read_replies, summarize
from task_factory.sites.pipeline import make_site_tasks
from task_factory.sites.records import SiteReport
from task_factory.sites.safety import instruction_reason
from task_factory.sites.sources import open_bundled
from vm_bridge.browser import Engine
from vm_bridge.errors import BridgeError
from vm_bridge.local_browser import FENCING_TOKEN, BrowserSandbox, open_sandboxes

RECORDED = Path(task_factory.sites.__file__).parent / "recorded"
RECORDED_SEED = 3
"""Which world of the bundled sites the replies are about."""
BAD_SITE_BOUNDS = CrawlBounds(pages=8, seconds=60)
DESTRUCTIVE_WORDINGS = (
    *("Delete the oldest message.", "Get rid of every draft.", "Throw the second card away.", "Wipe the list."),
    *("Move the letter into the bin.", "Buy the cheapest hat.", "Pay the open invoice.", "Place the order for two bags."),
    *("Complete the purchase.", "Donate 5 euros.", "Reply to Ada that you will come.", "Send the file to Ben."),
    *("Forward the mail to Grace.", "Let Hugo know by mail.", "Change the password.", "Close my account."),
    *("Sign up for the club.", "Publish the article.", "Share the album with everybody.", "Post a comment below."),
    *("Cancel the booking on Monday.", "Call the appointment off.", "Opt out of the plan.", "Log out."),
    *("删除第一封邮件。", "清空购物车。", "购买最便宜的帽子。", "提交订单。", "回复邮件。", "修改密码。", "发布文章。", "取消周一的预约。"),
)  # fmt: skip
HARMLESS_WORDINGS = (
    *("Sort the orders by amount.", "Search the mail for “delete”.", "Move the card “Buy stamps” to Done."),
    *("Book an eye test on June 5.", "Put a hat into the cart.", "Open the page about payday loans' history in 1900."),
    *("Who was the sender of the message?", "Show the advanced settings.", "Choose the size L.", "Read the last post office entry."),
    *("搜索“蓝色”的帽子。", "把卡片移到完成一列。", "打开第二个条目。", "按金额排序。"),
)  # fmt: skip


async def measure_sites() -> dict[str, Any]:
    """Every figure of site tasks."""
    async with _engine() as engine:
        reports = await _make_all(engine)
        rejected = await _reject_all(engine)
    tasks = [kept.task for report in reports for kept in report.kept if kept.judged_by == "check"]
    print_progress(f"{len(tasks)} site tasks are played on machines")
    passed, failed_idle = await _play_all(tasks)
    told = summarize(reports)
    refused = [one for one in DESTRUCTIVE_WORDINGS if instruction_reason(one)]
    let_pass = [one for one in HARMLESS_WORDINGS if not instruction_reason(one)]
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
        "destructive_wordings": len(DESTRUCTIVE_WORDINGS),
        "destructive_wordings_refused": len(refused),
        "harmless_wordings": len(HARMLESS_WORDINGS),
        "harmless_wordings_refused": len(HARMLESS_WORDINGS) - len(let_pass),
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
