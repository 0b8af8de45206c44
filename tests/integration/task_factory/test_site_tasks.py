"""Tasks on sites in a real browser: made from replies, written to a file, taken from it as any other, and judged."""

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from agent_backend.policy.expert import ExpertPolicy
from agent_backend.rollout.attempts import AttemptResult
from agent_backend.rollout.experts import EXPERT_REF
from agent_backend.rollout.page_attempts import run_page_attempts
from agent_backend.rollout.task_sources import read_tasks
from annotation_app.pools.task_files import task_file_read
from benchmarks.parts.factory.bad_sites import BAD_SITES, good_site, source_of
from protocol.actions.types import Finish
from protocol.trajectory.tasks import Task, task_category
from task_factory.language_models import RecordedModel
from task_factory.sites.crawler import crawl
from task_factory.sites.folders import TASKS, write_site
from task_factory.sites.frontier import CrawlBounds
from task_factory.sites.pipeline import make_site_tasks
from task_factory.sites.records import SiteReport
from task_factory.sites.sources import SiteSource, open_bundled
from tests.integration.browser.engine.conftest import started
from vm_bridge.browser import Clock, Engine
from vm_bridge.hosts.browser.host import IMAGE, BrowserHost, BrowserSandbox
from vm_bridge.suites.registry import WEB_SUITES


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with started(tmp_path / "engine", Clock.EXACT) as engine:
        yield engine


def drag(card: str, column: str) -> dict[str, Any]:
    return {
        "kind": "drag",
        "element": {"role": "draggable", "name": card},
        "to": {"role": "region", "name": column},
    }


def card_in(column: int, title: str) -> dict[str, Any]:
    return {"kind": "state", "path": ["columns", column, {"where": {"title": title}}, "title"], "equals": title}


def click(name: str) -> dict[str, Any]:
    return {"kind": "click", "element": {"role": "button", "name": name}}


def write_town(text: str) -> dict[str, Any]:
    return {"kind": "type", "element": {"role": "textbox", "name": "Town"}, "text": text}


async def make(
    engine: Engine, source: SiteSource, functions: Sequence[dict[str, Any]], tasks: Sequence[dict[str, Any]]
) -> tuple[SiteReport, Any]:
    replies = [{"functions": functions}, {"tasks": tasks}, {"tasks": []}]
    return await make_site_tasks(
        engine, source, RecordedModel(map(json.dumps, replies)), bounds=CrawlBounds(pages=4, depth=1)
    )


async def test_a_task_of_a_file_is_won_by_its_script_and_lost_by_doing_nothing(engine: Engine, tmp_path: Path) -> None:
    moved = {
        "id": "two-done",
        "proposed_task": "Move the cards “Fix tap” and “Oil bike” to the column Done.",
        "criteria": ["Both cards are in the column Done."],
        "script": [drag("Fix tap 12", "Done"), drag("Oil bike 2", "Done")],
        "check": [card_in(3, "Fix tap"), card_in(3, "Oil bike")],
    }
    function = {"name": "Move cards", "elements": ["e2", "e1"]}
    report, found = await make(engine, open_bundled("kanban", seed=3), [function], [moved])
    assert [kept.task.id.rpartition("-")[0] for kept in report.kept] == ["site_tasks/kanban/two-done"]
    write_site(tmp_path / "out", report, found)

    file = tmp_path / "out" / TASKS
    (task,) = read_tasks(file)
    uploaded = task_file_read(file.read_bytes(), "jsonl", "browser")
    assert (uploaded.faults, uploaded.tasks) == ((), (report.kept[0].task,))
    assert task_category(task) == "site_tasks/kanban"

    made, host = list[AttemptResult](), BrowserHost(tmp_path / "host", WEB_SUITES, engines=1)
    try:
        sandbox = await host.create(IMAGE)
        assert isinstance(sandbox, BrowserSandbox)
        await run_page_attempts(
            [sandbox],
            [task.model_copy(update={"seed": 7})],
            lambda machine: ExpertPolicy(EXPERT_REF, machine.suggest_expert_action),
            made.append,
            lambda task, why: pytest.fail(why),
        )
        assert await judge_nothing(sandbox, task) == (False, 0.0)
    finally:
        await host.close()
    (attempt,) = (one.trajectory for one in made if one.trajectory is not None)
    assert (attempt.outcome, attempt.terminated) == ("success", True)
    assert attempt.verdict is not None
    assert (attempt.verdict.success, attempt.verdict.score) == (True, 1.0)
    assert attempt.verdict.verifier, "it says by which check"


async def judge_nothing(sandbox: BrowserSandbox, task: Task) -> tuple[bool | None, float]:
    machine = sandbox.bind(2)
    await machine.prepare(task)
    verdict = await machine.evaluate(answer=Finish().answer)
    return verdict.success, verdict.score


async def test_only_what_a_run_proves_is_kept(engine: Engine) -> None:
    shown = {"kind": "text", "contains": "Trips from Kelso"}
    trips: dict[str, Any] = {
        "id": "trips",
        "proposed_task": "Show the trips from the town Kelso.",
        "criteria": ["The trips from Kelso are shown."],
        "script": [write_town("Kelso"), click("Show trips")],
        "check": [shown],
    }
    ask = {"kind": "click", "element": {"role": "link", "name": "Ask"}}
    changed: dict[str, dict[str, Any]] = {
        "at-start": {"check": [{**shown, "contains": "Trips"}], "script": [write_town("Kelso"), click("Keep")]},
        "again": {"script": [click("Show trips"), click("Show trips")]},
        "disguised": {"script": [ask, click("Continue")]},
        "writes": {"script": [write_town("Kelso"), click("Keep")], "check": [{**shown, "contains": "Kept"}]},
        "criteria": {"script": [click("Show trips"), write_town("Kelso")], "check": []},
    }
    proposals = [
        {**trips, "id": id, "proposed_task": f"In way {number} show the trips from Kelso.", **fields}
        for number, (id, fields) in enumerate(changed.items())
    ]
    functions = [{"name": "Trips", "elements": ["e1"]}]
    report, found = await make(engine, source_of("good", good_site), functions, [trips, *proposals])
    assert {one.url: one.rejected for one in found.pages} == {
        "http://good.test/": None,
        "http://good.test/about": "static",
        "http://good.test/gone": "dead_error",
        "http://good.test/ask": "destructive_only",
    }
    assert [(kept.task.id.split("/")[2].partition("-")[0], kept.judged_by) for kept in report.kept] == [
        ("trips", "check"),
        ("criteria", "criteria"),
    ]
    assert {one.id: one.code for one in report.refusals} == {
        "at-start": "true_at_start",
        "again": "no_effect",
        "disguised": "destructive",
        "writes": "writes",
    }


FAST = ("refused", "redirect_loop", "script_crash", "login_redirect", "captcha", "endless_pages", "destructive_zh")
"""Each kind once; the benchmark has all."""


async def test_sites_that_are_of_no_use_are_rejected_with_the_reason(engine: Engine) -> None:
    got = dict[str, str]()
    for name in FAST:
        _, answers = BAD_SITES[name]
        rejection = (await crawl(engine, source_of(name, answers), CrawlBounds(pages=6))).rejection
        got[name] = "" if rejection is None else rejection[0]
    assert got == {name: BAD_SITES[name][0] for name in FAST}
