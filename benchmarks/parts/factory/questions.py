"""Measures the questions: what the filters drop and keep, and whether a reader of pictures answers them."""

import asyncio
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.parts.factory.closed_book import Guess, count_solved, guess_common
from benchmarks.parts.factory.controls import make_controls
from benchmarks.parts.factory.reader import Reader
from benchmarks.parts.figures import print_progress
from protocol.actions.types import Action
from protocol.trajectory.tasks import Task
from vm_bridge.browser import Engine
from vm_bridge.browser.action_executor import PageActionExecutor
from vm_bridge.suites.questions.composer import MAX_HOPS, Question, compose
from vm_bridge.suites.questions.filters import (
    check_conditions_needed,
    check_hops_needed,
    check_not_in_one_search,
    check_unique,
    report_filters,
)
from vm_bridge.suites.questions.suite import SEEDS_PER_EDITION, TASK, QuestionSuite
from vm_bridge.suites.questions.wiki import Wiki, make_wiki

COMPOSED_PER_LEVEL = 200
SETTLE_MS = 3_000.0
READERS = 2
"""Questions that are read at the same time."""


def measure_filters() -> dict[str, Any]:
    """The yield by filter, over questions of every length, and whether the search is a real one."""
    wiki, draw = make_wiki(0), Random("yield")
    reports = [report_filters(wiki, [compose(wiki, draw, hops) for _ in range(COMPOSED_PER_LEVEL)]) for hops in LEVELS]
    dropped = {name: sum(one.dropped[name] for one in reports) for name in reports[0].dropped}
    kept = sum(one.kept for one in reports)
    return {
        "questions_composed": sum(one.composed for one in reports),
        "yield": round(kept / sum(one.composed for one in reports), 3),
        "yield_by_filter": dropped,
        "literal_search_hit_share": _literal_hit_share(wiki),
    }


LEVELS = range(1, MAX_HOPS + 1)


def _literal_hit_share(wiki: Wiki) -> float:
    """How often a search for what a page says of itself finds that page first."""
    found = [wiki.search(wiki.text(one), 1) == (one,) for one in wiki.entities]
    return round(sum(found) / len(found), 3)


def tasks_of(count: int) -> list[Task]:
    """Questions of every length."""
    suite = QuestionSuite()
    return [suite.make(TASK, seed=seed, level=1 + seed % MAX_HOPS) for seed in range(count)]


async def measure_kept(tasks: list[Task], guess: Guess = guess_common) -> dict[str, Any]:
    """The kept questions, looked at once more, and the controls."""
    suite = QuestionSuite()
    asked = [(suite.question(task), make_wiki(task.seed // SEEDS_PER_EDITION)) for task in tasks]
    controls = make_controls(asked[0][1], asked[0][0])

    def share(check: Any) -> float:
        return round(sum(check(wiki, question) is None for question, wiki in asked) / len(asked), 3)

    needed = [
        check_conditions_needed(wiki, question) is None and check_hops_needed(wiki, question) is None
        for question, wiki in asked
    ]
    return {
        "questions_kept": len({question.text for question, _ in asked}),
        "unique_share": share(check_unique),
        "minimal_share": round(sum(needed) / len(needed), 3),
        "first_search_hits": len(asked) - round(share(check_not_in_one_search) * len(asked)),
        "closed_book_solved": await count_solved([question for question, _ in asked], guess),
        "controls": len(controls),
        "controls_caught": sum(one.is_caught for one in controls),
        "controls_missed": [one.defect for one in controls if not one.is_caught],
    }


async def measure_reader(tasks: list[Task]) -> dict[str, Any]:
    """How many questions are answered from screenshots alone."""
    queue, results = list(reversed(tasks)), list[tuple[Task, bool, int]]()
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
        engine = await Engine.start(Path(folder), exact=False)
        try:

            async def work() -> None:
                while queue:
                    task = queue.pop()
                    results.append((task, *await _read_one(engine, task)))
                    if len(results) % 10 == 0:
                        print_progress(f"{len(results)} of {len(tasks)} questions read")

            await asyncio.gather(*(work() for _ in range(READERS)))
        finally:
            await engine.close()
    return {
        "solver_solved_share": round(sum(solved for _, solved, _ in results) / len(results), 3),
        "solver_unsolved": sorted(task.id for task, solved, _ in results if not solved),
        "solver_pictures_per_question": round(sum(pages for _, _, pages in results) / len(results), 1),
    }


async def _read_one(engine: Engine, task: Task) -> tuple[bool, int]:
    suite = QuestionSuite()
    scene = suite.scene(task)
    question: Question = suite.question(task)
    session = await engine.open(scene.site, size=scene.size, seed=task.seed, start_time=scene.start_time)
    executor = PageActionExecutor(session, {})

    async def act(action: Action) -> None:
        await executor.do(action)
        await session.settle(SETTLE_MS)

    try:
        await session.goto(scene.url)
        await session.settle(SETTLE_MS)
        kinds = make_wiki(task.seed // SEEDS_PER_EDITION).kinds
        reader = Reader(kinds, question, lambda: session.picture("png"), act)
        try:
            answer = await reader.answer()
        except LookupError as error:
            print_progress(f"{task.id}: {error}")
            answer = None
        verdict = await suite.judge(task, session, answer or "")
        return bool(verdict.success), reader.pages_read
    finally:
        await session.close()
